import type { Database, Db } from '#db/database.ts'
import type { SpanOptions, Tracing } from './tracing.ts'

const options: SpanOptions = { kind: 'client', attributes: { 'db.system.name': 'postgresql' } }

/**
 * Makes each statement and each transaction of a request or a job a span. The names are those of the statements in the
 * source, and values are never recorded.
 */
export function traceDatabase(db: Database, tracing: Tracing): Database {
  const traceQueries = (inner: Db): Db => ({
    query: (statement, values) =>
      tracing.childSpan(
        statement.name,
        { kind: 'client', attributes: { ...options.attributes, 'db.query.summary': statement.name } },
        () => inner.query(statement, values),
      ),
  })
  const traceRuns =
    (transaction: Database['transaction']): Database['transaction'] =>
    (run) =>
      tracing.childSpan('transaction', options, () => transaction((tx) => run({ ...tx, ...traceQueries(tx) })))
  return {
    ...db,
    ...traceQueries(db),
    transaction: traceRuns((run) => db.transaction(run)),
    transactionOnce: traceRuns((run) => db.transactionOnce(run)),
    lane: (key) => ({ transaction: traceRuns((run) => db.lane(key).transaction(run)) }),
  }
}
