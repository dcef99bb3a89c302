import type { FastifyInstance } from 'fastify'
import type { Context } from '#features/context.ts'
import { assertAlive } from '#db/database.ts'
import { migrationsDone } from '#db/migrate.ts'
import { limitReaders } from './limit-readers.ts'
import { Readiness } from './readiness.ts'

export interface Draining {
  draining: boolean
}

/** /healthz: the process is up. /readyz: it can serve. /metrics: what it did, in Prometheus' text format. */
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
      // Not the error's own text: it may name the database's address.
      const reason = state.draining ? 'stopping' : 'database'
      ctx.log.debug({ err: error }, 'not ready')
      return reply.code(503).header('retry-after', '1').send({ status: 'not_ready', reason })
    }
  })

  const { registry } = ctx.metrics
  let collecting: Promise<string> | undefined
  app.get('/metrics', { onRequest: limitReaders(ctx, 'metrics') }, async (_req, reply) => {
    // Those who ask at once get one collection.
    collecting ??= registry.metrics().finally(() => (collecting = undefined))
    return reply
      .header('content-type', registry.contentType)
      .header('cache-control', 'no-store')
      .send(await collecting)
  })
}
