import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Context } from '#features/context.ts'
import { assertAlive } from '#db/database.ts'
import { migrationsDone } from '#db/migrate.ts'
import { limitReaders } from './limit-readers.ts'
import { Readiness } from './readiness.ts'
import { ApiError } from '#errors/api-error.ts'
import { formatFamilies } from '#http/metric-families.ts'
import { isLoopbackAddress } from '#http/from-this-machine.ts'
import { hasBearerToken, metricsContentType } from '#http/metrics-access.ts'

export interface Draining {
  draining: boolean
}

/**
 * Adds /healthz (the process runs), /readyz (it can serve) and /metrics (the metrics of this machine's processes in
 * Prometheus' text format). /metrics requires the metrics token or, outside of production, a request from this
 * machine.
 */
export function addHealth(app: FastifyInstance, ctx: Context, state: Draining): void {
  let migrated = false
  const readiness = new Readiness(async () => {
    await assertAlive(ctx.db)
    migrated ||= await migrationsDone(ctx.db.pool)
    if (!migrated) throw new Error('migrations are not done')
  })
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_req, reply) => {
    reply.header('cache-control', 'no-store')
    try {
      if (state.draining) throw new Error('stopping')
      await readiness.assert()
      return { status: 'ready' }
    } catch (error) {
      // The text of the error is not sent, because it may name the database's address.
      const reason = state.draining ? 'stopping' : 'database'
      ctx.log.debug({ err: error }, 'not ready')
      return reply.code(503).header('retry-after', '1').send({ status: 'not_ready', reason })
    }
  })

  let collecting: Promise<string> | undefined
  app.get('/metrics', { onRequest: limitReaders(ctx, 'metrics') }, async (req, reply) => {
    if (!mayReadMetrics(ctx, req)) throw new ApiError('not_found')
    // Concurrent requests share one collection.
    collecting ??= ctx.metrics
      .readAll()
      .then(formatFamilies)
      .finally(() => (collecting = undefined))
    return reply
      .header('content-type', metricsContentType)
      .header('cache-control', 'no-store')
      .send(await collecting)
  })
}

/**
 * A proxy on this machine also connects from loopback and may add no header, so in production the address is not
 * checked.
 */
function mayReadMetrics({ config }: Pick<Context, 'config'>, { headers, ip, socket }: FastifyRequest): boolean {
  const { token } = config.metrics
  if (token !== undefined && hasBearerToken(headers.authorization, token)) return true
  return !config.production && isLoopbackAddress(socket.remoteAddress) && isLoopbackAddress(ip)
}
