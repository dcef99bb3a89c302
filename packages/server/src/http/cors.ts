import { servedOperations } from '@atrium/contract/table'
import type { Operation } from '@atrium/contract/operation'
import type { FastifyInstance, FastifyReply } from 'fastify'

const exposed =
  'Idempotency-Status, Idempotency-Expires, X-Request-Id, RateLimit, RateLimit-Policy, Retry-After, ETag, Content-Range'
const requestHeaders =
  'Authorization, X-API-Key, X-Collection-Token, X-Id-Token, X-Spk, Idempotency-Key, Content-Type, If-None-Match, Range, If-Range'

/**
 * Browsers may call what a publishable key, or no key, may call under /v1, and whatever takes the control token of a session: a page that
 * launches an agent must be able to send it away. Never what takes a secret key or the operator's token.
 */
export function allowsBrowsers(op: Operation): boolean {
  return op.caller === 'control' || (op.status === 'live' && (op.caller === 'publishable' || op.caller === 'anyone'))
}

/** Any origin, never with credentials: what a page may do, the key in its request says. */
export function applyCors(reply: FastifyReply): void {
  reply.header('access-control-allow-origin', '*').header('access-control-expose-headers', exposed)
}

/** Answers preflights for each path, with the methods that browsers may use there. */
export function addPreflights(app: FastifyInstance, routeOf: (op: Operation) => string): void {
  const methods = new Map<string, string[]>()
  for (const op of servedOperations.filter(allowsBrowsers)) {
    const url = routeOf(op)
    methods.set(url, [...(methods.get(url) ?? []), op.method])
  }
  for (const [url, allowed] of methods) {
    app.options(url, async (_req, reply) => {
      applyCors(reply)
      return reply
        .code(204)
        .header('access-control-allow-methods', allowed.join(', '))
        .header('access-control-allow-headers', requestHeaders)
        .header('access-control-max-age', '7200')
        .send()
    })
  }
}
