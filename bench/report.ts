import { required } from '@atrium/contract/required'
import { goals, judge, median, type Verdict } from './goals.ts'
import type { Machine } from './machine.ts'
import type { Target } from './targets.ts'
import type { Measurement } from './wrk.ts'

export interface Row {
  target: Target
  rounds: Measurement[]
}

/** A target of this checkout and the same target of another one, with one measurement per round. */
export interface Comparison {
  target: Target
  ours: ComparedRound[]
  theirs: ComparedRound[]
}

export interface ComparedRound extends Measurement {
  /** Processor time of all processes of the side; undefined: this system does not report it. */
  usPerRequest: number | undefined
}

const count = (value: number) => Math.round(value).toLocaleString('en-US')

export function tableText(rows: Row[]): string {
  const lines = rows.map(({ target, rounds }) => {
    const rates = rounds.map((round) => round.perSecond)
    return [
      target.name,
      target.what,
      count(median(rates)),
      `${count(Math.min(...rates))}–${count(Math.max(...rates))}`,
      median(rounds.map((round) => round.p50Ms)).toFixed(2),
      median(rounds.map((round) => round.p99Ms)).toFixed(2),
    ]
  })
  return align([['target', 'what', 'requests/s', 'lowest–highest', 'p50 ms', 'p99 ms'], ...lines], 2)
}

/** The ratio is the median of the ratios of the rounds, because a disturbance in a round affects both sides. */
export function compareText(comparisons: Comparison[]): string {
  const lines = comparisons.map(({ target, ours, theirs }) => {
    const ratios = ours.map((round, i) => round.perSecond / required(theirs[i], 'both sides ran each round').perSecond)
    const rate = (rounds: Measurement[]) => count(median(rounds.map((round) => round.perSecond)))
    const cost = (rounds: ComparedRound[]) => median(rounds.map(({ usPerRequest }) => usPerRequest ?? Number.NaN))
    const p99 = (rounds: Measurement[]) => median(rounds.map((round) => round.p99Ms)).toFixed(2)
    return [
      target.name,
      rate(ours),
      rate(theirs),
      median(ratios).toFixed(2),
      `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`,
      p99(ours),
      p99(theirs),
      cost(ours).toFixed(0),
      cost(theirs).toFixed(0),
      (cost(theirs) / cost(ours)).toFixed(2),
    ]
  })
  const titles = [
    'target',
    'requests/s',
    'the other',
    'ratio',
    'lowest–highest',
    'p99 ms',
    'the other',
    'µs of CPU',
    'the other',
    'ratio',
  ]
  return align([titles, ...lines], 1)
}

/** The goals both of whose sides were measured. */
export function judgeAll(rows: Row[]): Verdict[] {
  const rates = new Map(rows.map(({ target, rounds }) => [target.name, rounds.map((round) => round.perSecond)]))
  return goals.flatMap((goal) => {
    const of = rates.get(goal.of)
    const against = rates.get(goal.against)
    return of && against ? [judge(goal, of, against)] : []
  })
}

export function verdictsText(verdicts: Verdict[]): string {
  const lines = verdicts.map(({ text, ratio, lowest, highest, met }) => [
    met ? 'ok' : 'short',
    text,
    ratio.toFixed(2),
    `${lowest.toFixed(2)}–${highest.toFixed(2)}`,
  ])
  return align([['', 'goal', 'ratio', 'lowest–highest'], ...lines], 2)
}

export function reportJson(machine: Machine, rows: Row[], verdicts: Verdict[]): string {
  const targets = rows.map(({ target: { name, what }, rounds }) => ({
    name,
    what,
    perSecond: median(rounds.map((round) => round.perSecond)),
    rounds,
  }))
  return `${JSON.stringify({ at: new Date().toISOString(), machine, targets, goals: verdicts }, null, 2)}\n`
}

/** Columns from `rightFrom` on are numbers. */
export function align(lines: string[][], rightFrom: number): string {
  const [head = []] = lines
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const pad = (text: string, column: number) =>
    column < rightFrom ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0)
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n')
}
