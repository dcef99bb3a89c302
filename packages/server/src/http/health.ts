import type { FastifyInstance } from 'fastify'
import type { Context } from '../context.ts'
import { statement } from '../db/database.ts'
import { migrationsDone } from '../db/migrate.ts'

export interface Draining {
  draining: boolean
}

const aliveStatement = statement<{ one: number }>('health-alive', 'select 1 as one')

/** /healthz: the process is up. /readyz: it can serve. /metrics: what it did, in Prometheus' text format. */
export function addHealth(app: FastifyInstance, ctx: Context, state: Draining): void {
  let migrated = false
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_req, reply) => {
    try {
      if (state.draining) throw new Error('stopping')
      await ctx.db.query(aliveStatement, [])
      migrated ||= await migrationsDone(ctx.db.pool)
      if (!migrated) throw new Error('migrations are not done')
      return { status: 'ready' }
    } catch (error) {
      // Not the error's own text: it may name the database's address.
      const reason = state.draining ? 'stopping' : 'database'
      ctx.log.debug({ err: error }, 'not ready')
      return reply.code(503).header('retry-after', '1').send({ status: 'not_ready', reason })
    }
  })
  app.get('/metrics', async (_req, reply) => {
    const { registry } = ctx.metrics
    return reply.header('content-type', registry.contentType).send(await registry.metrics())
  })
}
