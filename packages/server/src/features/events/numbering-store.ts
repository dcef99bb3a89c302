import { setTimeout as delay } from 'node:timers/promises'
import { retryLocked } from '@atrium/traffic/locked-retry'
import { statement, type Database, type Db, type Tx, type Waking } from '#db/database.ts'
import { opensItem } from './event.ts'
import { bytea, inOnePlace, partsOf, readAfter, readBatch, type Batch, type Place } from './outbox-store.ts'
import { deliveriesOnly, eventChannel } from './store.ts'

// The hashes are computed in this process before the events are numbered: one event would take PostgreSQL a third of the
// time that numbering it takes. No lock is held meanwhile. chain_outbox numbers only if the head is still where it was
// read, so a process that is killed or stopped in between has changed nothing and delays nobody.

const numberWith = (name: string, call: string) =>
  statement<{ given: number; queued: number }>(name, `select given, queued from ${call}`, { writes: true, tries: 'one' })
/** chain-outbox.sql explains the functions. */
const numberStatement = numberWith('events-number', 'chain_outbox($1, $2, $3, $4, $5, $6, $7, $8)')
const numberSpreadStatement = numberWith('events-number-spread', 'number_spread($1, $2, $3, $4, $5, $6, $7)')

const hiddenTries = 10
const hiddenPauseMs = 50

/**
 * Numbers the tenants' events in the outbox, up to `maxEach` of each tenant; returns how many it numbered: at least
 * `maxEach` if there may be more. undefined: the events that were numbered last are still not visible.
 */
export async function numberEvents(
  db: Database,
  tenantIds: string[],
  maxEach: number,
  place = inOnePlace,
): Promise<number | undefined> {
  for (let tries = 0; ; tries++) {
    // Without floors: they may only be raised after the commit.
    const inTransaction = { isSpread: place.isSpread }
    const first = await retryLocked(() => number(db, tenantIds, maxEach, place))
    // Waits for the lock. Otherwise, where many processes number one tenant, this one could be overtaken every time.
    const { count, outcome } =
      first.outcome === 'overtaken' ? await db.transaction((tx) => numberLocked(tx, tenantIds, maxEach, inTransaction)) : first
    // Almost always for the milliseconds of a commit, also of the one that held the lock.
    if (outcome === 'hidden') {
      if (tries >= hiddenTries) return undefined
      await delay(hiddenPauseMs)
    } else if (outcome !== 'chaining') return count
  }
}

/** The same in a transaction. If there is something to number, it keeps the heads locked until its end. */
export async function numberInTransaction(tx: Tx, tenantIds: string[], maxEach: number, place = inOnePlace): Promise<number> {
  return (await numberLocked(tx, tenantIds, maxEach, place)).count
}

async function numberLocked(tx: Tx, tenantIds: string[], maxEach: number, place: Place): Promise<Numbered> {
  for (;;) {
    const numbered = await number(tx, tenantIds, maxEach, place)
    if (numbered.outcome === 'done' || numbered.outcome === 'hidden') return numbered
    if (numbered.outcome === 'overtaken') await tx.query(lockStatement, [tenantIds])
  }
}

/**
 * The same without waiting: skips tenants whose events another process is numbering. Of tenants that have more than
 * `maxEach` it numbers up to 8 times as many.
 */
export function numberFreeEvents(db: Database, tenantIds: string[], maxEach: number, place = inOnePlace): Promise<number> {
  return retryLocked(() => numberAhead(db, tenantIds, maxEach, place))
}

const maxBatches = 8

/**
 * Numbers several batches. It reads and hashes the next one while PostgreSQL numbers the current one, so that hashes take
 * hardly any time from a backlog. If the current batch is not numbered whole, the next one is not used.
 */
async function numberAhead(db: Database, tenantIds: string[], maxEach: number, place: Place): Promise<number> {
  let batch = await readBatch(db, tenantIds, maxEach, place)
  for (let count = 0, batches = 1; ; batches++) {
    // What was numbered last is not visible yet where events are spread.
    const isLast = place.isSpread || batches === maxBatches || batch.full.length === 0
    const [given, next] = await bothOf(write(db, batch, place), isLast ? undefined : readAfter(db, batch, maxEach, place))
    count += given
    raiseFloors(batch, given, place)
    if (!next || given < batch.total) return batch.mayBeMore ? Math.max(count, maxEach) : count
    batch = next
  }
}

/** Waits for both even if one fails, so that nothing is left running. */
async function bothOf<A, B>(one: Promise<A>, other: Promise<B> | undefined): Promise<[A, B | undefined]> {
  const [first, second] = await Promise.allSettled([one, other])
  if (first.status === 'rejected') throw first.reason
  if (second.status === 'rejected') throw second.reason
  return [first.value, second.value]
}

const lockStatement = statement<{ tenant_id: string }>(
  'events-lock-heads',
  'select tenant_id from event_heads where tenant_id = any ($1) order by tenant_id for no key update',
)

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
  const batch = await readBatch(db, tenantIds, maxEach, place)
  const given = await write(db, batch, place)
  raiseFloors(batch, given, place)
  const outcome = given < batch.total ? 'overtaken' : batch.left
  return { count: batch.mayBeMore ? Math.max(given, maxEach) : given, outcome }
}

function raiseFloors(batch: Batch, given: number, { floors }: Place): void {
  if (given === batch.total) floors?.raise(batch.snapshot, partsOf(batch))
}

/** Returns how many of the batch were numbered. */
async function write(db: Db & Waking, { heads, hashes, total }: Batch, { isSpread }: Place): Promise<number> {
  if (total === 0) return 0
  const events = heads.flatMap(({ waiting }) => waiting)
  const values = [
    heads.map(({ tenantId }) => tenantId),
    heads.map(({ last }) => last),
    heads.map(({ chain }) => bytea(chain.hash)),
    events.map(({ slot }) => slot),
    events.map(({ position }) => position),
    heads.flatMap(({ waiting }, i) => waiting.map(() => i + 1)),
    bytea(hashes.join('')),
  ]
  const [row] = await (isSpread
    ? db.query(numberSpreadStatement, values)
    : db.query(numberStatement, [...values, events.map(opensItem)]))
  // The workers deliver what was queued.
  if (row && row.queued > 0) db.wake(eventChannel, deliveriesOnly)
  return row?.given ?? 0
}
