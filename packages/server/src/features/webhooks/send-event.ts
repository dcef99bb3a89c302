import { createHmac } from 'node:crypto'
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

const prefix = 'whsec_'

/** The `webhook-*` headers of Standard Webhooks, with one signature for each secret. */
function signedHeaders(secrets: string[], messageId: string, body: string, nowMs = Date.now()): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${messageId}.${timestamp}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': messageId, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
