import type { Operation } from '@atrium/contract/operation'
import type { FastifyReply, FastifyRequest } from 'fastify'

const exposed =
  'Idempotency-Status, Idempotency-Expires, X-Request-Id, RateLimit, RateLimit-Policy, Retry-After, ETag, Content-Range'
const requestHeaders =
  'Authorization, X-API-Key, X-Collection-Token, X-Id-Token, X-Spk, Idempotency-Key, Content-Type, If-None-Match, Range, If-Range'
const known = new Set(requestHeaders.toLowerCase().split(', '))
const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE'

/**
 * Whose answers a page may read: what a publishable key, or no key, may call under /v1, and whatever takes the control token of a session: a
 * page that launches an agent must be able to send it away. Never what takes a secret key or the operator's token, except its errors.
 */
export function allowsBrowsers(op: Operation): boolean {
  return op.caller === 'control' || (op.status === 'live' && (op.caller === 'publishable' || op.caller === 'anyone'))
}

/** Any origin, never with credentials: what a page may do, the key in its request says. */
export function applyCors(reply: FastifyReply): void {
  reply.header('access-control-allow-origin', '*').header('access-control-expose-headers', exposed)
}

/** Errors hold nothing that is another's: any page may read them, unless its route answered that already. */
export function applyCorsToError(reply: FastifyReply): void {
  if (!reply.hasHeader('access-control-allow-origin')) applyCors(reply)
}

export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

/**
 * Answers a preflight, and any other OPTIONS, for each path alike, also for one that is not there and for an operation that takes a secret
 * key: a browser that is refused here shows its page no status and no word of ours. What the request itself may do is checked when it comes.
 */
export function answerPreflight(req: FastifyRequest, reply: FastifyReply): FastifyReply {
  applyCors(reply)
  return reply
    .code(204)
    .header('access-control-allow-methods', methods)
    .header('access-control-allow-headers', allowedHeaders(req.headers['access-control-request-headers']))
    .header('access-control-max-age', '7200')
    .header('vary', 'access-control-request-headers')
    .send()
}

/** With what tracing and other libraries add to requests: nobody reads it here. No page has a use for the operator's token. */
function allowedHeaders(requested: string | undefined): string {
  const others = (requested ?? '').split(',').map((name) => name.trim().toLowerCase())
  const harmless = others.filter((name) => /^[a-z0-9-]{1,100}$/.test(name) && !known.has(name) && name !== 'x-admin-token')
  return [requestHeaders, ...new Set(harmless)].join(', ')
}
