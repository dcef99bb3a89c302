import { Locked } from '@atrium/traffic/batcher'
import { statement, type Database, type Tx } from '#db/database.ts'
import { commitInTwoPhases } from '../events/store.ts'
import { keptAttempts, type Outcome } from './delivery-store.ts'
import { forEach, of, pairsOf } from './store.ts'
import { keyOf, type LoggedAttempt } from './webhook.ts'

// As writeOutcomes, where deliveries are spread over the nodes of a Citus cluster and endpoints are not: a statement for
// each of the two, in one transaction. The tenants of a call are of one shard.

interface HeldRow {
  tenant_id: string
  endpoint_id: string
  is_free: boolean
  is_failing: boolean
  /** The time of the transaction. */
  at: string
}

const holdStatements = forEach((t) =>
  statement<HeldRow>(
    `webhooks-hold-for-outcomes-${t.kind}`,
    // skip locked: the outcomes of an endpoint whose row is locked are tried again, and all others are written.
    `with free as materialized (
       select w.tenant_id, ${t.idOf('w')} as endpoint_id, w.failing_since from ${t.endpoints} w
       where (w.tenant_id, ${t.idOf('w')}) in (select * from unnest($2::text[], $3::text[])) and w.lease_owner = $1
       order by w.tenant_id, endpoint_id
       for no key update skip locked
     )
     select w.tenant_id, ${t.idOf('w')} as endpoint_id, f.tenant_id is not null as is_free, f.failing_since is not null as is_failing,
       now() as at
     from ${t.endpoints} w
     left join free f on f.tenant_id = w.tenant_id and f.endpoint_id = ${t.idOf('w')}
     where (w.tenant_id, ${t.idOf('w')}) in (select * from unnest($2::text[], $3::text[])) and w.lease_owner = $1`,
  ),
)

const writeStatements = forEach((t) =>
  statement<{ ord: number }>(
    `webhooks-write-spread-attempts-${t.kind}`,
    // The conditions with arrays tell Citus that one shard is enough. Times and entries of the log are values, because it
    // refuses stable functions of columns.
    `with input as materialized (
       select * from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::integer[], $6::text[], $7::timestamptz[], $8::text[],
           $10::integer[], $11::timestamptz[])
         with ordinality as i (tenant_id, endpoint_id, sequence, status, response_status, error, next_attempt_at, entry, attempts, due_at, ord)
     ), rows as materialized (
       select d.slot, d.tenant_id, ${t.idOf('d')} as endpoint_id, d.sequence from ${t.deliveries} d
       where d.tenant_id = any ($1::text[])
         and (d.tenant_id, ${t.idOf('d')}, d.sequence, d.attempts) in (select i.tenant_id, i.endpoint_id, i.sequence, i.attempts from input i)
       for no key update skip locked
     )
     update ${t.deliveries} d
     set status = case when d.next_attempt_at <> i.due_at then d.status else i.status end,
       tries = case when d.next_attempt_at <> i.due_at then d.tries else d.tries + 1 end,
       next_attempt_at = case when d.next_attempt_at <> i.due_at then d.next_attempt_at else i.next_attempt_at end,
       attempts = d.attempts + 1, response_status = i.response_status, error = i.error, last_attempt_at = $9::timestamptz,
       attempt_log = case when jsonb_array_length(d.attempt_log) >= ${keptAttempts} then d.attempt_log - 0 else coalesce(d.attempt_log, '[]') end
         || i.entry::jsonb
     from input i
     join rows r on r.tenant_id = i.tenant_id and r.endpoint_id = i.endpoint_id and r.sequence = i.sequence
     where d.tenant_id = any ($1::text[]) and d.slot = r.slot and d.tenant_id = r.tenant_id and ${t.idOf('d')} = r.endpoint_id
       and d.sequence = r.sequence
     returning i.ord`,
  ),
)

