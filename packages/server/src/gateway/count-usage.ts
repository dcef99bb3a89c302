import { bodyOf } from '#http/parse.ts'
import type { FastifyRequest } from 'fastify'
import type { Context } from '#features/context.ts'

/**
 * Counts an answer to a tenant, and the bytes of both bodies. Where it is on its way, for the reason that the metrics
 * are: see there.
 */
export function countUsage(ctx: Context, req: FastifyRequest, answerBody: string): void {
  const { tenantKey } = req
  if (!tenantKey) return
  const receivedBytes = bodyOf(req)?.length ?? 0
  const sentBytes = req.method === 'HEAD' ? 0 : Buffer.byteLength(answerBody)
  ctx.usageCounter.answered(tenantKey.tenantId, receivedBytes + sentBytes)
}
