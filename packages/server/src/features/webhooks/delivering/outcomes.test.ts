import { after, before, beforeEach, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { OutcomeUnknown } from '@atrium/traffic/overloaded'
import type { Database } from '#db/database.ts'
import { ShardGuard } from '#features/distribution/shard-guard.ts'
import type { HookServer } from '#testing/hook-server.ts'
import { eventually } from '#testing/session-world.ts'
import { startWebhookWorld, type WebhookWorld } from '#testing/webhook-world.ts'
import { OutcomeWriter } from './outcome-writer.ts'

let world: WebhookWorld
before(async () => {
  world = await startWebhookWorld()
})
beforeEach(() => world.openTenant())
after(() => world.close())

/** Answers after `act`. */
const answerAfter = (act: () => Promise<unknown>): HookServer['reply'] => {
  return (_hook, res) => void act().then(() => res.writeHead(204).end())
}

describe('the outcome of an attempt', () => {
  for (const [what, lock] of [
    ['delivery', 'select from webhook_deliveries where tenant_id = $1 for update'],
    ['endpoint', 'select from webhooks where tenant_id = $1 for update'],
  ] as const)
    test(`waits while the row of the ${what} is locked for long, and the event is not sent again`, async (t) => {
      const locking = await world.api.ctx.db.pool.connect()
      t.after(() => locking.release(true))
      await locking.query(`set idle_in_transaction_session_timeout = 0`)
      await locking.query('begin')
      const server = await world.openHook(
        t,
        answerAfter(() => locking.query(lock, [world.tenant.id])),
      )
      await world.setHook(server)
      await world.cause(1)
      await world.arrived(server, 1)
      // Longer than a batch waits for a locked row, and than the lease of the endpoint.
      await delay(11_000)
      assert.equal((await world.deliveries())[0]!.status, 'pending')
      await locking.query('rollback')
      const [written] = await eventually(async () => {
        const list = await world.deliveries()
        return list[0]?.status === 'succeeded' && list
      }, 'it is written')
      assert.deepEqual([server.hooks.length, written!.attempts], [1, 1])
    })

  test('that the database rejects does not keep those of other tenants from being written', async (t) => {
    const server = await world.openHook(t)
    await world.setHook(server)
    const others = await Promise.all(Array.from({ length: 6 }, () => world.api.makeTenant()))
    for (const other of others) {
      await world.collectionOf(other)
      await world.put({ url: server.url }, other)
    }
    await world.query(
      `alter table webhook_deliveries add constraint broken check (tenant_id <> '${world.tenant.id}' or attempts = 0) not valid`,
    )
    t.after(() => world.query('alter table webhook_deliveries drop constraint broken'))
    let open: () => void = () => undefined
    const opened = new Promise<void>((resolve) => (open = resolve))
    server.reply = answerAfter(() => opened)
    await Promise.all([world.tenant, ...others].map((of) => world.cause(1, of)))
    await world.arrived(server, 7)
    // All outcomes at once, so that they share a batch.
    open()
    await eventually(async () => {
      const lists = await Promise.all(others.map((other) => world.deliveries(other)))
      return lists.flat().every(({ status }) => status === 'succeeded')
    }, 'the others are written')
    await world.letGo()
    assert.equal(server.hooks.length, 7)
    const { rowCount } = await world.query(
      `select from webhooks where tenant_id = $1 and resume_at > now() + interval '50 seconds'`,
      [world.tenant.id],
    )
    assert.equal(rowCount, 1, 'its endpoint receives it again after a pause')
  })

  test('is counted once, although the answer of the database was lost and it is written again', async (t) => {
    const server = await world.openHook(t)
    await world.setHook(server, { enabled: false })
    const owner = 'loses answers'
    await world.query(
      `update webhooks set enabled = true, lease_owner = $2, lease_until = now() + interval '1 hour' where tenant_id = $1`,
      [world.tenant.id, owner],
    )
    const [event] = await world.cause(1)
    const { db, tenantShards } = world.api.ctx
    let lost = 0
    const loseFirst = async <T>(work: Promise<T>): Promise<T> => {
      const result = await work
      if (lost++ === 0) throw new OutcomeUnknown(new Error('cut'))
      return result
    }
    const losing: Database = {
      ...db,
      query: (statement, values) => loseFirst(db.query(statement, values)),
      transactionOnce: (run) => loseFirst(db.transactionOnce(run)),
    }
    const writer = new OutcomeWriter(losing, owner, new ShardGuard(tenantShards))
    const attempt = { attempts: 0, succeeded: false, responseStatus: 500, error: 'no', ms: 1, answer: null, retryInMs: 3_600_000 }
    const outcome = { tenantId: world.tenant.id, endpointId: 'default', sequence: event!.sequence, ...attempt }
    await writer.add(outcome, AbortSignal.timeout(10_000))
    assert.equal(lost, 2)
    const [delivery] = await world.deliveries()
    assert.deepEqual([delivery!.status, delivery!.attempts], ['pending', 1])
  })
})
