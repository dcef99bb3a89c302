import type { EventType } from '@atrium/contract/event-types'
import { statement, type Db } from '#db/database.ts'
import type { Event } from './event.ts'
import type { Place } from './outbox-store.ts'
import { eventColumns, toEvent, type EventRow } from './store.ts'

/** What a stream must know of an event to decide whether it concerns it. */
export interface News {
  tenantId: string
  sequence: number
  type: EventType
  /** null: the event is of no collection. */
  collectionId: string | null
  /** true: an item is open now; false: it is no longer; null: public streams do not send it. */
  openItem: boolean | null
  /** The hashes of the event and of the one before it, in the chain of events; null: not known. */
  hash: string | null
  hashBefore: string | null
}

interface NewsRow {
  tenant_id: string
  sequence: number
  type: EventType
  collection_id: string | null
  open_item: boolean | null
  hash: string | null
  hash_before: string | null
}

const newsWith = (name: string, where: string) =>
  statement<NewsRow>(
    name,
    `select n.* from unnest($1::text[], $2::bigint[]) as w (tenant_id, after)
   cross join lateral (
     select e.tenant_id, e.sequence, e.type, e.data->>'collection_id' as collection_id, e.open_item,
       encode(e.hash, 'hex') as hash, encode(e.hash_before, 'hex') as hash_before
     from events e where ${where} and e.sequence > w.after order by e.sequence limit $3
   ) n
   order by n.tenant_id, n.sequence`,
  )
const newsStatement = newsWith('events-news', 'e.tenant_id = w.tenant_id')
// Citus sends it to one node because of the array. One PostgreSQL would take three times as long with it.
const spreadNewsStatement = newsWith('events-news-spread', 'e.tenant_id = any ($1) and e.tenant_id = w.tenant_id')

/**
 * The next events of each tenant after a sequence of its own, at most `limitEach`. If events are spread over nodes, the
 * tenants are of one shard.
 */
export async function listNews(
  db: Db,
  positions: Map<string, number>,
  limitEach: number,
  { isSpread }: { isSpread: boolean },
): Promise<News[]> {
  const values = [[...positions.keys()], [...positions.values()], limitEach]
  const rows = await db.query(isSpread ? spreadNewsStatement : newsStatement, values)
  return rows.map(
    ({ tenant_id: tenantId, collection_id: collectionId, open_item: openItem, hash_before: hashBefore, ...same }) => ({
      ...same,
      tenantId,
      collectionId,
      openItem,
      hashBefore,
    }),
  )
}

const headsStatement = statement<{ tenant_id: string; last: number; hash: string | null }>(
  'events-heads',
  `select tenant_id, last_sequence as last, case when chain_sequence = last_sequence then encode(chain_hash, 'hex') end as hash
   from event_heads where tenant_id = any($1)`,
)

/** The last event of a tenant, by its sequence and its hash in the chain; hash null: not known. */
export interface LogHead {
  last: number
  hash: string | null
}

/** The last event of each tenant. A tenant without events is absent. */
export async function listHeads(db: Db, tenantIds: string[]): Promise<Map<string, LogHead>> {
  const rows = await db.query(headsStatement, [tenantIds])
  return new Map(rows.map(({ tenant_id: tenantId, last, hash }) => [tenantId, { last, hash }]))
}

const anyWaitingStatement = statement<{ any: boolean }>(
  'events-any-waiting',
  `select exists (
     select from unnest($1::text[], $2::bigint[]) as t (id, floor)
     cross join lateral (select from event_outbox o where o.tenant_id = t.id and o.position > t.floor limit 1) x
   ) as any`,
)

/** Whether one of these tenants has events that have no number yet. */
export async function hasWaitingEvents(db: Db, tenantIds: string[], { floors }: Place): Promise<boolean> {
  const [row] = await db.query(anyWaitingStatement, [tenantIds, tenantIds.map((id) => floors?.of(id) ?? 0)])
  return row?.any ?? false
}

const boundsStatement = statement<{ first: number | null; last: number | null }>(
  'events-bounds',
  `select (select min(sequence) from events where tenant_id = $1) as first,
     (select last_sequence from event_heads where tenant_id = $1) as last`,
)

/** Whether the log still has every event after this sequence, and has come that far: a restored backup may not have. */
export async function isInLog(db: Db, tenantId: string, sequence: number): Promise<boolean> {
  const [row] = await db.query(boundsStatement, [tenantId])
  const last = row?.last ?? 0
  return sequence <= last && (row?.first ?? last + 1) <= sequence + 1
}

const ofCollectionStatement = statement<EventRow>(
  'events-of-collection',
  `select ${eventColumns} from events
   where tenant_id = $1 and data->>'collection_id' = $2 and sequence > $3 and split_part(type, '.', 1) in ('item', 'artifact', 'collection')
   order by sequence limit $4`,
)

/** The events of a collection's items, artifacts and state after a sequence. */
export async function listCollectionEvents(
  db: Db,
  tenantId: string,
  collectionId: string,
  afterSequence: number,
  limit: number,
): Promise<Event[]> {
  return (await db.query(ofCollectionStatement, [tenantId, collectionId, afterSequence, limit])).map(toEvent)
}

/** An event that made an item open, changed an open one, or ended that. */
export interface OpenItemChange {
  sequence: number
  itemId: string
  isOpen: boolean
}

const openChangesStatement = statement<{ sequence: number; item_id: string; open_item: boolean }>(
  'events-open-items',
  `select sequence, data->>'item_id' as item_id, open_item from events
   where tenant_id = $1 and data->>'collection_id' = $2 and sequence > $3 and open_item is not null
   order by sequence limit $4`,
)

/** What happened to a collection's open items after a sequence. */
export async function listOpenItemChanges(
  db: Db,
  tenantId: string,
  collectionId: string,
  afterSequence: number,
  limit: number,
): Promise<OpenItemChange[]> {
  const rows = await db.query(openChangesStatement, [tenantId, collectionId, afterSequence, limit])
  return rows.map(({ sequence, item_id: itemId, open_item: isOpen }) => ({ sequence, itemId, isOpen }))
}
