import { setTimeout as delay } from 'node:timers/promises'
import { call, NoAnswer, type Answer, type CallOptions } from '../support/call-api.ts'

/** What the callers of the soak have seen, over all of them. */
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
 * Repeats the call, as a careful client does, until it has an answer that is neither 5xx nor 429. Give an
 * Idempotency-Key to what creates. Undefined: no answer came before the soak was over.
 */
export async function callUntilAnswered(
  { origin, tally, stopped }: { origin: string; tally: Tally; stopped: () => boolean },
  route: string,
  options: CallOptions,
): Promise<Answer | undefined> {
  // A call under way when the soak ends gets a little longer: what was acknowledged must be known.
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
