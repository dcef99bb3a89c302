import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from './context.ts'

/**
 * An answer is on its way: counts it and writes its line to the access log. The line names the operation, never the address: that can hold
 * ids, and a query string can hold a credential.
 */
export function recordAnswer(
  ctx: Context,
  req: FastifyRequest,
  reply: FastifyReply,
  operation: string | undefined,
  status: number,
) {
  const ms = reply.elapsedTime
  ctx.metrics.answered(operation, status, ms)
  if (!ctx.config.accessLog) return
  ctx.log.info({ method: req.method, operation, status, ms: Math.round(ms * 10) / 10, request_id: req.id }, 'answered')
}
