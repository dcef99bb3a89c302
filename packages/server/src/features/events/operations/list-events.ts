import { limits } from '@atrium/contract/limits'
import type { HandlerOf } from '#features/handler.ts'
import { eventView } from '../event.ts'
import { listEvents as listRows, numberEvents } from '../store.ts'

const numberAtOnce = 500

export const listEvents: HandlerOf<'listEvents'> = async ({ ctx, tenantId, query }) => {
  const { after = 0, limit = limits.pageDefault } = query
  for (;;) {
    // What is committed by now must be in the answer, whatever the worker is busy with.
    const numbered = await numberEvents(ctx.db, [tenantId], numberAtOnce)
    const events = await listRows(ctx.db, tenantId, after, limit)
    if (events.length === limit || numbered < numberAtOnce) return { status: 200, data: events.map(eventView) }
  }
}
