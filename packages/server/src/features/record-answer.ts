import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from './context.ts'

/**
 * Counts an answer and writes its line to the access log. The line names the operation and not the URL, because a URL
 * can contain ids, and its query string a credential.
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
