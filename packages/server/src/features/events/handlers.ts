import { limits } from '@atrium/contract/limits'
import type { HandlerOf, Handlers } from '../handler.ts'
import { eventView } from './event.ts'
import { listEvents as listRows, numberEvents } from './store.ts'

const batchSize = 500

export const listEvents: HandlerOf<'listEvents'> = async ({ ctx, tenantId, query }) => {
  const { after = 0, limit = limits.pageDefault } = query
  for (;;) {
    // The answer must contain every event that has committed, however far the worker has come.
    const numbered = await numberEvents(ctx.db, [tenantId], batchSize)
    const events = await listRows(ctx.db, tenantId, after, limit)
    if (events.length === limit || numbered < batchSize) return { status: 200, data: events.map(eventView) }
  }
}

export const eventHandlers = { listEvents } satisfies Partial<Handlers>
