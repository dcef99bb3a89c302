import { setTimeout as delay } from 'node:timers/promises'
import { keepTrying } from '@atrium/traffic/keep-trying'
import { statement, type Db } from '#db/database.ts'
import { isPassing } from '#db/is-passing.ts'
import { forEach, of } from './store.ts'
import type { EndpointRef } from './webhook.ts'

// After the clock of the database was set back, the times of waiting deliveries are too late by the same amount.

const batchSize = 1_000
const retryMs = 1_000

const waitingStatements = forEach((t) =>
  statement<{ tenant_id: string; endpoint_id: string }>(
    `webhooks-waiting-${t.kind}`,
    `select distinct d.tenant_id, ${t.idOf('d')} as endpoint_id from ${t.deliveries} d
     where d.status = 'pending' and d.next_attempt_at > now()`,
  ),
)

interface LateRow {
  slot: number
  sequence: number
  next_attempt_at: string
  moved_to: string
}

const lateStatements = forEach((t) =>
  statement<LateRow>(
    `webhooks-late-${t.kind}`,
    `select d.slot, d.sequence, d.next_attempt_at, d.next_attempt_at - make_interval(secs => $5::float8) as moved_to
     from ${t.deliveries} d
     where d.tenant_id = $1 and ${t.idOf('d')} = $2 and d.status = 'pending' and d.next_attempt_at > now()
       and (d.next_attempt_at, d.sequence) > ($3::timestamptz, $4::bigint)
     order by d.next_attempt_at, d.sequence limit ${batchSize}`,
  ),
)

const moveStatements = forEach((t) =>
  statement<never>(
    `webhooks-move-${t.kind}`,
    // The times are parameters, because Citus rejects a stable function of a column here. A row whose time has changed
    // since it was read is not moved: the new clock wrote that time.
    `update ${t.deliveries} d set next_attempt_at = i.moved_to
     from unnest($3::smallint[], $4::bigint[], $5::timestamptz[], $6::timestamptz[]) as i (slot, sequence, was, moved_to)
     where d.tenant_id = $1 and ${t.idOf('d')} = $2 and d.slot = i.slot and d.sequence = i.sequence and d.status = 'pending'
       and d.next_attempt_at = i.was`,
  ),
)

const queuesStatement = statement<never>(
  'webhooks-queues-look-again',
  // On Citus: a worker then looks at each endpoint, and sets when its next delivery is due. A worker that read the
  // times before the move must not set this: it finds another count of resends (see settleQueue).
  'update webhook_queues set due_at = now(), resends = resends + 1 where due_at > now()',
)

/** What is left to move of an endpoint. */
interface Move {
  ref: EndpointRef
  /** The last row of the page before; undefined: every row was moved. */
  after: Pick<LateRow, 'next_attempt_at' | 'sequence'> | undefined
  /**
   * The page that was read last, until it is moved. It is not read again after a failure, because some of its rows may
   * have been moved. The statement skips them, because their time differs from that in the page.
   */
  page?: LateRow[] | undefined
}

/**
 * Moves the time of each delivery that waits by so many seconds, once. While the database or a node does not answer, it
 * tries again. The endpoints are listed from all nodes; after that, one whose node is down does not hold up the others.
 */
export async function moveDeliveries(db: Db, seconds: number, signal: AbortSignal): Promise<void> {
  let left: Move[] = []
  for (const statement of Object.values(waitingStatements))
    for (const row of await keepTrying(() => db.query(statement, []), { signal, isPassing }))
      // The cursor is the time before the move. A moved row comes before the cursor, so it is not moved again.
      left.push({
        ref: { tenantId: row.tenant_id, endpointId: row.endpoint_id },
        after: { next_attempt_at: '-infinity', sequence: 0 },
      })
  while (left.length > 0) {
    const tried = left.map((move) => ({ move, after: move.after }))
    left = await moveEach(db, left, seconds)
    // Not while the same endpoint fails again and again: the statement makes every endpoint due.
    if (tried.some(({ move, after }) => move.after !== after))
      await keepTrying(() => db.query(queuesStatement, []), { signal, isPassing })
    if (left.length > 0) await delay(retryMs, undefined, { signal })
  }
}

/** Returns those that are to be tried again. */
async function moveEach(db: Db, moves: Move[], seconds: number): Promise<Move[]> {
  const failed: Move[] = []
  for (const move of moves)
    await moveEndpoint(db, move, seconds).catch((error: unknown) => {
      if (!isPassing(error)) throw error
      failed.push(move)
    })
  return failed
}

async function moveEndpoint(db: Db, move: Move, seconds: number): Promise<void> {
  const { ref } = move
  const key = [ref.tenantId, ref.endpointId]
  while (move.after) {
    const { next_attempt_at: after, sequence } = move.after
    move.page ??= await db.query(of(lateStatements, ref), [...key, after, sequence, seconds])
    const { page } = move
    await db.query(of(moveStatements, ref), [
      ...key,
      page.map(({ slot }) => slot),
      page.map(({ sequence: one }) => one),
      page.map(({ next_attempt_at: was }) => was),
      page.map(({ moved_to: to }) => to),
    ])
    move.after = page.length === batchSize ? page.at(-1) : undefined
    move.page = undefined
  }
}
