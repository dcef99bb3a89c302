import assert from 'node:assert/strict'
import { after, before, beforeEach, test, type TestContext } from 'node:test'
import { assertError } from '#testing/http.ts'
import { untilBlocked } from '#testing/until-blocked.ts'
import { startWebhookWorld, type WebhookWorld } from '#testing/webhook-world.ts'

let world: WebhookWorld
before(async () => {
  world = await startWebhookWorld()
  // Nothing is sent, so that what is queued again stays so.
  await world.runner.stop()
})
beforeEach(() => world.openTenant())
after(() => world.close())

/** On Citus, who waits for a lock is seen on the node of the row only. */
const skipOnCitus = { skip: process.env['ATRIUM_TEST_CITUS_URL'] !== undefined && 'the test looks for the wait in one database' }

const since = new Date(Date.now() - 3_600_000).toISOString()

/** An endpoint with failed deliveries: first of events from before `since`, then of later ones. */
async function addFailed(t: TestContext, { old, late }: { old: number; late: number }): Promise<string> {
  const server = await world.openHook(t)
  const { id } = (await world.call('POST', '/tenant/webhooks/endpoints', { url: server.url })).body.data
  const own = [world.tenant.id, old + late]
  await world.query(
    `insert into events (tenant_id, sequence, id, type, data, created_at)
     select $1, 1000 + n, 'evt_' || lpad(n::text, 22, 'o'), 'item.deleted', '{}', now() - case when n <= $3 then interval '2 hours' else '0' end
     from generate_series(1, $2::integer) n`,
    [...own, old],
  )
  await world.query(
    `insert into webhook_endpoint_deliveries (tenant_id, endpoint_id, sequence, id, status, tries)
     select $1, $3, 1000 + n, 'evt_' || lpad(n::text, 22, 'o'), 'failed', 10 from generate_series(1, $2::integer) n`,
    [...own, id],
  )
  return id
}

const recover = (id: string, more: object = {}) =>
  world.call('POST', `/tenant/webhooks/endpoints/${id}/recover`, { since, ...more })

/** From now on, each transaction seems to take this long, however slow the machine is. */
function slowTransactions(t: TestContext, ms: number): void {
  const { db } = world.api.ctx
  const [now, transaction] = [performance.now.bind(performance), db.transaction.bind(db)]
  let aheadMs = 0
  t.mock.method(performance, 'now', () => now() + aheadMs)
  t.mock.method(db, 'transaction', async (...args: Parameters<typeof transaction>) => {
    const begunMs = now()
    const result = await transaction(...args)
    aheadMs += ms - (now() - begunMs)
    return result
  })
}

const stillFailed = async () =>
  Number(
    (
      await world.query(`select count(*) from webhook_endpoint_deliveries where tenant_id = $1 and status = 'failed'`, [
        world.tenant.id,
      ])
    ).rows[0]!['count'],
  )

test('very many failed deliveries are queued again by several calls, each of some seconds', async (t) => {
  const id = await addFailed(t, { old: 3_500, late: 3_000 })
  slowTransactions(t, 2_000)
  const counts: number[] = []
  for (let cursor: string | undefined, calls = 0; calls === 0 || cursor !== undefined; calls++) {
    assert.ok(calls < 10)
    const { status, body, text } = await recover(id, cursor === undefined ? {} : { cursor })
    assert.equal(status, 200, text)
    counts.push(body.data.queued)
    cursor = body.data.next_cursor
  }
  // Three batches of a thousand a call, and the first ones are of older events.
  assert.deepEqual(counts, [0, 2_500, 500])
  assert.equal(await stillFailed(), 3_500)
  assert.deepEqual((await recover(id)).body.data.queued, 0)
})

test('a call whose answer was lost is repeated, and nothing is left out or queued twice', async (t) => {
  const id = await addFailed(t, { old: 0, late: 5_000 })
  slowTransactions(t, 2_000)
  assert.equal((await recover(id)).body.data.queued, 3_000)
  const again = (await recover(id)).body.data
  assert.deepEqual(again, { queued: 2_000 })
  assert.equal(await stillFailed(), 0)
})

test('one whose outcome is being written is queued again too, if it fails', skipOnCitus, async (t) => {
  const id = await addFailed(t, { old: 0, late: 2 })
  const { pool } = world.api.ctx.db
  const ofFirst = 'where tenant_id = $1 and sequence = 1001'
  const waits = `update webhook_endpoint_deliveries set status = 'pending', tries = 9, next_attempt_at = now() ${ofFirst}`
  await pool.query(waits, [world.tenant.id])
  const writing = await pool.connect()
  t.after(() => writing.release(true))
  await writing.query('begin')
  const fails = `update webhook_endpoint_deliveries set status = 'failed', tries = 10, next_attempt_at = null ${ofFirst}`
  await writing.query(fails, [world.tenant.id])
  const recovered = recover(id, { pending: true })
  await untilBlocked(pool)
  await writing.query('commit')
  assert.deepEqual((await recovered).body.data, { queued: 2 })
  assert.equal(await stillFailed(), 0)
})

test('a cursor is good for its own endpoint, time and choice only', async (t) => {
  const id = await addFailed(t, { old: 0, late: 5_000 })
  slowTransactions(t, 2_000)
  const { next_cursor: cursor } = (await recover(id)).body.data
  const server = await world.openHook(t)
  const other = (await world.call('POST', '/tenant/webhooks/endpoints', { url: server.url })).body.data.id
  assertError(await recover(other, { cursor }), 400, 'invalid_cursor')
  assertError(await recover(id, { cursor, pending: true }), 400, 'invalid_cursor')
  assertError(await recover(id, { cursor, since: '2026-11-20T09:00:00.000Z' }), 400, 'invalid_cursor')
  assert.deepEqual((await recover(id, { cursor })).body.data, { queued: 2_000 })
})
