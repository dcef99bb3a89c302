import type { Operation } from '@atrium/contract/operation'
import type { FastifyReply, FastifyRequest } from 'fastify'

const exposed =
  'Idempotency-Status, Idempotency-Expires, X-Request-Id, RateLimit, RateLimit-Policy, Retry-After, ETag, Content-Range, Collection-State'
const requestHeaders =
  'Authorization, X-API-Key, X-Collection-Token, X-Id-Token, X-Spk, Idempotency-Key, Content-Type, Last-Event-ID, If-None-Match, Range, If-Range'
const known = new Set(requestHeaders.toLowerCase().split(', '))
const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE'

/**
 * Whether a page may read the answers. True for operations under /v1 with a publishable key or no key, and for those
 * with the control token of a session or a summon key: a page that launches an agent must be able to stop it, and a
 * page that prepares a launch must be able to start it. For operations with a secret key or the operator's token, a
 * page may read only the errors.
 */
export function allowsBrowsers(op: Operation): boolean {
  if (op.caller === 'control' || op.credentialField === 'summon_key') return true
  return op.status === 'live' && (op.caller === 'publishable' || op.caller === 'anyone')
}

/** Any origin, never with credentials: the key in the request decides what a page may do. */
export function applyCors(reply: FastifyReply): void {
  reply.header('access-control-allow-origin', '*').header('access-control-expose-headers', exposed)
}

/** Errors contain no data of others, so any page may read them. A header that the route has set is kept. */
export function applyCorsToError(reply: FastifyReply): void {
  if (!reply.hasHeader('access-control-allow-origin')) applyCors(reply)
}

export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

/**
 * Answers a preflight, and any other OPTIONS, in the same way for every path, also for an unknown path and for an
 * operation with a secret key. A rejected preflight would hide the status and message from the page; the request
 * itself is checked when it arrives.
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

/** Includes headers that tracing and other libraries add, which the server ignores, but never X-Admin-Token. */
function allowedHeaders(requested: string | undefined): string {
  const others = (requested ?? '').split(',').map((name) => name.trim().toLowerCase())
  const harmless = others.filter((name) => /^[a-z0-9-]{1,100}$/.test(name) && !known.has(name) && name !== 'x-admin-token')
  return [requestHeaders, ...new Set(harmless)].join(', ')
}
