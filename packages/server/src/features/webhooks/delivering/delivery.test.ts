import { after, before, beforeEach, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { eventually } from '#testing/session-world.ts'
import { startWebhookWorld, verifies, type WebhookWorld } from '#testing/webhook-world.ts'

let world: WebhookWorld
before(async () => {
  world = await startWebhookWorld()
})
beforeEach(() => world.openTenant())
after(() => world.close())

describe('a delivery', () => {
  test('carries the event as the pull shows it, signed so that both official packages verify it', async (t) => {
    const server = await world.openHook(t)
    const secret = await world.setHook(server)
    const events = await world.cause(3)
    const hooks = await world.arrived(server, 3)
    for (const hook of hooks) {
      assert.ok(verifies(secret, hook))
      assert.ok(!verifies(secret, { ...hook, text: hook.text.replace('item.created', 'item.updated') }))
      assert.ok(!verifies(secret, { ...hook, headers: { ...hook.headers, 'webhook-id': 'evt_other' } }))
      assert.deepEqual(
        hook.event,
        events.find(({ id }) => id === hook.headers['webhook-id']),
      )
      assert.equal(hook.headers['content-type'], 'application/json')
    }
    const list = await eventually(async () => {
      const all = await world.deliveries()
      return all.every(({ status }) => status === 'succeeded') && all
    }, 'they are listed as succeeded')
    assert.deepEqual(
      list.map(({ id }) => id),
      events.map(({ id }) => id).toReversed(),
      'the newest first',
    )
    const { created_at: _c, last_attempt_at: lastAt, ...shown } = list[0]!
    assert.ok(Date.parse(lastAt) > Date.now() - 60_000)
    assert.deepEqual(shown, {
      id: events[2]!.id,
      endpoint: 'default',
      type: 'item.created',
      status: 'succeeded',
      attempts: 1,
      response_status: 204,
      error: null,
      next_attempt_at: null,
    })
  })

  test('carries only the requested types, from the setting on', async (t) => {
    await world.cause(2)
    const server = await world.openHook(t)
    await world.setHook(server, { events: ['key.created'] })
    await world.cause(2)
    await world.call('POST', '/tenant/keys', { kind: 'publishable' })
    const [hook] = await world.arrived(server, 1)
    assert.equal(hook!.event.type, 'key.created')
    assert.equal((await world.deliveries()).length, 1)
  })

  test('follows the sequence, except where concurrency and a slow connection reorder it', async (t) => {
    const server = await world.openHook(t)
    await world.setHook(server)
    await world.causeMany(400)
    const order = (await world.arrived(server, 400)).map(({ event }) => event.sequence)
    const first = Math.min(...order)
    const moved = order.map((sequence, i) => Math.abs(sequence - first - i))
    assert.ok(moved.reduce((sum, places) => sum + places) / order.length <= 16, `${moved}`)
  })

  test("follows no redirect, and shows nothing of an answer's body beside the number of attempts", async (t) => {
    const target = await world.openHook(t)
    const server = await world.openHook(t, (_hook, res) => res.writeHead(307, { location: target.url }).end('inner secret'))
    await world.setHook(server)
    await world.cause(1)
    const failed = await eventually(async () => (await world.deliveries()).find(({ attempts }) => attempts === 1), 'it is tried')
    assert.deepEqual([failed.status, failed.response_status, failed.error], ['pending', 307, 'The endpoint answered 307.'])
    assert.equal(target.hooks.length, 0)
    assert.ok(!JSON.stringify(await world.deliveries()).includes('inner secret'))
  })

  test('that fails is retried with the same id, ten attempts in all', async (t) => {
    const server = await world.openHook(t, 500)
    await world.setHook(server)
    const [event] = await world.cause(1)
    for (let tried = 1; tried <= 10; tried++) {
      const one = await eventually(
        async () => (await world.deliveries()).find(({ attempts }) => attempts === tried),
        `try ${tried}`,
      )
      assert.equal(one.status, tried < 10 ? 'pending' : 'failed')
      if (tried === 1) {
        const waitMs = Date.parse(one.next_attempt_at) - Date.parse(one.last_attempt_at)
        assert.ok(waitMs >= 4_400 && waitMs <= 5_600, `${waitMs} ms`)
      }
      // The worker may be about to write the outcome.
      await world.letGo()
      await world.hurry()
    }
    assert.equal(server.hooks.length, 10)
    assert.deepEqual(new Set(server.hooks.map(({ headers }) => headers['webhook-id'])), new Set([event!.id]))
  })

  test('goes to the new address as soon as it is set', async (t) => {
    const [old, next] = [await world.openHook(t, 500), await world.openHook(t)]
    await world.setHook(old)
    await world.cause(1)
    await world.arrived(old, 1)
    await world.setHook(next)
    await world.hurry()
    await world.arrived(next, 1)
    await world.cause(2)
    await world.arrived(next, 3)
    assert.equal(old.hooks.length, 1)
  })

  test('while secrets rotate, old and new sign; after 24 hours the new one alone', async (t) => {
    const server = await world.openHook(t)
    const first = await world.setHook(server)
    const second = await world.setHook(server, { rotate_secret: true })
    await world.cause(1)
    const [during] = await world.arrived(server, 1)
    assert.equal(during!.headers['webhook-signature']!.split(' ').length, 2)
    assert.deepEqual([verifies(first, during!), verifies(second, during!)], [true, true])
    // The answer to a rotation was lost, so that the tenant rotates again: the receiver's old secret still signs.
    const third = await world.setHook(server, { rotate_secret: true })
    await world.cause(1)
    const twice = (await world.arrived(server, 2))[1]!
    assert.deepEqual(
      [first, second, third].map((secret) => verifies(secret, twice)),
      [true, true, true],
    )
    const { rows } = await world.query(
      `select max(signs_until) - now() between interval '23 hours 59 minutes' and interval '24 hours' as day from webhook_secrets where tenant_id = $1`,
      [world.tenant.id],
    )
    assert.equal(rows[0]!.day, true)
    // A worker that still has the endpoint has read its secrets.
    await world.letGo()
    await world.query('update webhook_secrets set signs_until = now() where tenant_id = $1 and signs_until is not null', [
      world.tenant.id,
    ])
    await world.cause(1)
    const later = (await world.arrived(server, 3))[2]!
    assert.deepEqual(
      [first, second, third].map((secret) => verifies(secret, later)),
      [false, false, true],
    )
  })
})
