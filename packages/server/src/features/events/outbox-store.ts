import type { EventType } from '@atrium/contract/event-types'
import { statement, type Db } from '#db/database.ts'
import { chainFrom, type ChainEnd, type HashedEvent } from './chain.ts'
import type { NumberedPart, OutboxFloors, Snapshot } from './outbox-floors.ts'

/** The head of a tenant, where position is null, or an event of its outbox. */
interface Row {
  tenant_id: string
  last_sequence: number | null
  chain_sequence: number | null
  chain_hash: string | null
  /** Whether `number_spread` has numbered events of the tenant within the last 12 hours. */
  numbered_lately: boolean | null
  xmin: number | null
  xmax: number | null
  slot: number
  position: number | null
  id: string
  type: EventType
  data: Record<string, unknown>
  created_at: string
}

const readStatement = statement<Row>(
  'events-outbox',
  // One statement, so that heads and events are of the same moment. Heads come first.
  `select t.id as tenant_id, h.last_sequence, h.chain_sequence, encode(h.chain_hash, 'hex') as chain_hash,
     h.numbered_at > now() - interval '12 hours' as numbered_lately,
     pg_snapshot_xmin(pg_current_snapshot())::text::bigint as xmin, pg_snapshot_xmax(pg_current_snapshot())::text::bigint as xmax,
     null::smallint as slot, null::bigint as position, null as id, null as type, null::json as data, null::timestamptz as created_at
   from unnest($1::text[]) as t (id)
   left join event_heads h on h.tenant_id = t.id
   union all
   select t.id, null, null, null, null, null, null, o.slot, o.position, o.id, o.type, o.data, o.created_at
   from unnest($1::text[], $4::bigint[]) as t (id, floor)
   cross join lateral (
     select x.slot, x.position, x.id, x.type, x.data, x.created_at from event_outbox x
     where x.tenant_id = t.id and x.position > t.floor and x.id <> all ($3::text[]) order by x.position limit $2
   ) o`,
)

const shownStatement = statement<{ tenant_id: string }>(
  'events-shown',
  // Citus sends it to one node because of the array.
  `select w.tenant_id from unnest($1::text[], $2::bigint[]) as w (tenant_id, last)
   cross join lateral (
     select e.sequence from events e
     where e.tenant_id = any ($1) and e.tenant_id = w.tenant_id and e.sequence = w.last limit 1
   ) shown`,
)

/** Where the events are, and up to where they were read. If they are spread, the tenants of a call are of one shard. */
export interface Place {
  isSpread: boolean
  /** Absent: the outbox is read from its beginning. */
  floors?: OutboxFloors
}

export const inOnePlace: Place = { isSpread: false }

/** The events that are read at once, and hashed in one turn of the event loop. */
const maxEvents = 2_000

/** The text that PostgreSQL reads as bytes. */
export const bytea = (hash: string | null): string | null => hash && `\\x${hash}`

/** Events of several tenants with their numbers and hashes, which hold if nobody else numbers them. */
export interface Batch {
  heads: Head[]
  snapshot: Snapshot
  /** For each event, in the order of the heads. */
  hashes: string[]
  total: number
  /** The heads whose events did not fit in. */
  full: Head[]
  mayBeMore: boolean
  /** Why tenants were left out. */
  left: 'done' | 'chaining' | 'hidden'
}

function makeBatch(heads: Head[], snapshot: Snapshot, limit: number, left: Batch['left']): Batch {
  const busy = heads.filter(({ waiting }) => waiting.length > 0)
  const hashes = busy.flatMap(({ chain, waiting }) => chainFrom(chain, waiting)).map(({ hash }) => hash)
  const full = busy.filter(({ waiting }) => waiting.length === limit)
  return { heads: busy, snapshot, hashes, total: hashes.length, full, mayBeMore: full.length > 0 || left === 'chaining', left }
}

const limitOf = (tenants: number, maxEach: number): number => Math.max(1, Math.min(maxEach, Math.floor(maxEvents / tenants)))

export async function readBatch(db: Db, tenantIds: string[], maxEach: number, place: Place): Promise<Batch> {
  const limit = limitOf(tenantIds.length, maxEach)
  const rows = await read(db, tenantIds, limit, [], place)
  const all = headsOf(rows)
  const heads = place.isSpread ? await withShownEvents(db, all) : all
  const behind = heads.filter(isBehind)
  for (const head of behind) await chainNumbered(db, head)
  const left = behind.length > 0 ? 'chaining' : heads.length < all.length ? 'hidden' : 'done'
  return makeBatch(
    heads.filter((head) => !isBehind(head)),
    snapshotOf(rows),
    limit,
    left,
  )
}

const read = (db: Db, tenantIds: string[], limit: number, taken: string[], { floors }: Place): Promise<Row[]> =>
  db.query(readStatement, [tenantIds, limit, taken, tenantIds.map((id) => floors?.of(id) ?? 0)])

const snapshotOf = ([head]: Row[]): Snapshot => ({ xmin: head?.xmin ?? 0, xmax: head?.xmax ?? 0 })

