import { setTimeout as delay } from 'node:timers/promises'
import type { Row } from './report.ts'
import type { Ready } from './stage.ts'
import { runWrk, type Measurement } from './wrk.ts'

const warmUpSeconds = 3
const pauseMs = 300

export async function warmUp(ready: Ready[], signal: AbortSignal): Promise<void> {
  for (const one of ready) await measure(one, warmUpSeconds, signal)
}

/** Each round runs every target once, every other round backwards, so that no target always follows the same one. */
export async function measureRounds(ready: Ready[], rounds: number, seconds: number, signal: AbortSignal): Promise<Row[]> {
  const rows = new Map<Ready, Row>(ready.map((one) => [one, { target: one.target, rounds: [] }]))
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`round ${round + 1} of ${rounds}\n`)
    for (const one of round % 2 ? ready.toReversed() : ready) rows.get(one)!.rounds.push(await measure(one, seconds, signal))
  }
  return [...rows.values()]
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
    // What wrk left unanswered is answered before the next one begins.
    await delay(pauseMs)
  }
}
