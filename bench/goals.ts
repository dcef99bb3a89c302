import { required } from '@atrium/contract/required'

/** The goals of a target. Each states what `of` must be in terms of `against`. */
export type Goal = { of: string; against: string } & ({ rateAtLeast: number } | { timeAtMost: number })

export const goals: Goal[] = [
  { of: 'get-collection', against: 'read', rateAtLeast: 2 },
  { of: 'get-collection', against: 'empty', rateAtLeast: 0.5 },
  { of: 'render', against: 'read', rateAtLeast: 0.5 },
  { of: 'add-item', against: 'insert', rateAtLeast: 1 },
  { of: 'add-item-key', against: 'insert', rateAtLeast: 0.7 },
  { of: 'poll', against: 'read', rateAtLeast: 0.8 },
  { of: 'turn', against: 'insert', rateAtLeast: 0.6 },
  { of: 'media', against: 'file', rateAtLeast: 0.7 },
  { of: 'list-1m', against: 'list-1k', timeAtMost: 1.3 },
]

export interface Verdict {
  text: string
  ratio: number
  lowest: number
  highest: number
  met: boolean
}

/**
 * Compares round by round, because a disturbance in a round affects both sides. Rates are requests per second, one
 * per round.
 */
export function judge(goal: Goal, ofRates: number[], againstRates: number[]): Verdict {
  const byTime = 'timeAtMost' in goal
  const ratios = ofRates.map((rate, round) => {
    const against = required(againstRates[round], 'both sides ran each round')
    return byTime ? against / rate : rate / against
  })
  const ratio = median(ratios)
  return {
    text: byTime
      ? `${goal.of}: at most ${goal.timeAtMost} × the time of ${goal.against}`
      : `${goal.of}: at least ${goal.rateAtLeast} × the rate of ${goal.against}`,
    ratio,
    lowest: Math.min(...ratios),
    highest: Math.max(...ratios),
    met: byTime ? ratio <= goal.timeAtMost : ratio >= goal.rateAtLeast,
  }
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = required(sorted[middle], 'a median is of at least one value')
  return sorted.length % 2 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}
