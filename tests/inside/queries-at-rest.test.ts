import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createTestDatabase } from '../../packages/server/testing/test-database.ts'
import { startAtrium } from '../support/atrium-process.ts'
import { queryDatabase } from '../support/query-database.ts'

/** The work of the start is done by then: keys, first entries of the log, statistics. */
const settleMs = 10_000
const measuredSeconds = 20
/** 15 per second were measured. The sweeps that run once a minute add a few. */
const maxPerSecond = 24

/** A statement outside of a transaction counts as one. PostgreSQL counts with up to a second of delay. */
async function transactionsOf(url: string): Promise<number> {
  const [row] = await queryDatabase<{ count: string }>(
    url,
    'select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()',
  )
  return Number(row?.count)
}

test('with nothing to do, API, job worker and Space seldom ask the database', async (t) => {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  const atrium = await startAtrium({ databaseUrl: database.url, space: true })
  t.after(() => atrium.end())
  await delay(settleMs)
  const before = await transactionsOf(database.url)
  await delay(measuredSeconds * 1_000)
  const perSecond = ((await transactionsOf(database.url)) - before) / measuredSeconds
  t.diagnostic(`${perSecond.toFixed(1)} transactions per second`)
  assert.ok(perSecond > 1, 'periodic tasks run')
  assert.ok(perSecond < maxPerSecond, `${perSecond} transactions per second`)
})
