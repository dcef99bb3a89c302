import { after, before, beforeEach, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { hash, randomUUID } from 'node:crypto'
import type { HookServer } from '#testing/hook-server.ts'
import { assertError, send, untilServed } from '#testing/http.ts'
import { eventually } from '#testing/session-world.ts'
import { startWebhookWorld, verifies, type WebhookWorld } from '#testing/webhook-world.ts'

let world: WebhookWorld
before(async () => {
  world = await startWebhookWorld()
})
beforeEach(() => world.openTenant())
after(() => world.close())

const endpoints = '/tenant/webhooks/endpoints'

async function add(server: HookServer, more: object = {}) {
  await world.collectionOf(world.tenant)
  const got = await world.call('POST', endpoints, { url: server.url, ...more })
  assert.equal(got.status, 201, got.text)
  return got.body.data
}

interface Listed {
  id: string
  endpoint: string
  status: string
  attempts: { at: string; status: number | null; ms: number; answer: string | null; error: string | null }[]
}

const deliveriesTo = async (id: string): Promise<Listed[]> =>
  (await world.call('GET', `/tenant/webhooks/deliveries?limit=200&endpoint=${id}`)).body.data

describe('endpoints', () => {
  test('are added, listed after the default one, changed and deleted; a secret is shown once', async (t) => {
    const server = await world.openHook(t)
    const { secret, ...shown } = await add(server, { events: ['item.created'], description: 'The warehouse' })
    assert.match(secret, /^whsec_/)
    assert.match(shown.id, /^whe_/)
    const { id } = shown
    assert.deepEqual(shown, { id, url: server.url, events: ['item.created'], enabled: true, description: 'The warehouse' })
    await world.setHook(server)
    const listed = (await world.call('GET', endpoints)).body.data
    assert.deepEqual([listed[0].id, listed[0].description, listed[1]], ['default', null, shown])
    assert.deepEqual((await world.call('GET', `${endpoints}/${id}`)).body.data, shown)
    const changed = await world.call('PATCH', `${endpoints}/${id}`, { enabled: false, description: null })
    assert.deepEqual(changed.body.data, { ...shown, enabled: false, description: null })
    const rotated = await world.call('PATCH', `${endpoints}/default`, { events: ['item.deleted'], rotate_secret: true })
    assert.match(rotated.body.data.secret, /^whsec_/)
    assert.deepEqual((await world.call('GET', '/tenant/webhooks')).body.data.events, ['item.deleted'])
    for (const one of [id, 'default']) {
      assert.equal((await world.call('DELETE', `${endpoints}/${one}`)).status, 204)
      assertError(await world.call('GET', `${endpoints}/${one}`), 404, 'not_found')
      assertError(await world.call('DELETE', `${endpoints}/${one}`), 404, 'not_found')
      assertError(await world.call('GET', `/tenant/webhooks/deliveries?endpoint=${one}`), 404, 'not_found')
    }
    assert.deepEqual((await world.call('GET', endpoints)).body.data, [])
  })

  test('of another tenant do not exist, and addresses are checked', async (t) => {
    const { id } = await add(await world.openHook(t))
    const { secretKey: key } = await world.api.makeTenant()
    for (const [method, path, body] of [
      ['GET', id],
      ['PATCH', id, { enabled: false }],
      ['DELETE', id],
      ['POST', `${id}/recover`, { since: '2026-11-20T09:00:00.000Z' }],
    ] as const)
      assertError(await send(world.api, method, `${endpoints}/${path}`, { key, ...(body && { body }) }), 404, 'not_found')
    assertError(await world.call('PATCH', `${endpoints}/${id}`, { url: 'ftp://hooks.example' }), 400, 'invalid_request')
  })

  test('are at most 20, also when they are added at once', async (t) => {
    const server = await world.openHook(t)
    await world.setHook(server)
    const add = () => untilServed(() => world.call('POST', endpoints, { url: server.url }))
    const got = await Promise.all(Array.from({ length: 24 }, add))
    assert.equal(got.filter(({ status }) => status === 201).length, 19)
    for (const one of got.filter(({ status }) => status !== 201)) assertError(one, 409, 'state_conflict')
    assert.equal((await world.call('GET', endpoints)).body.data.length, 20)
  })

  test('a lost answer of an addition is replayed with its secret', async (t) => {
    const server = await world.openHook(t)
    const options = { key: world.tenant.secretKey, idempotencyKey: randomUUID(), body: { url: server.url } }
    const [first, again] = [await send(world.api, 'POST', endpoints, options), await send(world.api, 'POST', endpoints, options)]
    assert.equal(first.status, 201)
    assert.equal(again.text, first.text)
    assert.equal((await world.call('GET', endpoints)).body.data.length, 1)
  })
})

describe('deliveries to several endpoints', () => {
  test('each gets what it asked for since it exists, signed with its own secret', async (t) => {
    const [one, other, late] = [await world.openHook(t), await world.openHook(t), await world.openHook(t)]
    const first = await world.setHook(one)
    const { secret: second } = await add(other, { events: ['item.created'] })
    const [event] = await world.cause(1)
    await add(late)
    await Promise.all([world.arrived(one, 1), world.arrived(other, 1)])
    assert.deepEqual([one.hooks[0]!.event.id, other.hooks[0]!.event.id], [event!.id, event!.id])
    assert.deepEqual([verifies(first, one.hooks[0]!), verifies(first, other.hooks[0]!)], [true, false])
    assert.deepEqual([verifies(second, other.hooks[0]!), verifies(second, one.hooks[0]!)], [true, false])
    assert.equal(late.hooks.length, 0, 'events of before are not sent')
  })

  test('one that hangs delays no other, and attempts are kept with the beginning of the answer', async (t) => {
    const [hangs, fails] = [await world.openHook(t, 'hang'), await world.openHook(t, 204)]
    const { id: hanging } = await add(hangs)
    const long = `é\0${'x'.repeat(2_000)}`
    fails.reply = (_hook, res) => res.writeHead(503).end(long)
    const { id } = await add(fails)
    await world.cause(1)
    const [failed] = await eventually(async () => {
      const list = await deliveriesTo(id)
      return list[0]?.attempts.length === 1 && list
    }, 'the failure is listed while the other one hangs')
    const { at, ms, ...rest } = failed!.attempts[0]!
    const answer = `é\ufffd${'x'.repeat(1_021)}`
    assert.deepEqual(rest, { status: 503, answer, error: 'The endpoint answered 503.' })
    assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000 && ms >= 0)
    assert.deepEqual([failed!.endpoint, failed!.status], [id, 'pending'])
    fails.reply = 204
    await world.query(`update webhook_endpoint_deliveries set next_attempt_at = now() where endpoint_id = $1`, [id])
    await world.query('update webhook_endpoints set resume_at = null where endpoint_id = $1', [id])
    const [done] = await eventually(async () => {
      const list = await deliveriesTo(id)
      return list[0]?.status === 'succeeded' && list
    }, 'the next attempt succeeds')
    assert.deepEqual(
      done!.attempts.map(({ status }) => status),
      [503, 204],
    )
    assert.deepEqual((await deliveriesTo(hanging))[0]!.attempts, [])
    await hangs.close()
  })

  test('all failed ones since a time are sent again, and nothing else', async (t) => {
    const server = await world.openHook(t)
    const { id } = await add(server)
    await world.cause(3)
    await world.arrived(server, 3)
    await eventually(async () => (await deliveriesTo(id)).every(({ status }) => status === 'succeeded'), 'they are written')
    const events = (await world.pull()).slice(-3)
    await world.query(`update webhook_endpoint_deliveries set status = 'failed' where endpoint_id = $1 and id = any ($2)`, [
      id,
      [events[0]!.id, events[2]!.id],
    ])
    await world.query(`update events set created_at = now() - interval '2 days' where tenant_id = $1 and id = $2`, [
      world.tenant.id,
      events[0]!.id,
    ])
    const since = new Date(Date.now() - 3_600_000).toISOString()
    const recover = (to = id) => world.call('POST', `${endpoints}/${to}/recover`, { since })
    assert.deepEqual((await recover()).body.data, { queued: 1 })
    await world.arrived(server, 4)
    assert.equal(server.hooks[3]!.event.id, events[2]!.id)
    assert.deepEqual((await recover()).body.data, { queued: 0 })
    const again = await world.call('POST', `/tenant/webhooks/deliveries/${events[1]!.id}/resend?endpoint=${id}`)
    assert.equal(again.status, 202, again.text)
    await world.arrived(server, 5)
    await world.call('PATCH', `${endpoints}/${id}`, { enabled: false })
    assertError(await recover(), 409, 'state_conflict')
    assertError(await recover('default'), 404, 'not_found')
  })

  test('that wait for their next attempt are sent again at once with `pending`, also while the endpoint pauses', async (t) => {
    const server = await world.openHook(t, 503)
    const { id } = await add(server)
    await world.cause(2)
    const waiting = await eventually(async () => {
      const list = await deliveriesTo(id)
      return list.length === 2 && list.every(({ attempts }) => attempts.length === 1) && list
    }, 'both have failed once')
    assert.ok(waiting.every(({ status }) => status === 'pending'))
    // A run that has not ended yet would send what becomes due.
    await eventually(async () => {
      const { rows } = await world.query('select lease_owner from webhook_endpoints where endpoint_id = $1', [id])
      return rows[0]?.lease_owner === null
    }, 'the run has ended')
    // The endpoint pauses longer than one of them waits.
    await world.query(`update webhook_endpoints set resume_at = now() + interval '5 minutes' where endpoint_id = $1`, [id])
    await world.query(
      // The times are parameters: Citus refuses now() within a case.
      `update webhook_endpoint_deliveries set next_attempt_at = case when id = $2 then $3::timestamptz else $4::timestamptz end
       where endpoint_id = $1`,
      [id, waiting[0]!.id, new Date(Date.now() - 60_000).toISOString(), new Date(Date.now() + 5 * 3_600_000).toISOString()],
    )
    server.reply = 204
    const since = new Date(Date.now() - 3_600_000).toISOString()
    const recover = async (body: object) => (await world.call('POST', `${endpoints}/${id}/recover`, { since, ...body })).body.data
    assert.deepEqual(await recover({}), { queued: 0 })
    assert.deepEqual(await recover({ pending: true }), { queued: 2 })
    await world.arrived(server, 4)
    await eventually(async () => (await deliveriesTo(id)).every(({ status }) => status === 'succeeded'), 'both have arrived')
    assert.deepEqual(await recover({ pending: true }), { queued: 0 })
    await world.query(`update webhook_endpoints set resume_at = now() + interval '5 minutes' where endpoint_id = $1`, [id])
    await world.call('POST', `/tenant/webhooks/deliveries/${waiting[0]!.id}/resend?endpoint=${id}`)
    await world.arrived(server, 5)
  })

  test('to one that is deleted end, and a new default one does not receive what was queued for the old', async (t) => {
    const [old, fresh] = [await world.openHook(t, 500), await world.openHook(t)]
    await world.setHook(old)
    await world.cause(2)
    await world.arrived(old, 2)
    await world.letGo()
    assert.equal((await world.call('DELETE', `${endpoints}/default`)).status, 204)
    await world.setHook(fresh)
    await world.hurry()
    const [event] = await world.cause(1)
    await world.arrived(fresh, 1)
    assert.equal(fresh.hooks[0]!.event.id, event!.id)
  })

  test('an Idempotency-Key is for one of them: with another endpoint it is refused, and nothing is queued', async (t) => {
    const [first, second] = [await world.openHook(t), await world.openHook(t)]
    await world.setHook(first)
    const { id } = await add(second)
    const [event] = await world.cause(1)
    await Promise.all([world.arrived(first, 1), world.arrived(second, 1)])
    const resend = (idempotencyKey: string, query: string) =>
      send(world.api, 'POST', `/tenant/webhooks/deliveries/${event!.id}/resend${query}`, {
        key: world.tenant.secretKey,
        idempotencyKey,
      })
    const [plain, named] = ['', `?endpoint=${id}`]
    const got = await resend('first', plain)
    assert.equal(got.status, 202, got.text)
    assertError(await resend('first', named), 409, 'idempotency_key_reused')
    assert.equal((await resend('first', plain)).text, got.text)
    const other = await resend('second', named)
    assert.equal(other.status, 202, other.text)
    assert.equal((await resend('second', named)).text, other.text)
    assertError(await resend('second', plain), 409, 'idempotency_key_reused')
    await Promise.all([world.arrived(first, 2), world.arrived(second, 2)])

    // As the previous release stored it: without the query.
    const path = `/v1/tenant/webhooks/deliveries/${event!.id}/resend`
    const secret = JSON.stringify([world.tenant.id, 'resendDelivery', path, 'second'])
    const sealed = world.api.ctx.vault.sealWith(secret, Buffer.from(`202 ${other.text}`))
    const { rowCount } = await world.query('update idempotency_keys set answer = $1 where key_hash = $2', [
      sealed,
      hash('sha256', secret, 'buffer'),
    ])
    assert.equal(rowCount, 1)
    for (const query of [plain, named]) assert.equal((await resend('second', query)).text, other.text)
  })

  test('one that answers 410 is disabled alone, and the event names it', async (t) => {
    const [gone, good] = [await world.openHook(t, 410), await world.openHook(t)]
    const { id } = await add(gone)
    await add(good, { events: ['webhook.disabled'] })
    await world.cause(1)
    await world.arrived(good, 1)
    const { endpoint, reason } = good.hooks[0]!.event.data
    assert.deepEqual([endpoint, reason], [id, 'gone'])
    const states = (await world.call('GET', endpoints)).body.data.map(({ enabled }: { enabled: boolean }) => enabled)
    assert.deepEqual(states, [false, true])
    const tested = await world.call('POST', '/tenant/webhooks/test', { endpoint: id })
    assert.deepEqual([tested.body.data.delivered, tested.body.data.response_status], [false, 410])
  })
})
