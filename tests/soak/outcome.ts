import { setTimeout as delay } from 'node:timers/promises'
import { call, NoAnswer, type Answer, type CallOptions } from '../support/call-api.ts'

/** The outcomes of all callers of the soak. */
export interface Tally {
  answered: number
  retried: number
  /** Answers that no disturbance explains. */
  wrong: string[]
}

const shownWrong = 50

export function noteWrong(tally: Tally, what: string): void {
  if (tally.wrong.length < shownWrong) tally.wrong.push(`${new Date().toISOString()} ${what}`)
}

/**
 * Repeats the call, as a careful client does, until the answer is neither 5xx nor 429. Pass an Idempotency-Key to
 * operations that create. Undefined: there was no answer before the soak was over.
 */
export async function callUntilAnswered(
  { origin, tally, stopped }: { origin: string; tally: Tally; stopped: () => boolean },
  route: string,
  options: CallOptions,
): Promise<Answer | undefined> {
  // A call that runs when the soak ends gets a little more time, because its outcome must be known.
  for (let attempt = 0; !stopped() || attempt < 5; attempt++) {
    const answer = await call(origin, route, options).catch((error: unknown) => {
      if (error instanceof NoAnswer) return undefined
      throw error
    })
    if (answer && answer.status < 500 && answer.status !== 429 && answer.code !== 'idempotency_in_progress') {
      tally.answered++
      return answer
    }
    if (answer?.status === 500) noteWrong(tally, `${route}: ${answer.text.slice(0, 300)}`)
    tally.retried++
    await delay(200 + Math.random() * 800)
  }
  return undefined
}
