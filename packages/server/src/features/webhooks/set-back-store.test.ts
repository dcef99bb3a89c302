import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Db } from '#db/database.ts'
import { eventually } from '#testing/session-world.ts'
import { startWebhookWorld } from '#testing/webhook-world.ts'
import { moveDeliveries } from './set-back-store.ts'

test('each delivery that waits is moved once, also where the database fails in between', async (t) => {
  const world = await startWebhookWorld()
  t.after(() => world.close())
  await world.openTenant()
  const server = await world.openHook(t, 500)
  await world.setHook(server)
  const more = await world.call('POST', '/tenant/webhooks/endpoints', { url: server.url })
  assert.equal(more.status, 201, more.text)
  await world.cause(2)
  await eventually(async () => server.hooks.length >= 4, 'each endpoint has failed')
  await world.runner.stop()
  const tables = ['webhook_deliveries', 'webhook_endpoint_deliveries']
  for (const table of tables)
    await world.query(`update ${table} set next_attempt_at = now() + interval '2 hours' where tenant_id = $1`, [world.tenant.id])

  const { db } = world.api.ctx
  const broken = () => Object.assign(new Error('the connection was closed'), { code: '57P01' })
  const mishaps = new Map([
    ['webhooks-waiting-further', 'before'],
    ['webhooks-late-default', 'before'],
    ['webhooks-move-default', 'after'],
    ['webhooks-move-further', 'before'],
    ['webhooks-queues-look-again', 'before'],
  ])
  let looks = 0
  const failing: Db = {
    query: async (statement, values) => {
      if (statement.name === 'webhooks-queues-look-again') looks++
      const mishap = mishaps.get(statement.name)
      mishaps.delete(statement.name)
      if (mishap === 'before') throw broken()
      const rows = await db.query(statement, values)
      if (mishap === 'after') throw broken()
      return rows
    },
  }
  await moveDeliveries(failing, 3_600, AbortSignal.timeout(20_000))
  assert.deepEqual([...mishaps], [], 'each statement has failed once')
  assert.equal(looks, 3, 'once for each endpoint that was moved, and again after the failure')
  for (const table of tables) {
    const { rows } = await world.query<{ minutes: number }>(
      `select round(extract(epoch from next_attempt_at - now()) / 60)::int as minutes from ${table}
       where tenant_id = $1 and status = 'pending'`,
      [world.tenant.id],
    )
    assert.deepEqual(rows, [{ minutes: 60 }, { minutes: 60 }], table)
  }
})