/** For the floors, when the batch is numbered whole. */
export const partsOf = ({ heads, full }: Batch): NumberedPart[] =>
  heads.map((head) => ({
    tenantId: head.tenantId,
    lastPosition: head.waiting.at(-1)?.position ?? 0,
    isCut: full.includes(head),
  }))

/** What comes after a batch that is being numbered. */
export async function readAfter(db: Db, { heads, hashes, full }: Batch, maxEach: number, place: Place): Promise<Batch> {
  const ends = new Map<string, ChainEnd>()
  let end = 0
  for (const { tenantId, last, waiting } of heads) {
    end += waiting.length
    ends.set(tenantId, { sequence: last + waiting.length, hash: hashes[end - 1] ?? null })
  }
  const limit = limitOf(full.length, maxEach)
  const taken = full.flatMap(({ waiting }) => waiting.map(({ id }) => id))
  // Not by position: an event with a lower one that has committed meanwhile comes before those that were written after it.
  const tenantIds = full.map(({ tenantId }) => tenantId)
  const rows = await read(db, tenantIds, limit, taken, place)
  return makeBatch(headsOf(rows, ends), snapshotOf(rows), limit, 'done')
}

/** The tenants whose event with the given sequence is visible. They are of one shard. */
export async function listShown(db: Db, sequences: Map<string, number>): Promise<Set<string>> {
  const rows = await db.query(shownStatement, [[...sequences.keys()], [...sequences.values()]])
  return new Set(rows.map(({ tenant_id: tenantId }) => tenantId))
}

/**
 * Leaves out the heads whose event is not visible. Citus commits on the coordinator, and then on the node of the events.
 * A node that goes away in between shows them up to a minute after its return. If later events were numbered meanwhile,
 * a reader would see them first, and miss the others. After 12 hours, an event is not visible because it was deleted.
 */
async function withShownEvents(db: Db, heads: Head[]): Promise<Head[]> {
  const lately = heads.filter(({ numberedLately }) => numberedLately)
  if (lately.length === 0) return heads
  const shown = await listShown(db, new Map(lately.map(({ tenantId, last }) => [tenantId, last])))
  return heads.filter(({ tenantId, numberedLately }) => !numberedLately || shown.has(tenantId))
}

interface Head {
  tenantId: string
  last: number
  chain: ChainEnd
  numberedLately: boolean
  waiting: Waiting[]
}

interface Waiting extends HashedEvent {
  slot: number
  position: number
}

/** The heads are where they were read, or at `ends`. */
function headsOf(rows: Row[], ends?: Map<string, ChainEnd>): Head[] {
  const heads = new Map<string, Head>()
  for (const {
    tenant_id: tenantId,
    last_sequence,
    chain_sequence,
    chain_hash: hash,
    numbered_lately,
    position,
    ...row
  } of rows) {
    const head = heads.get(tenantId)
    if (position === null || head === undefined) {
      const end = ends?.get(tenantId)
      const last = end?.sequence ?? last_sequence ?? 0
      heads.set(tenantId, {
        tenantId,
        last,
        // Before the first upgrade to a release with the chain: it begins with the next event.
        chain: end ?? { sequence: chain_sequence ?? last, hash },
        numberedLately: numbered_lately ?? false,
        waiting: [],
      })
    } else {
      const { id, type, data, slot, created_at: createdAt } = row
      head.waiting.push({ id, type, data, createdAt, tenantId, sequence: 0, slot, position })
    }
  }
  for (const { waiting, last } of heads.values()) {
    waiting.sort((a, b) => a.position - b.position)
    waiting.forEach((event, i) => (event.sequence = last + i + 1))
  }
  return [...heads.values()]
}

const isBehind = ({ last, chain }: Head): boolean => chain.sequence < last

const unchainedStatement = statement<Pick<Row, 'id' | 'type' | 'data' | 'created_at'> & { sequence: number }>(
  'events-unchained',
  `select sequence, id, type, data, created_at from events
   where tenant_id = $1 and sequence > $2 and sequence <= $3 order by sequence limit $4`,
)

const chainStatement = statement<never>('events-chain', 'select chain_numbered($1, $2, $3, $4, $5, $6, $7)', {
  writes: true,
  tries: 'one',
})

const chainBatch = 500

/** Gives hashes to events that a process of the previous release has numbered, up to 500 of them. */
async function chainNumbered(db: Db, { tenantId, last, chain }: Head): Promise<void> {
  const rows = await db.query(unchainedStatement, [tenantId, chain.sequence, last, chainBatch])
  const events = rows.map(({ created_at: createdAt, ...row }): HashedEvent => ({ ...row, tenantId, createdAt }))
  const links = chainFrom(chain, events)
  const end = links.at(-1)
  await db.query(chainStatement, [
    tenantId,
    chain.sequence,
    // All of them were deleted meanwhile: the next event begins a chain.
    events.at(-1)?.sequence ?? last,
    bytea(end?.hash ?? null),
    events.map(({ sequence }) => sequence),
    links.map(({ hash }) => bytea(hash)),
    links.map(({ hashBefore }) => bytea(hashBefore)),
  ])
}
