import type { Context } from '../context.ts'
import { EgressError } from '#ports/egress/egress-error.ts'
import { signedHeaders } from '#crypto/sign-webhook.ts'

export interface Endpoint {
  url: string
  /** All that sign, the newest first. */
  secrets: string[]
}

/** What became of one try. Nothing of an answer's body is in it. */
export interface Attempt {
  succeeded: boolean
  /** null: no answer came. */
  responseStatus: number | null
  error: string | null
}

const patienceMs = 15_000
/** The body is not read, but a connection whose answer was read to its end can be used again. */
const maxAnswerBytes = 16_384

/** Sends one event, once. Rejects only with the reason of `signal`. */
export async function sendEvent(
  { egress }: Pick<Context, 'egress'>,
  { url, secrets }: Endpoint,
  event: { id: string },
  signal?: AbortSignal,
): Promise<Attempt> {
  const body = JSON.stringify(event)
  const headers = { 'content-type': 'application/json', ...signedHeaders(secrets, event.id, body) }
  try {
    const { status } = await egress.send({
      method: 'POST',
      url,
      headers,
      body,
      timeoutMs: patienceMs,
      maxAnswerBytes,
      ...(signal ? { signal } : {}),
    })
    const succeeded = status >= 200 && status < 300
    return { succeeded, responseStatus: status, error: succeeded ? null : `The endpoint answered ${status}.` }
  } catch (error) {
    if (error instanceof EgressError) return { succeeded: false, responseStatus: null, error: error.message }
    throw error
  }
}
