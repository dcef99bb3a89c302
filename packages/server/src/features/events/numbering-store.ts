import { setTimeout as delay } from 'node:timers/promises'
import type { EventType } from '@atrium/contract/event-types'
import { retryLocked } from '@atrium/traffic/locked-retry'
import { statement, type Database, type Db, type Tx, type Waking } from '#db/database.ts'
import { chainFrom, type ChainEnd, type HashedEvent } from './chain.ts'
import { eventChannel } from './store.ts'

// The hashes are computed in this process before the events are numbered: one event would take PostgreSQL a third of the
// time that numbering it takes. No lock is held meanwhile. number_chained numbers only if the head is still where it was
// read, so a process that is killed or stopped in between has changed nothing and delays nobody.

/** The head of a tenant, where position is null, or an event of its outbox. */
interface Row {
  tenant_id: string
  last_sequence: number | null
  chain_sequence: number | null
  chain_hash: string | null
  /** Whether `number_spread` has numbered events of the tenant within the last 12 hours. */
  numbered_lately: boolean | null
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
     h.numbered_at > now() - interval '12 hours' as numbered_lately, null::smallint as slot, null::bigint as position, null as id, null as type, null::json as data, null::timestamptz as created_at
   from unnest($1::text[]) as t (id)
   left join event_heads h on h.tenant_id = t.id
   union all
   select t.id, null, null, null, null, o.slot, o.position, o.id, o.type, o.data, o.created_at
   from unnest($1::text[]) as t (id)
   cross join lateral (
     select x.slot, x.position, x.id, x.type, x.data, x.created_at from event_outbox x
     where x.tenant_id = t.id order by x.position limit $2
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

const numberWith = (name: string, call: string) =>
  statement<{ given: number; queued: number }>(name, `select given, queued from ${call}($1, $2, $3, $4, $5, $6, $7)`, {
    writes: true,
    tries: 'one',
  })
/** number-chained.sql explains the functions. */
const numberStatement = numberWith('events-number', 'number_chained')
const numberSpreadStatement = numberWith('events-number-spread', 'number_spread')

/** Where the events are: TenantShards. If they are spread, the tenants of a call are of one shard. */
interface Place {
  isSpread: boolean
}

const inOnePlace: Place = { isSpread: false }

const hiddenTries = 10
const hiddenPauseMs = 50

/**
 * Numbers the tenants' events in the outbox, up to `maxEach` of each tenant; returns how many it numbered: at least
 * `maxEach` if there may be more.
 */
export async function numberEvents(db: Database, tenantIds: string[], maxEach: number, place = inOnePlace): Promise<number> {
  for (let tries = 0; ; tries++) {
    const { count, outcome } = await retryLocked(() => number(db, tenantIds, maxEach, place))
    if (outcome === 'hidden') {
      // Almost always for the milliseconds of a commit.
      if (tries === hiddenTries) return count
      await delay(hiddenPauseMs)
      continue
    }
    // Waits for the lock: among many processes that number one tenant, this one might lose again and again.
    if (outcome === 'overtaken') return db.transaction((tx) => numberInTransaction(tx, tenantIds, maxEach, place))
    if (outcome === 'done') return count
  }
}

/** The same in a transaction. If there is something to number, it keeps the heads locked until its end. */
export async function numberInTransaction(tx: Tx, tenantIds: string[], maxEach: number, place = inOnePlace): Promise<number> {
  for (;;) {
    const { count, outcome } = await number(tx, tenantIds, maxEach, place)
    if (outcome === 'done' || outcome === 'hidden') return count
    if (outcome === 'overtaken') await tx.query(lockStatement, [tenantIds])
  }
}

/** The same without waiting: skips tenants whose events another process is numbering. */
export async function numberFreeEvents(
  db: Db & Waking,
  tenantIds: string[],
  maxEach: number,
  place = inOnePlace,
): Promise<number> {
  return (await retryLocked(() => number(db, tenantIds, maxEach, place))).count
}

const lockStatement = statement<{ tenant_id: string }>(
  'events-lock-heads',
  'select tenant_id from event_heads where tenant_id = any ($1) order by tenant_id for no key update',
)

/** The events that are read at once, and hashed in one turn of the event loop. */
const maxEvents = 2_000

interface Numbered {
  /** At least `maxEach` if there may be more. */
  count: number
  /**
   * chaining: a chain was behind. overtaken: another process is numbering, or has since the read. hidden: the events
   * that were numbered last are not visible yet; the tenant was skipped.
   */
  outcome: 'done' | 'chaining' | 'overtaken' | 'hidden'
}

async function number(db: Db & Waking, tenantIds: string[], maxEach: number, place: Place): Promise<Numbered> {
  const limit = Math.max(1, Math.min(maxEach, Math.floor(maxEvents / tenantIds.length)))
  const all = headsOf(await db.query(readStatement, [tenantIds, limit]))
  const heads = place.isSpread ? await withShownEvents(db, all) : all
  const behind = heads.filter(isBehind)
  for (const head of behind) await chainNumbered(db, head)
  const ready = heads.filter((head) => !isBehind(head))
  const total = ready.reduce((sum, { waiting }) => sum + waiting.length, 0)
  const given = total > 0 ? await write(db, ready, place) : 0
  const mayBeMore = behind.length > 0 || ready.some(({ waiting }) => waiting.length === limit)
  const outcome = given < total ? 'overtaken' : behind.length > 0 ? 'chaining' : heads.length < all.length ? 'hidden' : 'done'
  return { count: mayBeMore ? Math.max(given, maxEach) : given, outcome }
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

function headsOf(rows: Row[]): Head[] {
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
      const last = last_sequence ?? 0
      // Before the first upgrade to a release with the chain: it begins with the next event.
      heads.set(tenantId, {
        tenantId,
        last,
        chain: { sequence: chain_sequence ?? last, hash },
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

/** The text that PostgreSQL reads as bytes. */
const bytea = (hash: string | null): string | null => hash && `\\x${hash}`

async function write(db: Db & Waking, heads: Head[], { isSpread }: Place): Promise<number> {
  const busy = heads.filter(({ waiting }) => waiting.length > 0)
  const events = busy.flatMap(({ waiting }) => waiting)
  const hashes = busy.flatMap(({ chain, waiting }) => chainFrom(chain, waiting)).map(({ hash }) => hash)
  const [row] = await db.query(isSpread ? numberSpreadStatement : numberStatement, [
    busy.map(({ tenantId }) => tenantId),
    busy.map(({ last }) => last),
    busy.map(({ chain }) => bytea(chain.hash)),
    events.map(({ slot }) => slot),
    events.map(({ position }) => position),
    busy.flatMap(({ waiting }, i) => waiting.map(() => i + 1)),
    bytea(hashes.join('')),
  ])
  // The workers deliver what was queued.
  if (row && row.queued > 0) db.wake(eventChannel)
  return row?.given ?? 0
}

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
