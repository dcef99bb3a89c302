import { after, before, beforeEach, describe, test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { OutcomeUnknown } from '@atrium/traffic/overloaded'
import type { Database } from '#db/database.ts'
import { ShardGuard } from '#features/distribution/shard-guard.ts'
import { medianOf } from '#testing/busy-machine.ts'
import type { HookServer } from '#testing/hook-server.ts'
import { eventually } from '#testing/session-world.ts'
import type { TestTenant } from '#testing/test-api.ts'
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

/** These break the database with a trigger. */
const skipOnCitus = {
  skip:
    process.env['ATRIUM_TEST_CITUS_URL'] !== undefined &&
    'Citus has no triggers on distributed tables; run it without ATRIUM_TEST_CITUS',
}

describe('the outcome of an attempt', () => {
  test('waits while the row of the delivery or of the endpoint is locked for long, and the event is not sent again', async (t) => {
    const waitsFor = async (lock: string) => {
      const of = await world.api.makeTenant()
      const locking = await world.api.ctx.db.pool.connect()
      t.after(() => locking.release(true))
      await locking.query(`set idle_in_transaction_session_timeout = 0`)
      await locking.query('begin')
      const server = await world.openHook(
        t,
        answerAfter(() => locking.query(lock, [of.id])),
      )
      await world.collectionOf(of)
      await world.put({ url: server.url }, of)
      await world.cause(1, of)
      await world.arrived(server, 1)
      // Longer than a batch waits for a locked row, and than the lease of the endpoint.
      await delay(11_000)
      assert.equal((await world.deliveries(of))[0]!.status, 'pending')
      await locking.query('rollback')
      const [written] = await eventually(async () => {
        const list = await world.deliveries(of)
        return list[0]?.status === 'succeeded' && list
      }, 'it is written')
      assert.deepEqual([server.hooks.length, written!.attempts], [1, 1])
    }
    await Promise.all([
      waitsFor('select from webhook_deliveries where tenant_id = $1 for update'),
      waitsFor('select from webhooks where tenant_id = $1 for update'),
    ])
  })

  /** Six tenants beside the tenant of the test, all with an endpoint at the server. */
  async function othersAt(server: HookServer) {
    await world.setHook(server)
    const others = await Promise.all(Array.from({ length: 6 }, () => world.api.makeTenant()))
    for (const other of others) {
      await world.collectionOf(other)
      await world.put({ url: server.url }, other)
    }
    return others
  }

  /** Sends an event to each tenant, and answers all at once, so that the outcomes share a batch. */
  async function answerTogether(server: HookServer, others: TestTenant[]): Promise<void> {
    let open: () => void = () => undefined
    const opened = new Promise<void>((resolve) => (open = resolve))
    server.reply = answerAfter(() => opened)
    await Promise.all([world.tenant, ...others].map((of) => world.cause(1, of)))
    await world.arrived(server, 7)
    open()
  }

  const untilWritten = (others: TestTenant[]) =>
    eventually(async () => {
      const lists = await Promise.all(others.map((other) => world.deliveries(other)))
      return lists.flat().every(({ status }) => status === 'succeeded')
    }, 'the others are written')

  // A value that is refused, as by a constraint, and a row that cannot be read, as one whose page is damaged.
  for (const code of ['23514', 'XX001'])
    test(
      `that the database rejects (${code}) does not keep those of other tenants from being written`,
      skipOnCitus,
      async (t) => {
        const server = await world.openHook(t)
        const others = await othersAt(server)
        await breakOutcomes(t, `raise exception 'broken' using errcode = '${code}'`)
        await answerTogether(server, others)
        await untilWritten(others)
        await world.letGo()
        assert.equal(server.hooks.length, 7)
        const { rowCount } = await world.query(
          `select from webhooks where tenant_id = $1 and resume_at > now() + interval '50 seconds'`,
          [world.tenant.id],
        )
        assert.equal(rowCount, 1, 'its endpoint receives it again after a pause')
      },
    )

  /** The statement runs before a delivery of the tenant is changed, until `mend` is called or the test ends. */
  async function breakOutcomes(t: TestContext, statement: string): Promise<{ mend: () => Promise<unknown> }> {
    const define = (body: string) =>
      world.query(
        `create or replace function break_outcome() returns trigger language plpgsql as $$ begin ${body}; return new; end $$`,
      )
    const mend = () => define('null')
    await define(statement)
    await world.query(
      `create trigger broken before update on webhook_deliveries for each row
         when (new.tenant_id = '${world.tenant.id}') execute function break_outcome()`,
    )
    t.after(async () => {
      await mend()
      // A statement that still runs has locked the table.
      const drop = () => world.query('drop trigger broken on webhook_deliveries').catch(() => false)
      await eventually(drop, 'the trigger is dropped')
    })
    return { mend }
  }

  test(
    'that takes longer than a statement may delays those of other tenants once, and not those that come later',
    skipOnCitus,
    async (t) => {
      const server = await world.openHook(t)
      const others = await othersAt(server)
      const { mend } = await breakOutcomes(t, 'perform pg_sleep(30)')
      await answerTogether(server, others)
      await untilWritten(others)
      server.reply = 204
      const tookMs: number[] = []
      for (let n = 0; n < 5; n++) {
        const startedAt = Date.now()
        await Promise.all(others.map((other) => world.cause(1, other)))
        await world.arrived(server, 13 + 6 * n)
        await untilWritten(others)
        tookMs.push(Date.now() - startedAt)
      }
      // A statement that takes too long ends after five seconds. A busy machine delays some of the five, and not most.
      assert.ok(medianOf(tookMs) < 3_000, tookMs.join())
      await mend()
      await untilWritten([world.tenant])
      assert.equal(server.hooks.length, 37, 'none is sent twice')
    },
  )

  test('is counted once, although the answer of the database was lost and it is written again', async (t) => {
    const server = await world.openHook(t)
    await world.setHook(server, { enabled: false })
    const owner = 'loses answers'
    await world.query(`update webhooks set enabled = true, lease_owner = $2, lease_until = 'infinity' where tenant_id = $1`, [
      world.tenant.id,
      owner,
    ])
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
    const dueAt = (await world.deliveries())[0]!.next_attempt_at
    const failed = { succeeded: false, responseStatus: 500, error: 'no', ms: 1, answer: null, retryInMs: 3_600_000 }
    const attempt = { attempts: 0, dueAt, ...failed }
    const outcome = { tenantId: world.tenant.id, endpointId: 'default', sequence: event!.sequence, ...attempt }
    await writer.add(outcome, AbortSignal.timeout(10_000))
    assert.equal(lost, 2)
    const [delivery] = await world.deliveries()
    assert.deepEqual([delivery!.status, delivery!.attempts], ['pending', 1])
  })
})
