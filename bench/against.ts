import { required } from '@atrium/contract/required'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { measure, warmUp } from './measure.ts'
import { processorTimeOf } from './processor-time.ts'
import { compareText, type Comparison } from './report.ts'
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
 * another schema. The floors are left out, because they are the same on both sides.
 */
export async function benchAgainst({ tree, targets, rounds, seconds, signal }: AgainstOptions): Promise<Comparison[]> {
  const theirs = await loadBench(tree)
  const byName = new Map(targets.map((target) => [target.name, target]))
  const shared = theirs.targets.filter(({ name, server }) => byName.has(name) && (server === 'atrium' || server === 'space'))
  const ours = shared.flatMap(({ name }) => byName.get(name) ?? [])
  return withStage({ targets: ours, signal }, async (ourStage) =>
    theirs.withStage({ targets: shared, signal }, async (theirStage) => {
      await warmUp([...ourStage.ready, ...theirStage.ready], signal)
      const comparisons = ourStage.ready.map(({ target }): Comparison => ({ target, ours: [], theirs: [] }))
      for (let round = 0; round < rounds; round++) {
        process.stderr.write(`round ${round + 1} of ${rounds}\n`)
        for (const [i, comparison] of comparisons.entries()) {
          const pair: [Stage, 'ours' | 'theirs'][] = [
            [ourStage, 'ours'],
            [theirStage, 'theirs'],
          ]
          // Every other round runs backwards, so that neither side always follows the other.
          for (const [stage, side] of round % 2 ? pair.toReversed() : pair) {
            const ready = required(stage.ready[i], 'each target is ready')
            const before = processorTimeOf(stage.folder)
            const measured = await measure(ready, seconds, signal)
            const after = processorTimeOf(stage.folder)
            const usPerRequest = before === undefined || after === undefined ? undefined : (after - before) / measured.requests
            comparison[side].push({ ...measured, usPerRequest })
          }
        }
      }
      process.stdout.write(`${compareText(comparisons)}\n`)
      return comparisons
    }),
  )
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
