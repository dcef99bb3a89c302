import { after, before, beforeEach, describe, test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { eventually } from '#testing/session-world.ts'
import { startWebhookWorld, type WebhookWorld } from '#testing/webhook-world.ts'
import { noteContact } from '#db/contact-store.ts'
import { moveDeliveries } from '../set-back-store.ts'
import { ShardGuard } from '#features/distribution/shard-guard.ts'
import { OutcomeWriter } from './outcome-writer.ts'

let world: WebhookWorld
before(async () => {
  world = await startWebhookWorld()
})
beforeEach(() => world.openTenant())
after(() => world.close())

describe('an endpoint', () => {
  test('that answers 410 is disabled at once, with an event, and receives nothing more', async (t) => {
    const server = await world.openHook(t, 410)
    await world.setHook(server)
    await world.cause(1)
    const told = await eventually(async () => (await world.pull()).find(({ type }) => type === 'webhook.disabled'), 'it is told')
    assert.equal(told.data['reason'], 'gone')
    const got = await world.call('GET', '/tenant/webhooks')
    assert.equal(got.body.data.enabled, false)
    await world.cause(2)
    await world.hurry()
    assert.equal((await world.deliveries()).length, 1, 'nothing is queued for it')
    assert.equal(server.hooks.length, 1)
    server.reply = 204
    await world.setHook(server)
    await world.hurry()
    assert.equal(
      (await world.arrived(server, 2))[1]!.event.type,
      'item.created',
      'what was left goes on once it is enabled again',
    )
  })

  test('that answers 410 is disabled also if another delivery of the same run succeeds after it', async (t) => {
    const server = await world.openHook(t)
    let answerFirst: (() => void) | undefined
    server.reply = (_hook, res) => {
      if (answerFirst) return void res.writeHead(410).end()
      answerFirst = () => res.writeHead(204).end()
    }
    await world.setHook(server)
    await world.causeMany(2)
    const gone = () => world.deliveries().then((all) => all.some(({ response_status: status }) => status === 410))
    await eventually(gone, 'the 410 is stored')
    answerFirst?.()
    await eventually(async () => (await world.deliveries()).some(({ status }) => status === 'succeeded'), 'the other is stored')
    await world.letGo()
    assert.equal((await world.call('GET', '/tenant/webhooks')).body.data.enabled, false)
  })

  test('that only failed for five days is disabled, and one with a single success is not', async (t) => {
    const server = await world.openHook(t, 500)
    await world.setHook(server)
    await world.cause(1)
    await world.arrived(server, 1)
    const failing = async () =>
      (await world.query(`select failing_since from webhooks where tenant_id = $1 and lease_owner is null`, [world.tenant.id]))
        .rows[0]?.failing_since
    await eventually(async () => (await failing()) !== null && (await failing()), 'it is noted that it fails')
    const setBack = () =>
      world.query(`update webhooks set failing_since = now() - interval '5 days 1 minute' where tenant_id = $1`, [
        world.tenant.id,
      ])
    await setBack()
    server.reply = 204
    await world.hurry()
    await eventually(async () => (await failing()) === null, 'a success ends it')
    server.reply = 500
    await world.cause(1)
    await eventually(async () => (await failing()) !== null && (await failing()), 'it fails again')
    assert.equal((await world.pull()).filter(({ type }) => type === 'webhook.disabled').length, 0)
    await setBack()
    await world.hurry()
    const told = await eventually(async () => (await world.pull()).find(({ type }) => type === 'webhook.disabled'), 'it is told')
    assert.equal(told.data['reason'], 'failing')
    assert.ok(Date.parse(told.data['failing_since'] as string) < Date.now() - 5 * 86_400_000)
  })

  test('that hangs, with a thousand pending events, delays no other endpoint, and receives few requests', async (t) => {
    const [hanging, good] = [await world.openHook(t, 'hang'), await world.openHook(t)]
    await world.setHook(hanging)
    await world.causeMany(1_000)
    await world.arrived(hanging, 1)
    const other = await world.api.makeTenant()
    await world.put({ url: good.url }, other)
    const startedAt = Date.now()
    await world.cause(5, other)
    await world.arrived(good, 5)
    // A request to the one that hangs takes 15 s.
    assert.ok(Date.now() - startedAt < 10_000)
    assert.ok(hanging.hooks.length <= 2, `${hanging.hooks.length} tries`)
    // Else the stop of the worker would wait for its requests.
    await world.put({ url: 'https://hooks.example.com/', enabled: false })
  })
})

describe('an endpoint that is set again while a request to it hangs', () => {
  /** A claim of first endpoints, on one PostgreSQL or on Citus. */
  const isClaim = (name: string) => /^webhooks-claim-(?:marked-)?default$/.test(name)

  async function replaceRunner(t: TestContext, beforeQuery: (name: string) => Promise<void>): Promise<void> {
    await world.runner.stop()
    await world.startRunner(beforeQuery)
    t.after(async () => {
      await world.runner.stop()
      await world.startRunner()
    })
  }

  test('starts without the failures of the old setting, and receives each event once', async (t) => {
    const [hanging, good] = [await world.openHook(t, 'hang'), await world.openHook(t)]
    let claims = 0
    await replaceRunner(t, async (name) => {
      if (isClaim(name)) claims++
      if (name !== 'webhooks-release-default' || hanging.hooks.length === 0 || good.hooks.length > 0) return
      // The run of the old setting takes so long to end that the worker looks for endpoints meanwhile.
      const atLeast = claims + 2
      await eventually(async () => claims >= atLeast, 'it has looked')
    })
    await world.setHook(hanging)
    await world.query('update webhooks set failures = 8 where tenant_id = $1', [world.tenant.id])
    await world.cause(1)
    await world.arrived(hanging, 1)
    await world.setHook(good)
    await eventually(async () => (await world.deliveries())[0]!.status === 'succeeded', 'it is written down')
    await world.letGo()
    const { rows } = await world.query(
      'select failures, coalesce(resume_at > now(), false) as pauses from webhooks where tenant_id = $1',
      [world.tenant.id],
    )
    assert.deepEqual(rows, [{ failures: 0, pauses: false }])
    assert.deepEqual([hanging.hooks.length, good.hooks.length], [1, 1])
  })

  test('is sent to at once, also if its worker looks for endpoints just then', async (t) => {
    const [hanging, good] = [await world.openHook(t, 'hang'), await world.openHook(t)]
    let isSetAgain = false
    await replaceRunner(t, async (name) => {
      if (!isClaim(name) || hanging.hooks.length === 0 || isSetAgain) return
      isSetAgain = true
      // The worker has found that it holds the endpoint's lease.
      await world.setHook(good)
    })
    await world.setHook(hanging)
    await world.cause(1)
    // Sooner than the request that hangs is given up.
    await eventually(async () => good.hooks.length === 1, 'it arrives', 10_000)
    await eventually(async () => (await world.deliveries())[0]!.status === 'succeeded', 'it is written down')
    assert.deepEqual([hanging.hooks.length, good.hooks.length], [1, 1])
  })
})

describe('a worker', () => {
  test('that died is replaced when its lease runs out, and its late writes do not count', async (t) => {
    const server = await world.openHook(t)
    await world.setHook(server, { enabled: false })
    const leased = (until: string) =>
      world.query(`update webhooks set enabled = true, lease_owner = 'dead', lease_until = $2 where tenant_id = $1`, [
        world.tenant.id,
        until,
      ])
    await leased('infinity')
    const [event] = await world.cause(1)
    const other = await world.api.makeTenant()
    const otherServer = await world.openHook(t)
    await world.put({ url: otherServer.url }, other)
    await world.cause(1, other)
    await world.arrived(otherServer, 1)
    assert.equal(server.hooks.length, 0, 'another one has the lease')
    await leased('now')
    await world.arrived(server, 1)
    const late = new OutcomeWriter(world.api.ctx.db, 'dead', new ShardGuard(world.api.ctx.tenantShards))
    await eventually(async () => (await world.deliveries())[0]!.status === 'succeeded', 'it is written down')
    const attempt = {
      attempts: 1,
      dueAt: new Date().toISOString(),
      succeeded: false,
      responseStatus: 500,
      error: 'late',
      ms: 1,
      answer: null,
      retryInMs: undefined,
    }
    const outcome = { tenantId: world.tenant.id, endpointId: 'default', sequence: event!.sequence, ...attempt }
    await late.add(outcome, AbortSignal.timeout(10_000))
    const [delivery] = await world.deliveries()
    assert.deepEqual([delivery!.status, delivery!.attempts, delivery!.error], ['succeeded', 1, null])
  })

  test('that died before the clock of the database was set back is replaced', async (t) => {
    const server = await world.openHook(t)
    await world.setHook(server, { enabled: false })
    await world.query(
      `update webhooks set enabled = true, lease_owner = 'dead', lease_until = now() + interval '1 hour' where tenant_id = $1`,
      [world.tenant.id],
    )
    await world.cause(1)
    await world.arrived(server, 1)
  })

  test('ends a pause of an endpoint that lies too far ahead because the clock of the database was set back', async (t) => {
    const server = await world.openHook(t)
    await world.setHook(server)
    await world.query(`update webhooks set failures = 6, resume_at = now() + interval '1 hour' where tenant_id = $1`, [
      world.tenant.id,
    ])
    await world.cause(1)
    await world.arrived(server, 1)
  })

  test('sends what waits by a clock of the database that was then set back', async (t) => {
    const server = await world.openHook(t, 500)
    await world.setHook(server)
    await world.cause(3)
    await eventually(async () => {
      const deliveries = await world.deliveries()
      return deliveries.filter(({ attempts }) => attempts > 0).length === 3
    }, 'each has failed')
    await world.letGo()
    // As after the clock was set back by an hour: a new delivery, one that was sent again after a day, and one that is
    // due half an hour later.
    const { rows } = await world.query<{ sequence: string }>(
      'select sequence from webhook_deliveries where tenant_id = $1 order by sequence',
      [world.tenant.id],
    )
    const states = [
      { minutes: 60, tries: 0, lastMinutes: 60 },
      { minutes: 60, tries: 0, lastMinutes: -1_440 },
      { minutes: 90, tries: 1, lastMinutes: 60 },
    ]
    for (const [i, { minutes, tries, lastMinutes }] of states.entries())
      await world.query(
        `update webhook_deliveries set next_attempt_at = now() + make_interval(mins => $3), tries = $4,
           last_attempt_at = now() + make_interval(mins => $5)
         where tenant_id = $1 and sequence = $2`,
        [world.tenant.id, rows[i]!.sequence, minutes, tries, lastMinutes],
      )
    await world.query('update webhooks set resume_at = null, failures = 0 where tenant_id = $1', [world.tenant.id])
    await world.query(
      `insert into database_contact (since, last_at) values (now(), now() + interval '1 hour')
       on conflict on constraint database_contact_pkey do update set last_at = excluded.last_at`,
    )
    server.reply = 204
    const { db } = world.api.ctx
    await moveDeliveries(db, (await noteContact(db)).setBackSeconds, AbortSignal.timeout(20_000))
    const left = () => world.deliveries().then((all) => all.filter((one) => one.status === 'pending'))
    await eventually(async () => (await left()).length === 1, 'what would be due has arrived')
    const [last] = await left()
    const waitMs = Date.parse(last!.next_attempt_at) - Date.now()
    assert.ok(waitMs > 29 * 60_000 && waitMs <= 30 * 60_000, `it waits ${waitMs} ms`)
    assert.equal((await noteContact(db)).setBackSeconds, 0, 'it is moved once')
    assert.equal((await left())[0]!.next_attempt_at, last!.next_attempt_at)
  })

  test('that stops releases its endpoints, and one that starts continues', async (t) => {
    const server = await world.openHook(t)
    await world.setHook(server)
    await world.cause(1)
    await world.arrived(server, 1)
    const startedAt = Date.now()
    await world.runner.stop()
    assert.ok(Date.now() - startedAt < 8_000)
    const { rowCount } = await world.query('select from webhooks where lease_owner is not null and lease_owner <> $1', ['dead'])
    assert.equal(rowCount, 0)
    await world.cause(2)
    await world.startRunner()
    await world.arrived(server, 3)
  })
})
