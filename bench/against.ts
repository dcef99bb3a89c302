import { required } from '@atrium/contract/required'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { measure, warmUp } from './measure.ts'
import { processorTimeOf } from './processor-time.ts'
import { compareText, type ComparedRound, type Comparison } from './report.ts'
import { withStage, type Stage } from './stage.ts'
import type { Target } from './targets.ts'
import { UsageError } from './usage-error.ts'

interface AgainstOptions {
  /** The root of another checkout of Atrium, with its packages installed. */
  tree: string
  targets: Target[]
  rounds: number
  seconds: number
  signal: AbortSignal
}

/**
 * Measures this checkout and another one in the same rounds, target by target, one directly after the other. Each
 * checkout starts its own stage (PostgreSQL, servers, data) from its own bench folder, so the other one may have
 * another schema. Each round starts both stages anew: a process keeps the rate that it happens to have after its start,
 * and two starts of the same code differ by up to 15 %. The floors are left out, because they are the same on both sides.
 */
export async function benchAgainst({ tree, targets, rounds, seconds, signal }: AgainstOptions): Promise<Comparison[]> {
  const theirs = await loadBench(tree)
  const byName = new Map(targets.map((target) => [target.name, target]))
  const shared = theirs.targets.filter(({ name, server }) => byName.has(name) && (server === 'atrium' || server === 'space'))
  const ours = shared.flatMap(({ name }) => byName.get(name) ?? [])
  const comparisons = ours.map((target): Comparison => ({ target, ours: [], theirs: [] }))
  const ourSide: Side = { name: 'ours', withStage: (run) => withStage({ targets: ours, signal }, run) }
  const theirSide: Side = { name: 'theirs', withStage: (run) => theirs.withStage({ targets: shared, signal }, run) }
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`round ${round + 1} of ${rounds}\n`)
    // Every other round runs backwards, so that neither side always follows the other.
    const [first, second] = round % 2 ? [theirSide, ourSide] : [ourSide, theirSide]
    await first.withStage(async (firstStage) =>
      second.withStage(async (secondStage) => {
        for (const { ready } of [firstStage, secondStage]) await warmUp(ready, signal)
        for (const [i, comparison] of comparisons.entries()) {
          comparison[first.name].push(await measureOn(firstStage, i, seconds, signal))
          comparison[second.name].push(await measureOn(secondStage, i, seconds, signal))
        }
      }),
    )
  }
  process.stdout.write(`${compareText(comparisons)}\n`)
  return comparisons
}

interface Side {
  name: 'ours' | 'theirs'
  withStage: (run: (stage: Stage) => Promise<void>) => Promise<void>
}

async function measureOn(stage: Stage, i: number, seconds: number, signal: AbortSignal): Promise<ComparedRound> {
  const before = processorTimeOf(stage.folder)
  const measured = await measure(required(stage.ready[i], 'each target is ready'), seconds, signal)
  const after = processorTimeOf(stage.folder)
  const usPerRequest = before === undefined || after === undefined ? undefined : (after - before) / measured.requests
  return { ...measured, usPerRequest }
}

async function loadBench(tree: string) {
  const load = async <Module>(file: string): Promise<Module> => {
    const full = path.resolve(tree, 'bench', file)
    if (!existsSync(full)) throw new UsageError(`--against needs a checkout of Atrium; ${full} does not exist`)
    return (await import(pathToFileURL(full).href)) as Module
  }
  const { withStage } = await load<typeof import('./stage.ts')>('stage.ts')
  const { targets } = await load<typeof import('./targets.ts')>('targets.ts')
  return { withStage, targets }
}
