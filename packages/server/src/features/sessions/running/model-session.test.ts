import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, afterEach, before, describe, test } from 'node:test'
import { send } from '#testing/http.ts'
import { UnknownMasterKeyError } from '#crypto/vault/vault.ts'
import { startProviderServer, type ProviderServer } from '#testing/provider-server.ts'
import { eventually, startSessionWorld, type Room, type SessionWorld } from '#testing/session-world.ts'
import { auditLedger } from '#features/credits/ledger/audit-store.ts'

let world: SessionWorld
let provider: ProviderServer

before(async () => {
  provider = await startProviderServer()
  world = await startSessionWorld()
  const keys = await send(world.api, 'PUT', '/tenant/provider-keys', {
    key: world.tenant.secretKey,
    body: { openai_compatible: { url: provider.compatibleUrl, key: 'sk-canary-12345' } },
  })
  assert.equal(keys.status, 200)
})

after(async () => {
  await world.close()
  await provider.close()
})

const manifest = () => ({
  name: 'Lamplighter',
  instructions: 'You light lamps.',
  model: { provider: 'openai_compatible', id: 'lamp-1' },
})

const said = async (room: Room) =>
  (await world.entries(room)).filter(({ author }) => author.kind === 'agent').map(({ message }) => message.text)

async function launch(more: object = {}): Promise<{ id: string; token: string; room: Room; coupon: string; agentId: string }> {
  const agentId = await world.makeAgent({ ...manifest(), ...more })
  const room = world.newRoom()
  const coupon = await world.makeCoupon(5)
  const got = await world.launch(agentId, room, coupon, { metadata: { table: 7 } })
  assert.equal(got.status, 201, got.text)
  return { id: got.body.data.id, token: got.body.data.control_token, room, coupon, agentId }
}

const statusOf = async ({ id, token }: { id: string; token: string }) =>
  (await world.control('GET', `/sessions/${id}`, token)).body.data
const ended = (session: { id: string; token: string }, status: string) =>
  eventually(async () => ((await statusOf(session)).status === status ? statusOf(session) : false), `it is ${status}`, 20_000)

