import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { passesOnce } from '../../packages/server/testing/busy-machine.ts'
import { createTestDatabase } from '../../packages/server/testing/test-database.ts'
import { startAtrium } from '../support/atrium-process.ts'
import { childWith } from '../support/process-memory.ts'
import { queryDatabase } from '../support/query-database.ts'

/** The work of the start is done by then: keys, first entries of the log, statistics. */
const settleMs = 10_000
/** The sweeps that run once a minute all run in the same seconds, so at most two of the tries include them. */
const measuredSeconds = 10
const tries = 4
/** 16 per second were measured, and up to 28 with the sweeps that run once a minute. */
const maxPerSecond = 24
/** 45 per second were measured, and 180 while each process sampled the delay of its event loop at rest too. */
const maxWakeUpsPerSecond = 110

/** A statement outside of a transaction counts as one. PostgreSQL counts with up to a second of delay. */
async function transactionsOf(url: string): Promise<number> {
  const [row] = await queryDatabase<{ count: string }>(
    url,
    'select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()',
  )
  return Number(row?.count)
}

/** How often the threads of the processes have begun to run. */
async function wakeUpsOf(pids: number[]): Promise<number> {
  let sum = 0
  for (const pid of pids) {
    for (const thread of await readdir(`/proc/${pid}/task`)) {
      const status = await readFile(`/proc/${pid}/task/${thread}/status`, 'utf8')
      sum += Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1])
    }
  }
  return sum
}

test('with nothing to do, API, job worker and Space seldom wake, and seldom ask the database', async (t) => {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  const atrium = await startAtrium({ databaseUrl: database.url, space: true })
  t.after(() => atrium.end())
  await delay(settleMs)
  const pids = [atrium.pid, await childWith(atrium.pid, 'job-worker-main'), await childWith(atrium.pid, 'space.mjs')]
  // On a busy machine, the work of the start takes longer. That of a fault does not end.
  await passesOnce(async () => {
    const startedAt = performance.now()
    const [before, wakeUpsBefore] = [await transactionsOf(database.url), await wakeUpsOf(pids)]
    await delay(measuredSeconds * 1_000)
    const [transactions, wakeUps] = [(await transactionsOf(database.url)) - before, (await wakeUpsOf(pids)) - wakeUpsBefore]
    const seconds = (performance.now() - startedAt) / 1_000
    const [perSecond, wakeUpsPerSecond] = [transactions / seconds, wakeUps / seconds]
    t.diagnostic(`${perSecond.toFixed(1)} transactions and ${wakeUpsPerSecond.toFixed(1)} wake-ups per second`)
    assert.ok(perSecond > 1, 'periodic tasks run')
    assert.ok(perSecond < maxPerSecond, `${perSecond} transactions per second`)
    assert.ok(wakeUpsPerSecond < maxWakeUpsPerSecond, `${wakeUpsPerSecond} wake-ups per second`)
  }, tries)
})
