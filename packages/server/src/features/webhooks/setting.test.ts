import { after, before, beforeEach, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { eventTypes } from '@atrium/contract/event-types'
import { assertError, type Got, send } from '#testing/http.ts'
import { eventually } from '#testing/session-world.ts'
import { startTestApi } from '#testing/test-api.ts'
import { startWebhookWorld, verifies, type WebhookWorld } from '#testing/webhook-world.ts'

let world: WebhookWorld
before(async () => {
  world = await startWebhookWorld()
})
beforeEach(() => world.openTenant())
after(() => world.close())

describe('the setting', () => {
  test('is read as it was set, and shows its secret once', async (t) => {
    const get = () => world.call('GET', '/tenant/webhooks')
    assertError(await get(), 404, 'not_found')
    const server = await world.openHook(t)
    const first = await world.put({ url: server.url, events: ['item.created'] })
    assert.equal(first.headers.get('cache-control'), 'no-store')
    const { secret, ...shown } = first.body.data
    assert.match(secret, /^whsec_[A-Za-z0-9+/]+=*$/)
    assert.ok(Buffer.from(secret.slice(6), 'base64').length >= 24)
    assert.deepEqual(shown, { url: server.url, events: ['item.created'], enabled: true })
    assert.deepEqual((await get()).body.data, shown)
    const changed = (await world.put({ url: server.url, enabled: false })).body.data
    assert.equal(changed.secret, undefined)
    assert.equal(changed.events.length, eventTypes.length, 'all types')
    const rotated = (await world.put({ url: server.url, rotate_secret: true })).body.data.secret
    assert.ok(rotated.startsWith('whsec_') && rotated !== secret)
  })

  test('two concurrent first settings: one secret is shown, and it is the one that signs', async (t) => {
    const server = await world.openHook(t)
    const secrets = (await Promise.all([1, 2, 3].map(() => world.put({ url: server.url })))).map(({ body }) => body.data.secret)
    const [secret, ...others] = secrets.filter(Boolean)
    assert.deepEqual(others, [])
    await world.cause(1)
    assert.ok(verifies(secret, (await world.arrived(server, 1))[0]!))
  })

  test('addresses that are not public are refused, whatever their form', async () => {
    const refused = [
      'http://10.0.0.1/',
      'https://10.0.0.1/',
      'https://192.168.1.1:8443/',
      'https://169.254.169.254/latest/meta-data',
      'https://[fd00::1]/',
      'https://[::ffff:10.0.0.1]/',
      'https://0x0a000001/',
      'https://metadata.google.internal/',
      'https://user:word@hooks.example.com/',
      'ftp://hooks.example.com/',
      'hooks.example.com',
      'https://hooks.example.com:25/',
      // As it would be sent, it has three times as many characters, and no delivery could be sent to it.
      `https://hooks.example.com/${'\u00e9'.repeat(900)}`,
    ]
    for (const url of refused) {
      const got = await world.put({ url })
      assertError(got, 400, 'invalid_request')
      assert.equal(got.body.error.details[0].path, '/url', url)
    }
    assertError(await world.put({ url: 'https://hooks.example.com/', events: ['no.such'] }), 400, 'invalid_request')
    assert.equal((await world.put({ url: 'https://hooks.example.com/in?a=1', enabled: false })).status, 200)
  })

  test('without the development switch no local address can be set, and one that was set before is not called', async (t) => {
    const server = await world.openHook(t)
    const strict = await startTestApi()
    t.after(() => strict.close())
    const own = await strict.makeTenant()
    const set = (url: string) => send(strict, 'PUT', '/tenant/webhooks', { key: own.secretKey, body: { url } })
    for (const url of [server.url, 'http://hooks.example.com/', 'https://127.0.0.1/', 'https://localhost/', 'https://[::1]/'])
      assertError(await set(url), 400, 'invalid_request')
    assert.equal((await set('https://hooks.example.com/')).status, 200)
    await strict.ctx.db.pool.query('update webhooks set url = $1', [server.url.replace('http', 'https')])
    const tested = await send(strict, 'POST', '/tenant/webhooks/test', { key: own.secretKey, body: {} })
    assert.deepEqual([tested.body.data.delivered, tested.body.data.error], [false, 'Only public addresses can be reached.'])
    assert.equal(server.hooks.length, 0)
  })

  test('secrets are sealed, bound to their row', async (t) => {
    const secret = await world.setHook(await world.openHook(t))
    const { rows } = await world.query<{ id: string; sealed: Buffer }>(
      'select id, sealed from webhook_secrets where tenant_id = $1',
      [world.tenant.id],
    )
    for (const form of [secret, secret.slice(6)]) assert.ok(!rows[0]!.sealed.includes(form))
    assert.ok(!rows[0]!.sealed.includes(Buffer.from(secret.slice(6), 'base64')))
  })
})

describe('sending again', () => {
  const resend = (id: string, of = world.tenant, more: object = {}) =>
    send(world.api, 'POST', `/tenant/webhooks/deliveries/${id}/resend`, { key: of.secretKey, ...more })

  test('sends the same event under the same id, whatever its status', async (t) => {
    const server = await world.openHook(t)
    await world.setHook(server)
    const [event] = await world.cause(1)
    await world.arrived(server, 1)
    await eventually(async () => (await world.deliveries())[0]!.status === 'succeeded', 'it succeeded')
    const keyed = { idempotencyKey: 'again' }
    const got = await resend(event!.id, world.tenant, keyed)
    assert.equal(got.status, 202, got.text)
    assert.deepEqual([got.body.data.id, got.body.data.status, got.body.data.attempts], [event!.id, 'pending', 1])
    const hooks = await world.arrived(server, 2)
    assert.equal(hooks[1]!.text, hooks[0]!.text)
    const [after] = await eventually(async () => {
      const list = await world.deliveries()
      return list[0]!.status === 'succeeded' && list
    }, 'it succeeded again')
    assert.equal(after!.attempts, 2)
    assert.equal((await resend(event!.id, world.tenant, keyed)).text, got.text, 'a retry is not another one')
    assert.equal((await resend(event!.id, world.tenant, { ...keyed, body: {} })).text, got.text, 'nor is one with {} for no body')
    await world.cause(1)
    assert.equal((await world.arrived(server, 3))[2]!.event.sequence, event!.sequence + 1)
  })

  test('is refused while the webhook is disabled, and where there is no such delivery', async (t) => {
    const server = await world.openHook(t)
    await world.setHook(server)
    const [event] = await world.cause(1)
    await world.arrived(server, 1)
    const other = await world.api.makeTenant()
    await world.put({ url: server.url }, other)
    assertError(await resend(event!.id, other), 404, 'not_found')
    assertError(await resend('evt_4fRzK0vXcB1mQwErTy7uPa'), 404, 'not_found')
    await world.setHook(server, { enabled: false })
    assertError(await resend(event!.id), 409, 'state_conflict')
    assert.equal((await world.deliveries(other)).length, 0)
  })
})

describe('the test event', () => {
  const tryIt = (body: object = {}) => world.call('POST', '/tenant/webhooks/test', body)

  test('is signed, marked as a test, and neither listed nor pulled', async (t) => {
    assertError(await world.call('POST', '/tenant/webhooks/test'), 404, 'not_found')
    assertError(await tryIt(), 404, 'not_found')
    const server = await world.openHook(t)
    const secret = await world.setHook(server)
    const before = await world.pull()
    const got = await tryIt({ type: 'session.stopped' })
    const { duration_ms: durationMs, ...said } = got.body.data
    assert.deepEqual(said, { delivered: true, response_status: 204, error: null })
    assert.ok(Number.isInteger(durationMs))
    const [hook] = server.hooks
    assert.ok(verifies(secret, hook!))
    assert.deepEqual([hook!.event.type, hook!.event.sequence, hook!.event.data['test']], ['session.stopped', 0, true])
    assert.deepEqual([await world.deliveries(), await world.pull()], [[], before])
  })

  test("reports the status, and nothing of the answer's body", async (t) => {
    const server = await world.openHook(t, (_hook, res) => res.writeHead(500, { 'x-inner': 'inner secret' }).end('inner secret'))
    await world.setHook(server)
    const got = await tryIt()
    const { duration_ms: _ms, ...said } = got.body.data
    assert.deepEqual(said, { delivered: false, response_status: 500, error: 'The endpoint answered 500.' })
    assert.ok(!got.text.includes('inner'))
    await server.close()
    const gone = (await tryIt()).body.data
    assert.deepEqual([gone.delivered, gone.response_status], [false, null])
    assert.match(gone.error, /^The connection could not be made/)
  })

  test('of the test events of a tenant, few are sent at once and some wait; more are refused, and no other tenant waits', async (t) => {
    let isHeld = true
    const waiting: (() => void)[] = []
    const slow = await world.openHook(t, (_hook, res) => {
      const answer = () => res.writeHead(204).end()
      if (isHeld) waiting.push(answer)
      else answer()
    })
    await world.setHook(slow)
    const answered: Got[] = []
    const calls = Array.from({ length: 23 }, async () => void answered.push(await tryIt()))
    await eventually(async () => answered.length === 3 && waiting.length === 4, 'three are refused, and four are sent')
    for (const refused of answered) assertError(refused, 429, 'rate_limited')
    assert.equal(answered[0]!.headers.get('retry-after'), '5')
    const other = await world.api.makeTenant()
    await world.put({ url: (await world.openHook(t)).url }, other)
    assert.equal((await world.call('POST', '/tenant/webhooks/test', {}, other)).body.data.delivered, true)
    assert.deepEqual([answered.length, waiting.length], [3, 4])
    isHeld = false
    for (const answer of waiting) answer()
    await Promise.all(calls)
    assert.deepEqual(
      answered.slice(3).map(({ body }) => body.data.delivered),
      Array.from({ length: 20 }, () => true),
    )
  })
})
