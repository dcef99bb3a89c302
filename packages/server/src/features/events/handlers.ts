import { limits } from '@atrium/contract/limits'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf, Handlers } from '../handler.ts'
import type { Context } from '../context.ts'
import { hashContent } from './chain.ts'
import { eventView, type Event } from './event.ts'
import { proveEventHead } from './daily-root/operations.ts'
import { numberEvents } from './numbering-store.ts'
import { listEvents as listRows } from './store.ts'

const batchSize = 500

interface PageQuery {
  after?: number
  limit?: number
}

async function listNumbered(
  { db, outbox }: Pick<Context, 'db' | 'outbox'>,
  tenantId: string,
  { after = 0, limit = limits.pageDefault }: PageQuery,
): Promise<Event[]> {
  for (;;) {
    // The answer must contain every event that has committed, however far the worker has come.
    const numbered = await numberEvents(db, [tenantId], batchSize, outbox)
    const events = await listRows(db, tenantId, after, limit)
    if (events.length === limit) return events
    // There is more, but the reader would take a short page for the end of the list.
    if (numbered === undefined) throw new ApiError('unavailable', { retryAfterSeconds: 1 })
    if (numbered < batchSize) return events
  }
}

const listEvents: HandlerOf<'listEvents'> = async ({ ctx, tenantId, query }) => ({
  status: 200,
  data: (await listNumbered(ctx, tenantId, query)).map(eventView),
})

const listEventHashes: HandlerOf<'listEventHashes'> = async ({ ctx, tenantId, query }) => ({
  status: 200,
  data: (await listNumbered(ctx, tenantId, query)).map((event) => ({
    sequence: event.sequence,
    type: event.type,
    prev_hash: event.hashBefore,
    content_hash: hashContent(event),
    hash: event.hash,
  })),
})

export const eventHandlers = { listEvents, listEventHashes, proveEventHead } satisfies Partial<Handlers>
