import { Batcher, Locked } from '@atrium/traffic/batcher'
import { statement, type Db } from '#db/database.ts'
import type { Attempt } from '../send-event.ts'

/** What became of a try, on its way into the table. */
export interface Outcome extends Attempt {
  tenantId: string
  sequence: number
  /** undefined: it is not tried again. */
  retryInMs: number | undefined
}

/** The function is explained in migrations/0027-deliveries-that-do-not-wait.sql. */
const writeStatement = statement<{ outcome: 'written' | 'lost' | 'locked' }>(
  'webhooks-write-outcomes',
  'select outcome from try_write_outcomes($1, $2, $3, $4, $5, $6, $7)',
  { writes: true, tries: 'one' },
)

/** Writes down what became of tries; those that end while the last batch is written share the next one. */
export type OutcomeWriter = Batcher<Outcome, void>

export function openOutcomeWriter(db: Db, owner: string): OutcomeWriter {
  return new Batcher({
    maxSize: 256,
    concurrency: 1,
    keysOf: ({ tenantId }) => [tenantId],
    run: (outcomes) => writeOutcomes(db, owner, outcomes),
  })
}

async function writeOutcomes(db: Db, owner: string, outcomes: Outcome[]): Promise<(void | Locked)[]> {
  const rows = await db.query(writeStatement, [
    owner,
    outcomes.map(({ tenantId }) => tenantId),
    outcomes.map(({ sequence }) => sequence),
    outcomes.map(({ succeeded }) => succeeded),
    outcomes.map(({ responseStatus }) => responseStatus),
    outcomes.map(({ error }) => error),
    outcomes.map(({ retryInMs }) => retryInMs ?? null),
  ])
  return rows.map(({ outcome }, i) => (outcome === 'locked' ? new Locked(outcomes[i]!.tenantId) : undefined))
}
