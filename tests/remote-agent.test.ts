import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { SessionLaunched } from '../packages/client/src/agent-request.ts'
import { SessionOverError, type AgentSession } from '../packages/client/src/agent-session.ts'
import { joinSession, verifyAgentRequest } from '../packages/client/src/remote-agent.ts'
import { signWebhook } from '../packages/client/src/verify-webhook.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { freePort, startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { askGood } from './support/call-api.ts'
import { queryDatabase } from './support/query-database.ts'
import { eventually, openAgency, saidByAgents, startEndpoint, type Launched } from './support/remote-agents.ts'
import { newRoom } from './support/sessions.ts'

const example = fileURLToPath(new URL('../examples/paid-agent/agent.ts', import.meta.url))

let database: TestDatabase
let atrium: AtriumProcess
let agency: Awaited<ReturnType<typeof openAgency>>

before(async () => {
  database = await createTestDatabase()
  atrium = await startAtrium({ databaseUrl: database.url, space: true, env: { ATRIUM_EGRESS: 'loopback' } })
  agency = await openAgency(atrium.origin)
})

after(async () => {
  await atrium?.end('SIGKILL')
  await database?.drop()
})

describe('the example agent', () => {
  let agent: ChildProcess
  let agentUrl: string
  let agentId: string
  let secret: string
  let output = ''

  before(async () => {
    const port = await freePort()
    agentUrl = `http://127.0.0.1:${port}/`
    ;({ agentId, secret } = await agency.register(agentUrl))
    const env = { ...process.env, PORT: String(port), SIGNING_SECRET: secret }
    agent = spawn(process.execPath, [example], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [agent.stdout!, agent.stderr!]) stream.on('data', (chunk) => (output += chunk))
    await eventually(async () => output.includes('waiting for launches'), 'it listens')
  })
  after(() => agent.kill())

  test('joins when it is launched, answers people as itself, leaves when it is stopped, and is paid', async () => {
    const { id, room, coupon, status, stop } = await agency.launch(agentId)
    const [greeting] = await eventually(async () => (await saidByAgents(room)).length > 0 && saidByAgents(room), 'it greets')
    assert.match(greeting!.message.text, /^Dice at your service/)
    assert.equal((await status()).status, 'running')
    // The lease of the worker that notified the agent runs out, and nobody takes it.
    await queryDatabase(database.url, `update sessions set lease_until = now() - interval '1 second' where id = $1`, [id])
    const { data } = await askGood(atrium.origin, 'GET /v1/operator/queues', { operator: true })
    const { queues } = data as unknown as { queues: { name: string; depth: number }[] }
    assert.equal(queues.find(({ name }) => name === 'sessions')!.depth, 0, 'it waits for no worker')
    assert.deepEqual(await agency.balance(coupon), [2, 3])
    const asked = await room.say('2d6, please')
    const answer = await eventually(async () => (await saidByAgents(room))[1], 'it answers')
    const [, one, two, sum] = /^(\d) \+ (\d) = (\d+)$/.exec(answer.message.text)!
    assert.equal(Number(one) + Number(two), Number(sum))
    assert.equal(answer.message.reply_to, asked.id)
    const { kind, id: authorId, name, proven } = answer.author
    assert.deepEqual([kind, authorId, name, proven], ['agent', agentId, 'Dice', true])
    await stop()
    await eventually(async () => output.includes(`${id}: over`), 'it leaves')
    const settled = await status()
    assert.deepEqual([settled.status, settled.charged_credits], ['stopped', 3])
    assert.deepEqual(await agency.balance(coupon), [2, 0])
    await room.say('d20')
    const probe = await agency.launch(agentId)
    await probe.room.say('d20')
    await eventually(async () => (await saidByAgents(probe.room)).length === 2, 'it answers elsewhere')
    assert.equal((await saidByAgents(room)).length, 2)
    await probe.stop()
  })

  test('answers what is said from the launch on, also before it was there, and nothing from before', async () => {
    const secret = newRoom()
    const early = agency.openRoom(secret)
    await early.say('d4')
    const { room, stop } = await agency.launch(agentId, secret)
    const asked = await room.say('d6')
    const answers = await eventually(async () => {
      const said = (await saidByAgents(room)).filter(({ message }) => message.reply_to)
      return said.length > 0 && said
    }, 'it answers')
    assert.deepEqual(
      answers.map(({ message }) => message.reply_to),
      [asked.id],
    )
    await stop()
  })

  test('rejects a forged, unsigned or old launch and joins nothing', async () => {
    const launched = { type: 'session.launched', session_id: 'ses_forged', control_url: 'http://127.0.0.1:1/sessions/ses_forged' }
    const body = JSON.stringify(launched)
    const post = async (headers: Record<string, string>) => (await fetch(agentUrl, { method: 'POST', body, headers })).status
    const genuine = await signWebhook(body, secret, { id: 'msg_1' })
    const old = await signWebhook(body, secret, { id: 'msg_1', at: new Date(Date.now() - 301_000) })
    const foreign = await signWebhook(body, `whsec_${Buffer.from('another secret').toString('base64')}`, { id: 'msg_1' })
    for (const headers of [
      {},
      old,
      foreign,
      { ...genuine, 'webhook-id': 'msg_2' },
      { ...old, 'webhook-timestamp': genuine['webhook-timestamp'] },
    ])
      assert.equal(await post(headers), 401)
    assert.ok(!output.includes('ses_forged'))
    // The same, and genuine: it tries.
    assert.equal(await post(genuine), 204)
    await eventually(async () => output.includes('ses_forged: left early'), 'it tries to join', 60_000)
  })
})

