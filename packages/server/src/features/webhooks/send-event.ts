import { signedHeaders } from '#crypto/sign-webhook.ts'
import { EgressError } from '#ports/egress/egress-error.ts'
import type { Context } from '../context.ts'

export interface Endpoint {
  url: string
  /** All secrets that sign, the newest first. */
  secrets: string[]
}

/** The outcome of one attempt. It holds nothing of the answer's body. */
export interface Attempt {
  succeeded: boolean
  /** null: no answer. */
  responseStatus: number | null
  error: string | null
}

const timeoutMs = 15_000
/** The answer's body is discarded, but reading it to its end lets the connection be reused. */
const maxAnswerBytes = 16_384

/** Sends an event once. Rejects only with the reason of `signal`. */
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
      timeoutMs,
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
