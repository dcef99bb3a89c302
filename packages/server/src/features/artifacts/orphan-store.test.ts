import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestApi } from '#testing/test-api.ts'
import { claimSearch } from './orphan-store.ts'

test('the search for orphans waits for its time, but not for one by a clock of the database that was then set back', async (t) => {
  const api = await startTestApi()
  t.after(() => api.close())
  const { db } = api.ctx
  const isDue = async (due: string) => {
    await db.pool.query(`update blob_search set after_key = 'a key', due_at = ${due}`)
    return (await claimSearch(db)) === 'a key'
  }
  const due = ["now() - interval '1 second'", "now() + interval '50 minutes'", "now() + interval '1 day'"]
  assert.deepEqual([await isDue(due[0]!), await isDue(due[1]!), await isDue(due[2]!)], [true, false, true])
})