describe('the kit', () => {
  test('a launch request has the documented fields, and a repeated one joins and greets only once', async (t) => {
    const sessions: AgentSession[] = []
    const endpoint = await startEndpoint(t, async (body, headers) => {
      const request = await verifyAgentRequest(body, headers, secret)
      if (request.type === 'session.launched') sessions.push(await joinSession(request))
      return 204
    })
    const { agentId, secret } = await agency.register(endpoint.url)
    const { id, room, stop, status } = await agency.launch(agentId)
    await eventually(async () => sessions.length === 1, 'it joins')
    const { body, headers } = endpoint.requests[0]!
    const launched = endpoint.launched()
    const { control_token: token, expires_at: expiresAt, ...rest } = launched
    assert.deepEqual(rest, {
      type: 'session.launched',
      session_id: id,
      agent_id: agentId,
      room: room.room,
      mk: room.mk,
      space_url: `${atrium.origin}/v1/space`,
      control_url: `${atrium.origin}/sessions/${id}`,
      max_minutes: 30,
      metadata: { table: 'green' },
    })
    assert.match(token, /^sct_/)
    assert.ok(Date.parse(expiresAt) > Date.now())
    // As when the answer to the first one was lost.
    assert.equal((await fetch(endpoint.url, { method: 'POST', body, headers: headers as Record<string, string> })).status, 204)
    assert.equal(sessions.length, 2)
    const asked = await room.say('Who is there?')
    for (const session of sessions) {
      for await (const entry of session.entries) {
        await session.reply(entry, 'It is I.')
        break
      }
    }
    assert.deepEqual(
      (await saidByAgents(room)).map(({ message }) => message.reply_to),
      [asked.id],
    )
    assert.equal((await status()).status, 'running')
    await stop()
  })

  test('a stopped session ends its entries and aborts its signal without a session.ended request, and writes nothing more', async (t) => {
    let session: AgentSession | undefined
    const endpoint = await startEndpoint(t, async (body) => {
      const request = JSON.parse(body) as SessionLaunched
      // That the session ended never arrives.
      if (request.type === 'session.launched') session = await joinSession(request, { lookEveryMs: 200 })
      return 204
    })
    const { agentId } = await agency.register(endpoint.url)
    const { room, stop } = await agency.launch(agentId)
    const joined = await eventually(async () => session, 'it joins')
    const heard: string[] = []
    const listening = (async () => {
      for await (const { message } of joined.entries) heard.push(message.text)
    })()
    await joined.say('Hello.')
    await room.say('Good evening.')
    await eventually(async () => heard.length > 0, 'it hears')
    await stop()
    await listening
    assert.deepEqual(heard, ['Good evening.'])
    assert.ok(joined.signal.reason instanceof SessionOverError)
    await assert.rejects(joined.say('One more thing.'), SessionOverError)
    assert.equal((await saidByAgents(room)).length, 1)
    assert.equal((await joined.status()).status, 'stopped')
    await joined.stop()
  })

  test('an agent that stops by itself is paid', async (t) => {
    let session: AgentSession | undefined
    const endpoint = await startEndpoint(t, async (body) => {
      const request = JSON.parse(body) as SessionLaunched
      if (request.type === 'session.launched') session = await joinSession(request)
      return 204
    })
    const { agentId } = await agency.register(endpoint.url)
    const { coupon, status } = await agency.launch(agentId)
    await (await eventually(async () => session, 'it joins')).stop()
    const { status: ended, charged_credits: charged } = await status()
    assert.deepEqual([ended, charged, await agency.balance(coupon)], ['stopped', 3, [2, 0]])
    // A launch from before the end starts nothing.
    await assert.rejects(joinSession(endpoint.launched()), { code: 'state_conflict' })
  })
})

