import { signedHeaders } from '#crypto/sign-webhook.ts'
import { EgressError } from '#ports/egress/egress-error.ts'
import type { Context } from '../context.ts'

export interface Endpoint {
  url: string
  /** All secrets that sign, the newest first. */
  secrets: string[]
}

/** The outcome of one attempt. */
export interface Attempt {
  succeeded: boolean
  /** null: no answer. */
  responseStatus: number | null
  error: string | null
  /** Until the answer or the failure. */
  ms: number
  /** The beginning of the answer's body as text; null: no answer. */
  answer: string | null
}

const timeoutMs = 15_000
/** Most of the answer's body is discarded, but reading it to its end lets the connection be reused. */
const maxAnswerBytes = 16_384
const keptAnswerBytes = 1_024

/** Sends an event once. Rejects only with the reason of `signal`. */
export async function sendEvent(
  { egress }: Pick<Context, 'egress'>,
  { url, secrets }: Endpoint,
  event: { id: string },
  signal?: AbortSignal,
): Promise<Attempt> {
  const body = JSON.stringify(event)
  const headers = { 'content-type': 'application/json', ...signedHeaders(secrets, event.id, body) }
  const startedAt = performance.now()
  const ms = () => Math.round(performance.now() - startedAt)
  try {
    const { status, body: answer } = await egress.send({
      method: 'POST',
      url,
      headers,
      body,
      timeoutMs,
      maxAnswerBytes,
      ...(signal ? { signal } : {}),
    })
    const succeeded = status >= 200 && status < 300
    const error = succeeded ? null : `The endpoint answered ${status}.`
    return { succeeded, responseStatus: status, error, ms: ms(), answer: beginningOf(answer) }
  } catch (error) {
    if (error instanceof EgressError)
      return { succeeded: false, responseStatus: null, error: error.message, ms: ms(), answer: null }
    throw error
  }
}

/** What is not UTF-8 is replaced, and so is NUL, which PostgreSQL refuses. A character that is cut is left out. */
function beginningOf(answer: Uint8Array): string {
  return new TextDecoder().decode(answer.subarray(0, keptAnswerBytes), { stream: true }).replaceAll('\0', '\ufffd')
}
