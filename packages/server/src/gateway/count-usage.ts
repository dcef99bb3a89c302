import { bodyOf } from '#http/parse.ts'
import type { FastifyRequest } from 'fastify'
import type { Context } from '#features/context.ts'

/**
 * Counts an answer and the bytes of both bodies for the tenant. It counts when the answer is handed to the socket,
 * for the reason that Metrics gives.
 */
export function countUsage(ctx: Context, req: FastifyRequest, answerBody: string): void {
  const { tenantKey, consoleSession } = req
  // What the console reads is not traffic of the tenant's app.
  if (!tenantKey || consoleSession) return
  const receivedBytes = bodyOf(req)?.length ?? 0
  const sentBytes = req.method === 'HEAD' ? 0 : Buffer.byteLength(answerBody)
  ctx.usageCounter.answered(tenantKey.tenantId, receivedBytes + sentBytes)
}
