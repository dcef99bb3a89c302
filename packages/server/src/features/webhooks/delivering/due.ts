import type { EventType } from '@atrium/contract/event-types'
import { statement, type Db } from '#db/database.ts'
import type { Event } from '#features/events/event.ts'

/** An event that is to be sent now, and how often it was tried. */
export interface DueDelivery {
  event: Event
  tries: number
}

interface Row {
  sequence: number
  tries: number
  id: string
  type: EventType
  data: Record<string, unknown>
  created_at: string
}

const dueStatement = statement<Row>(
  'webhooks-due',
  `with due as materialized (
     select sequence, tries, next_attempt_at from webhook_deliveries
     where tenant_id = $1 and status = 'pending' and next_attempt_at <= now() and sequence <> all ($2::bigint[])
     order by next_attempt_at, sequence
     limit $3
   )
   select d.sequence, d.tries, e.id, e.type, e.data, e.created_at
   from due d
   join events e on e.tenant_id = $1 and e.sequence = d.sequence
   order by d.next_attempt_at, d.sequence`,
)

/** What is due to a tenant's endpoint, but for what is under way: fresh events by sequence, retries in between by their time. */
export async function listDue(db: Db, tenantId: string, underWay: number[], limit: number): Promise<DueDelivery[]> {
  const rows = await db.query(dueStatement, [tenantId, underWay, limit])
  return rows.map(({ tries, created_at: createdAt, ...event }) => ({ tries, event: { ...event, tenantId, createdAt } }))
}