function write(tx: Tx, outcomes: Outcome[], first: Outcome, at: string): Promise<{ ord: number }[]> {
  const entryOf = ({ responseStatus: status, ms, answer, error }: Outcome): LoggedAttempt => ({ at, status, ms, answer, error })
  const retryAt = (ms: number) => new Date(Date.parse(at) + ms).toISOString()
  return tx.query(of(writeStatements, first), [
    ...pairsOf(outcomes),
    outcomes.map(({ sequence }) => sequence),
    outcomes.map(({ succeeded, retryInMs }) => (succeeded ? 'succeeded' : retryInMs === undefined ? 'failed' : 'pending')),
    outcomes.map(({ responseStatus }) => responseStatus),
    outcomes.map(({ error }) => error),
    outcomes.map(({ succeeded, retryInMs }) => (succeeded || retryInMs === undefined ? null : retryAt(retryInMs))),
    outcomes.map((outcome) => JSON.stringify(entryOf(outcome))),
    at,
    outcomes.map(({ attempts }) => attempts),
    outcomes.map(({ dueAt }) => dueAt),
  ])
}

const findStatements = forEach((t) =>
  statement<{ ord: number }>(
    `webhooks-find-given-${t.kind}`,
    `select i.ord from unnest($1::text[], $2::text[], $3::bigint[], $4::integer[])
       with ordinality as i (tenant_id, endpoint_id, sequence, attempts, ord)
     join ${t.deliveries} d on d.tenant_id = i.tenant_id and ${t.idOf('d')} = i.endpoint_id and d.sequence = i.sequence
       and d.attempts = i.attempts
     where d.tenant_id = any ($1::text[])`,
  ),
)

const markStatements = forEach((t) =>
  statement<never>(
    `webhooks-mark-failing-${t.kind}`,
    `update ${t.endpoints} w set failing_since = case when n.any_succeeded then null else now() end
     from unnest($1::text[], $2::text[], $3::boolean[]) as n (tenant_id, endpoint_id, any_succeeded)
     where w.tenant_id = n.tenant_id and ${t.idOf('w')} = n.endpoint_id`,
  ),
)

export async function writeSpreadOutcomes(db: Database, owner: string, outcomes: Outcome[]): Promise<(void | Locked)[]> {
  const [first] = outcomes
  if (!first) return []
  const ends = await db.transactionOnce(async (tx) => {
    const rows = await tx.query(of(holdStatements, first), [owner, ...pairsOf(outcomes)])
    const held = new Map(rows.map((row) => [keyOf({ tenantId: row.tenant_id, endpointId: row.endpoint_id }), row]))
    const free = outcomes.filter((outcome) => held.get(keyOf(outcome))?.is_free)
    const { done, locked } = await writeFree(tx, free, rows[0]?.at ?? '')
    await markFailing(tx, done, held)
    const busy = outcomes.filter((outcome) => held.get(keyOf(outcome))?.is_free === false)
    return new Set([...locked, ...busy])
  })
  return outcomes.map((outcome) => (ends.has(outcome) ? new Locked(keyOf(outcome)) : undefined))
}

/** `locked`: another transaction holds the delivery's row. Outcomes that were written before are in neither list. */
async function writeFree(tx: Tx, outcomes: Outcome[], at: string): Promise<{ done: Outcome[]; locked: Outcome[] }> {
  const [first] = outcomes
  if (!first) return { done: [], locked: [] }
  const written = new Set((await write(tx, outcomes, first, at)).map(({ ord }) => ord))
  const done = outcomes.filter((_, i) => written.has(i + 1))
  if (done.length === outcomes.length) return { done, locked: [] }
  const left = outcomes.filter((_, i) => !written.has(i + 1))
  const values = [...pairsOf(left), left.map(({ sequence }) => sequence), left.map(({ attempts }) => attempts)]
  const found = await tx.query(of(findStatements, first), values)
  const stands = new Set(found.map(({ ord }) => ord))
  return { done, locked: left.filter((_, i) => stands.has(i + 1)) }
}

/** A success that is recorded ends failing_since even if this process dies, so both are committed or none. */
async function markFailing(tx: Tx, done: Outcome[], held: Map<string, HeldRow>): Promise<void> {
  const changed = [...Map.groupBy(done, keyOf)].flatMap(([key, [one, ...others]]) => {
    if (!one) return []
    const anySucceeded = [one, ...others].some(({ succeeded }) => succeeded)
    return anySucceeded === held.get(key)?.is_failing ? [{ ...one, anySucceeded }] : []
  })
  const [first] = changed
  if (!first) return
  await tx.query(of(markStatements, first), [...pairsOf(changed), changed.map(({ anySucceeded }) => anySucceeded)])
  await commitInTwoPhases(tx)
}
