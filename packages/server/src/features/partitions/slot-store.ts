import { statement, type Db, type Statement, type Tx } from '#db/database.ts'

/** Tables whose partitions are slots: partition N has the rows with slot N, and the sequence TABLE_slot the open slot. */
export type SlottedTable =
  | 'event_outbox'
  | 'webhook_deliveries'
  | 'webhook_endpoint_deliveries'
  | 'request_log'
  | 'request_log_chunks'

interface SlotStatements {
  missing: Statement<{ slot: number }>
  insert: Statement<never>
  refresh: Statement<never>
  turn: Statement<{ slot: number }>
  slots: SlotPartition[]
}

interface SlotPartition {
  any: Statement<{ any: true }>
  lock: Statement<never>
  truncate: Statement<never>
}

/** With rows that must not be removed: the slot is emptied only when it has none. */
const isQueue: Record<SlottedTable, boolean> = {
  event_outbox: true,
  webhook_deliveries: false,
  webhook_endpoint_deliveries: false,
  request_log: false,
  request_log_chunks: false,
}

function statementsFor(table: SlottedTable, count: number): SlotStatements {
  const open = `coalesce(pg_sequence_last_value('${table}_slot'), 0)`
  const ofSlot = (name: string, slot: number, text: string) => statement<never>(`slots-${name}-${table}-${slot}`, text)
  return {
    missing: statement<{ slot: number }>(
      `slots-missing-${table}`,
      `select s::smallint as slot from generate_series(0, ${count - 1}) s
       where not exists (select from partition_slots p where p.name = '${table}' and p.slot = s)`,
    ),
    insert: statement<never>(
      `slots-insert-${table}`,
      `insert into partition_slots (name, slot, opened_at) select '${table}', $1, case when $2::boolean then now() end
       on conflict do nothing`,
    ),
    // The sequence decides which slot is open: it keeps its value when a transaction that turned it is rolled back.
    // Times in the future come from a clock that was set back. They count from now on.
    refresh: statement<never>(
      `slots-refresh-${table}`,
      `update partition_slots p set opened_at = n.opened_at, closed_at = n.closed_at
       from (
         select slot,
           case when opened_at > now() or (slot = ${open} and (opened_at is null or closed_at is not null)) then now() else opened_at end as opened_at,
           case when slot <> ${open} and opened_at is not null then least(coalesce(closed_at, now()), now()) end as closed_at
         from partition_slots where name = '${table}'
         order by slot for update
       ) n
       where p.name = '${table}' and p.slot = n.slot and (p.opened_at, p.closed_at) is distinct from (n.opened_at, n.closed_at)`,
    ),
    turn: statement<{ slot: number }>(
      `slots-turn-${table}`,
      `with due as (
         select o.slot as closing, n.slot as opening
         from partition_slots o
         join partition_slots n on n.name = o.name and n.slot = (o.slot + 1) % ${count}
         where o.name = '${table}' and o.slot = ${open} and o.opened_at <= now() - make_interval(secs => $1) and n.opened_at is null
         for update
       ), closed as (
         update partition_slots p set closed_at = now() from due d where p.name = '${table}' and p.slot = d.closing
       ), opened as (
         update partition_slots p set opened_at = now() from due d where p.name = '${table}' and p.slot = d.opening
       )
       select setval('${table}_slot', opening)::smallint as slot from due`,
    ),
    slots: Array.from({ length: count }, (_, slot) => ({
      // Not exists(): Citus would fetch every row to answer it.
      any: statement<{ any: true }>(`slots-any-${table}-${slot}`, `select true as any from ${table}_${slot} limit 1`),
      lock: ofSlot('lock', slot, `lock table ${table}_${slot} in access exclusive mode`),
      truncate: ofSlot('truncate', slot, `truncate ${table}_${slot}`),
    })),
  }
}

/** The counts are those of the migrations. */
const statements: Record<SlottedTable, SlotStatements> = {
  event_outbox: statementsFor('event_outbox', 3),
  webhook_deliveries: statementsFor('webhook_deliveries', 5),
  webhook_endpoint_deliveries: statementsFor('webhook_endpoint_deliveries', 5),
  request_log: statementsFor('request_log', 5),
  request_log_chunks: statementsFor('request_log_chunks', 5),
}

/** Corrects what is known of the slots: a new database, a restore, a turn that was not committed, a clock set back. */
export async function refreshSlots(tx: Tx, table: SlottedTable): Promise<void> {
  const { missing, insert, refresh } = statements[table]
  // After a restore, partition_slots is empty, and the slots are not. Their time then begins again.
  for (const { slot } of await tx.query(missing, [])) await tx.query(insert, [slot, await hasRows(tx, table, slot)])
  await tx.query(refresh, [])
}

async function hasRows(tx: Tx, table: SlottedTable, slot: number): Promise<boolean> {
  const { any } = partitionOf(table, slot)
  return (await tx.query(any, [])).length > 0
}

function partitionOf(table: SlottedTable, slot: number): SlotPartition {
  const one = statements[table].slots[slot]
  if (!one) throw new Error(`${table} has no slot ${slot}`)
  return one
}

const isExpired = 'closed_at <= now() - make_interval(secs => $2)'

const expiredStatement = statement<{ slot: number }>(
  'slots-expired',
  `select slot from partition_slots where name = $1 and ${isExpired} order by closed_at`,
)

/** The slots that have been closed for that long, the oldest first. */
export async function listExpired(db: Db, table: SlottedTable, seconds: number): Promise<number[]> {
  return (await db.query(expiredStatement, [table, seconds])).map(({ slot }) => slot)
}

/** Turns to the next slot if the open one has been open for that long and the next one is empty. */
export async function openNextSlot(tx: Tx, table: SlottedTable, openSeconds: number): Promise<void> {
  await tx.query(statements[table].turn, [openSeconds])
}

const shortWaitStatement = statement<never>('slots-short-wait', `select set_config('lock_timeout', '100ms', true)`, {
  writes: true,
})

const holdExpiredStatement = statement<{ slot: number }>(
  'slots-hold-expired',
  `select slot from partition_slots where name = $1 and ${isExpired} and slot = $3 for update`,
)

const emptiedStatement = statement<never>(
  'slots-emptied',
  'update partition_slots set opened_at = null, closed_at = null where name = $1 and slot = $2',
)

/**
 * Removes the rows of a slot that has been closed for that long, and gives their disk space back. A slot of a queue is
 * left if it has a row.
 */
export async function emptySlot(tx: Tx, table: SlottedTable, slot: number, seconds: number): Promise<void> {
  const { lock, truncate } = partitionOf(table, slot)
  const mustStay = async () => isQueue[table] && (await hasRows(tx, table, slot))
  // Looked at before the lock, which would make writers wait, and again under it.
  if (await mustStay()) return
  await tx.query(shortWaitStatement, [])
  await tx.query(lock, [])
  // Since it was listed, another sweep may have emptied it, and opened it.
  if ((await tx.query(holdExpiredStatement, [table, seconds, slot])).length === 0) return
  if (await mustStay()) return
  await tx.query(truncate, [])
  await tx.query(emptiedStatement, [table, slot])
}
