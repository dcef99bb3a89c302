import { setTimeout as delay } from 'node:timers/promises'
import type { Row } from './report.ts'
import type { Ready } from './stage.ts'
import { runWrk, type Measurement } from './wrk.ts'

const warmUpSeconds = { target: 3, least: 12 }
const pauseMs = 300

/**
 * Sends requests until V8 has compiled what they need: 3 s for each target, and 12 s in all. With 3 s for one target, an
 * `add-item` of this release had 0.89 × the rate of e0a4a2a, and 0.96 × with 12 s (medians of five rounds).
 */
export async function warmUp(ready: Ready[], signal: AbortSignal): Promise<void> {
  const seconds = Math.max(warmUpSeconds.target, Math.ceil(warmUpSeconds.least / ready.length))
  for (const one of ready) await measure(one, seconds, signal)
}

/**
 * Each round runs every target once. Every other round runs backwards, so that no target always follows the same one.
 */
export async function measureRounds(ready: Ready[], rounds: number, seconds: number, signal: AbortSignal): Promise<Row[]> {
  const rows = ready.map((one): { one: Ready; row: Row } => ({ one, row: { target: one.target, rounds: [] } }))
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`round ${round + 1} of ${rounds}\n`)
    for (const { one, row } of round % 2 ? rows.toReversed() : rows) row.rounds.push(await measure(one, seconds, signal))
  }
  return rows.map(({ row }) => row)
}

export async function measure(
  { target, origin, plan, planArgs }: Ready,
  seconds: number,
  signal: AbortSignal,
): Promise<Measurement> {
  try {
    return await runWrk({ origin, plan, planArgs, seconds, signal })
  } catch (error) {
    if (signal.aborted) throw error
    throw new Error(`${target.name}: ${(error as Error).message}`, { cause: error })
  } finally {
    // Requests that wrk left open are answered before the next target starts.
    await delay(pauseMs)
  }
}
