import type { AtriumError } from './atrium-error.ts'
import { type HttpAnswer, type HttpRequest, jsonOf, send, type Transport } from './send.ts'

interface LostRequest {
  operation: string
  request: HttpRequest
  rootUrl: string
  signal: AbortSignal | undefined
}

/** Whether the request may have taken effect although no answer of the API arrived. */
export function isLost({ status }: AtriumError): boolean {
  return status === 0 || status >= 500
}

/**
 * Asks what became of a request whose answer was lost, without sending it again. Resolves to its answer, or to
 * undefined if the server does not have it or cannot be asked: a repeat with the same Idempotency-Key decides then.
 */
export async function findOutcome(lost: LostRequest, transport: Transport): Promise<HttpAnswer | undefined> {
  const { operation, request, rootUrl, signal } = lost
  // Pages without TLS have no Web Crypto.
  if (globalThis.crypto?.subtle === undefined) return undefined
  // The path as the API sees it: a proxy may serve it below a prefix.
  const path = request.url.slice(rootUrl.length).replace(/\?.*$/s, '')
  const { 'idempotency-key': key, ...headers } = request.headers
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(request.body ?? ''))
  const sha256 = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
  const body = JSON.stringify({ idempotency_key: key, operation, path, body_sha256: sha256 })
  try {
    const url = `${rootUrl}/v1/outcomes/lookup`
    const answer = await send(
      { url, method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body },
      transport,
      signal,
    )
    const { data } = jsonOf(answer) as { data: { state: string; status: number; answer?: unknown; expires_at: string } }
    if (data.state !== 'done') return undefined
    const found = new Headers({ 'idempotency-status': 'replayed', 'idempotency-expires': data.expires_at })
    if (data.answer === undefined)
      return { res: new Response(null, { status: data.status, headers: found }), bytes: new Uint8Array() }
    found.set('content-type', 'application/json; charset=utf-8')
    const bytes = new TextEncoder().encode(JSON.stringify(data.answer))
    return { res: new Response(null, { status: data.status, headers: found }), bytes }
  } catch (error) {
    if (signal?.aborted) throw error
    return undefined
  }
}