describe('an endpoint', { concurrency: true }, () => {
  async function failed({ status }: Launched, withinMs: number): Promise<string | undefined> {
    const over = await eventually(
      async () => {
        const now = await status()
        return now.status === 'failed' && now
      },
      'it fails',
      withinMs,
    )
    assert.equal(over.charged_credits, 0)
    return over.error?.code
  }

  test('that never confirms fails its session after 30 seconds, and the hold is released', async (t) => {
    const endpoint = await startEndpoint(t, () => 204)
    const { agentId } = await agency.register(endpoint.url)
    const startedAt = Date.now()
    const launched = await agency.launch(agentId)
    assert.deepEqual(await agency.balance(launched.coupon), [2, 3])
    assert.equal(await failed(launched, 45_000), 'agent_never_came')
    assert.ok(Date.now() - startedAt >= 29_000)
    assert.deepEqual(await agency.balance(launched.coupon), [5, 0])
    await assert.rejects(joinSession(endpoint.launched()), { code: 'state_conflict' })
  })

  test('that answers 500 is asked three times and then fails its session, and the hold is released', async (t) => {
    const endpoint = await startEndpoint(t, () => 500)
    const { agentId } = await agency.register(endpoint.url)
    const launched = await agency.launch(agentId)
    assert.equal(await failed(launched, 30_000), 'agent_unreachable')
    assert.deepEqual(await agency.balance(launched.coupon), [5, 0])
    const launches = endpoint.requests.filter(({ body }) => body.includes('session.launched'))
    assert.deepEqual([launches.length, new Set(launches.map(({ headers }) => headers['webhook-id'])).size], [3, 1])
  })

  test('whose agent came, whatever it answered, keeps its session, and is paid', async (t) => {
    let joined: Promise<AgentSession> | undefined
    const endpoint = await startEndpoint(t, async (body) => {
      const request = JSON.parse(body) as SessionLaunched
      if (request.type === 'session.launched') joined ??= joinSession(request)
      await joined
      return 500
    })
    const { agentId } = await agency.register(endpoint.url)
    const { coupon, status, stop } = await agency.launch(agentId)
    await eventually(async () => endpoint.requests.length >= 3, 'it is asked three times', 30_000)
    // All actions after the third bad answer have had time to happen.
    await delay(1_000)
    assert.equal((await status()).status, 'running')
    await stop()
    const { status: ended, charged_credits: charged } = await status()
    assert.deepEqual([ended, charged, await agency.balance(coupon)], ['stopped', 3, [2, 0]])
  })
})