describe('a model agent', () => {
  test("answers with its owner's key, its instructions and the room's history, and stops on request", async () => {
    provider.otherwise = () => ({ text: ['Good ', 'evening, ', 'traveller.'] })
    const session = await launch()
    await world.say(session.room, 'Who lights the lamps?')
    await eventually(async () => (await said(session.room))[0] === 'Good evening, traveller.', 'it answers')
    const request = provider.requests.at(-1)!
    assert.equal(request.headers['authorization'], 'Bearer sk-canary-12345')
    const text = JSON.stringify(request.body)
    assert.ok(text.includes('You light lamps.') && text.includes('Who lights the lamps?') && text.includes('table'))
    await world.control('POST', `/sessions/${session.id}/stop`, session.token)
    assert.equal((await statusOf(session)).charged_credits, 5)
  })

  test('calls its tools with checked arguments and the secret, and answers with the result', async () => {
    const calls: { body: string; headers: IncomingMessage['headers'] }[] = []
    const tool = createServer((req, res) => {
      let body = ''
      req
        .on('data', (chunk) => (body += chunk))
        .on('end', () => {
          calls.push({ body, headers: req.headers })
          res.writeHead(200, { 'content-type': 'application/json' }).end('{"lamp":"on the east pier"}')
        })
    })
    await new Promise<void>((resolve) => tool.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(tool.address() as AddressInfo).port}/find`
    const parameters = {
      type: 'object',
      properties: { number: { type: 'integer' } },
      required: ['number'],
      additionalProperties: false,
    }
    const session = await launch({
      tools: [{ name: 'find_lamp', description: 'Finds.', parameters, url, secret: 'canary-secret' }],
    })
    provider.script(
      { calls: [{ name: 'find_lamp', args: '{"number":"seven"}' }] },
      { calls: [{ name: 'find_lamp', args: '{"number":7}' }] },
      { text: ['Lamp 7 is on the east pier.'] },
    )
    await world.say(session.room, 'Where is lamp 7?')
    await eventually(async () => (await said(session.room))[0] === 'Lamp 7 is on the east pier.', 'it answers')
    assert.equal(calls.length, 1, 'wrong arguments are not sent')
    assert.deepEqual(JSON.parse(calls[0]!.body), { number: 7 })
    assert.equal(calls[0]!.headers.authorization, 'Bearer canary-secret')
    const root = { baseUrl: world.api.origin }
    for (const [nth, secret, changed, what] of [
      [1, 'canary-later', { name: 'find_lamp', secret: 'canary-later' }, 'a new secret is used from the next answer on'],
      [2, 'canary-later', { name: 'seek_lamp' }, 'a tool that has another name now keeps its secret in the session'],
    ] as const) {
      const tools = [{ description: 'Finds.', parameters, url, ...changed }]
      const patched = await send(root, 'PATCH', `/agents/${session.agentId}`, { key: world.tenant.secretKey, body: { tools } })
      assert.equal(patched.status, 200, patched.text)
      provider.script({ calls: [{ name: 'find_lamp', args: `{"number":${nth}}` }] }, { text: [`Lamp ${nth} is lost.`] })
      await world.say(session.room, `And lamp ${nth}?`)
      await eventually(async () => (await said(session.room))[nth] === `Lamp ${nth} is lost.`, 'it answers again')
      assert.equal(calls[nth]!.headers.authorization, `Bearer ${secret}`, what)
    }
    await world.control('POST', `/sessions/${session.id}/stop`, session.token)
    tool.close()
  })

  test('retries when its provider is overloaded, and answers', async () => {
    const session = await launch()
    provider.script({ status: 503, body: { error: { message: 'overloaded' } } }, { text: ['Here I am.'] })
    await world.say(session.room, 'Hello?')
    await eventually(async () => (await said(session.room))[0] === 'Here I am.', 'it answers after all', 10_000)
    await world.control('POST', `/sessions/${session.id}/stop`, session.token)
  })

  test('that never spoke and whose provider refuses reports so in the room and the status, and costs nothing', async () => {
    const session = await launch()
    provider.script({ status: 401, body: { error: { message: 'Incorrect API key provided: sk-canary-12345' } } })
    await world.say(session.room, 'Hello?')
    const { error, charged_credits: charged } = await ended(session, 'failed')
    assert.equal(error.code, 'unauthorized')
    assert.equal(charged, 0)
    assert.ok(!JSON.stringify(error).includes('canary'))
    const [farewell] = await said(session.room)
    assert.match(farewell!, /^I have to leave/)
    assert.ok(!farewell!.includes('canary'))
    assert.deepEqual(await world.balance(session.coupon), { balance: 5, held: 0, currency: 'credits' })
  })

  test('that spoke before its provider failed is paid', async () => {
    const session = await launch()
    provider.script({ text: ['One answer.'] }, { status: 400, body: { error: { message: 'no' } } })
    await world.say(session.room, 'Hello?')
    await eventually(async () => (await said(session.room))[0] === 'One answer.', 'it answers')
    await world.say(session.room, 'And now?')
    const { error, charged_credits: charged } = await ended(session, 'failed')
    assert.deepEqual([error.code, charged], ['refused', 5])
  })

  test("without its owner's key for the provider reports what is missing", async () => {
    const session = await launch({ model: { provider: 'anthropic', id: 'some-model' } })
    await world.say(session.room, 'Hello?')
    assert.equal((await ended(session, 'failed')).error.code, 'no_key')
    assert.match((await said(session.room))[0]!, /Anthropic/)
  })

  describe('whose owner changes the key of its provider', () => {
    const first = 'sk-canary-12345'
    const setKey = async (key: string | null) => {
      const body = { openai_compatible: key && { url: provider.compatibleUrl, key } }
      const got = await send(world.api, 'PUT', '/tenant/provider-keys', { key: world.tenant.secretKey, body })
      assert.equal(got.status, 200, got.text)
    }
    /** Only with this key the provider answers. */
    const answersOnly = (key: string) => {
      provider.otherwise = ({ headers }) =>
        headers['authorization'] === `Bearer ${key}`
          ? { text: ['It is lit.'] }
          : { status: 401, body: { error: { message: 'revoked' } } }
    }
    const untilAnswered = (room: Room, times: number) =>
      eventually(async () => (await said(room)).filter((text) => text === 'It is lit.').length === times, 'it answers')
    const askOnce = async (session: { room: Room }) => {
      answersOnly(first)
      await world.say(session.room, 'Hello?')
      await untilAnswered(session.room, 1)
    }
    afterEach(() => setKey(first))

    test('waits where its worker lacks the master key under which the new one is sealed', async (t) => {
      const session = await launch()
      await askOnce(session)
      // The bytes 1 to 4 of a sealed value are the id of the master key.
      const change = () =>
        world.api.ctx.db.pool.query(
          `update provider_keys set key_sealed = set_byte(key_sealed, 1, 255 - get_byte(key_sealed, 1)) where tenant_id = $1`,
          [world.tenant.id],
        )
      await change()
      const open = t.mock.method(world.api.ctx.vault, 'open')
      await world.say(session.room, 'And now?')
      await eventually(async () => open.mock.calls.some(({ error }) => error instanceof UnknownMasterKeyError), 'it is tried')
      await change()
      await untilAnswered(session.room, 2)
      await world.control('POST', `/sessions/${session.id}/stop`, session.token)
    })

    test('answers with the new key from then on', async () => {
      const session = await launch()
      await askOnce(session)
      await setKey('sk-canary-67890')
      answersOnly('sk-canary-67890')
      const before = provider.requests.length
      await world.say(session.room, 'And now?')
      await untilAnswered(session.room, 2)
      assert.equal(provider.requests.length, before + 1, 'the old key is not tried')
      assert.equal((await statusOf(session)).status, 'running')
      await world.control('POST', `/sessions/${session.id}/stop`, session.token)
    })

    test('answers with the new key also where the old one is refused in the middle of an answer', async () => {
      const session = await launch()
      await askOnce(session)
      provider.script({ silent: true })
      const before = provider.requests.length
      await world.say(session.room, 'And now?')
      await eventually(async () => provider.requests.length > before, 'the model is asked')
      await setKey('sk-canary-67890')
      answersOnly('sk-canary-67890')
      provider.refuseSilent(401, { error: { message: 'revoked' } })
      await untilAnswered(session.room, 2)
      assert.equal((await statusOf(session)).status, 'running')
      await world.control('POST', `/sessions/${session.id}/stop`, session.token)
    })

    test('does not use a key that was removed, and says why it leaves', async () => {
      const session = await launch()
      await askOnce(session)
      await setKey(null)
      const before = provider.requests.length
      await world.say(session.room, 'And now?')
      assert.equal((await ended(session, 'failed')).error.code, 'no_key')
      assert.match((await said(session.room)).at(-1)!, /^I have to leave: This agent's owner has set no key for/)
      assert.equal(provider.requests.length, before)
    })
  })

  test('posts nothing once it is stopped in the middle of an answer', async () => {
    provider.otherwise = () => ({ text: ['Too late.'] })
    const session = await launch()
    provider.script({ text: ['Too late.'], ending: 'stall' })
    const asked = provider.requests.length
    await world.say(session.room, 'Think long.')
    await eventually(async () => provider.requests.length > asked, 'the model is asked')
    await world.control('POST', `/sessions/${session.id}/stop`, session.token)
    await eventually(async () => provider.open() === 0, 'the call to the provider ends', 10_000)
    // Longer than it would take to post the part of the answer that has arrived.
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.deepEqual(await said(session.room), [])
  })
})

test('two agents in one room do not keep each other talking', async () => {
  provider.otherwise = ({ body }) => ({
    text: [JSON.stringify(body).includes('You are the first') ? 'Second, what do you say?' : 'First, what do you say?'],
  })
  const room = world.newRoom()
  const sessions = []
  for (const name of ['First', 'Second']) {
    const agentId = await world.makeAgent({ ...manifest(), name, instructions: `You are the ${name.toLowerCase()}.` })
    sessions.push((await world.launch(agentId, room, await world.makeCoupon(5))).body.data)
  }
  await world.say(room, 'First, begin.')
  await eventually(async () => (await said(room)).length >= 3, 'they talk a little')
  const count = async () => (await said(room)).length
  const settled = await eventually(async () => {
    const before = await count()
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    return (await count()) === before && before
  }, 'they fall silent')
  assert.ok(settled <= 8, `${settled} turns of agents after one of a person`)
  for (const { id, control_token: token } of sessions) await world.control('POST', `/sessions/${id}/stop`, token)
})

test('two workers share the sessions, and each turn is answered once', async () => {
  provider.otherwise = () => ({ text: ['Once.'] })
  const second = await world.startRunner()
  const sessions = await Promise.all(Array.from({ length: 8 }, () => launch()))
  await Promise.all(sessions.map(({ room }) => world.say(room, 'one')))
  await eventually(
    async () => (await Promise.all(sessions.map(({ room }) => said(room)))).every((list) => list.length === 1),
    'all answer',
  )
  // One worker stops in order; the other continues its sessions.
  await second.stop()
  await Promise.all(sessions.map(({ room }) => world.say(room, 'two')))
  await eventually(
    async () => (await Promise.all(sessions.map(({ room }) => said(room)))).every((list) => list.length === 2),
    'all answer again',
  )
  for (const { id, token } of sessions) await world.control('POST', `/sessions/${id}/stop`, token)
})

test('the ledger is consistent after all tests', async () => {
  assert.deepEqual((await auditLedger(world.api.ctx.db)).findings, [])
})
