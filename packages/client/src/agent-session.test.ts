import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { AGENT_TOKEN_TYPE } from '@atrium/identity/agent-token'
import { type EcPublicJwk, thumbprint } from '@atrium/identity/thumbprint'
import { fresh, now, scribe, startAgentWorld } from '../../space/src/testing/agent-world.ts'
import type { SessionLaunched } from './agent-request.ts'
import { type AgentSession, SessionOverError } from './agent-session.ts'
import { NotAuthorizedError } from './errors.ts'
import { openRoom } from './open-room.ts'
import { joinSession, type JoinOptions } from './remote-agent.ts'

let world: Awaited<ReturnType<typeof startAgentWorld>>

/** The fake platform's state of the session. */
const session = { status: 'running', createdAt: '', asked: [] as string[], token: {}, refuses: 0, swallows: '' }
beforeEach(() => {
  const createdAt = new Date().toISOString()
  Object.assign(session, { status: 'running', createdAt, asked: [], token: {}, refuses: 0, swallows: '' })
})

const control = createServer(async (req, res) => {
  const path = req.url!.split('/').at(-1)!
  const body = await text(req)
  session.asked.push(`${req.method} ${path}`)
  if (session.swallows === path) return void (session.swallows = '')
  const code = { 401: 'unauthorized', 404: 'not_found', 500: 'internal_error' }[session.refuses]
  if (code) return res.writeHead(session.refuses).end(JSON.stringify({ error: { code, message: 'No.' } }))
  const answers: Record<string, () => unknown> = {
    'id-token': async () => ({ id_token: await agentToken((JSON.parse(body) as { spk: EcPublicJwk }).spk) }),
    joined: () => ({ status: 'running', created_at: session.createdAt }),
    stop: () => ({ sessionId: 'ses_1', status: 'stopped' }),
    ses_1: () => ({ status: session.status }),
  }
  res.setHeader('content-type', 'application/json').end(JSON.stringify({ data: await answers[path]!() }))
})

before(async () => {
  world = await startAgentWorld()
  await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve))
})
after(async () => {
  control.closeAllConnections()
  control.close()
  await world.close()
})

function agentToken(spk: EcPublicJwk): Promise<string> {
  const claims = {
    sub: scribe,
    name: 'Scribe',
    nonce: thumbprint(spk),
    email: undefined,
    email_verified: undefined,
    ...session.token,
  }
  return world.platform.provider.sign(claims, { typ: AGENT_TOKEN_TYPE })
}

const joined: AgentSession[] = []
afterEach(() => {
  for (const agent of joined.splice(0)) agent.end()
})

async function join(secret: { room: string; mk: string }, net: Pick<JoinOptions, 'fetch'> = {}): Promise<AgentSession> {
  const origin = `http://127.0.0.1:${(control.address() as AddressInfo).port}`
  const launch = {
    session_id: 'ses_1',
    agent_id: scribe,
    ...secret,
    space_url: `${world.space.origin}/space`,
    control_url: `${origin}/sessions/ses_1`,
  }
  const agent = await joinSession({ ...launch, control_token: 'sct_test' } as SessionLaunched, { lookEveryMs: 50, ...net })
  joined.push(agent)
  return agent
}

/** The requests except the status polls, whose times vary. */
const posted = () => session.asked.filter((line) => line.startsWith('POST'))
const open = (secret: { room: string; mk: string }) => openRoom({ spaceUrl: `${world.space.origin}/space`, ...secret })

/** The texts of its entries until the session ends, or until there are `count`. */
async function hear({ entries }: AgentSession, count = Infinity): Promise<string[]> {
  const heard: string[] = []
  for await (const { message } of entries) if (heard.push(message.text) === count) break
  return heard
}

test('an agent enters a room with a list that has admitted it, proves its key, and only then confirms', async () => {
  const { secret } = await world.emailRoom()
  const agent = await join(secret)
  assert.deepEqual(posted(), ['POST id-token', 'POST joined'])
  const said = await agent.say('Here I am.')
  const [entry] = (await agent.room.poll()).entries
  assert.equal(entry!.id, said.id)
  const { key, ...author } = entry!.author
  assert.deepEqual(author, { kind: 'agent', id: scribe, name: 'Scribe', proven: true })
  assert.equal(key!.length, 43)
})

for (const path of ['id-token', 'joined'])
  test(`an agent whose request ${path} is never answered asks again in time to join`, async () => {
    session.swallows = path
    const startedAt = performance.now()
    const { secret } = await world.emailRoom()
    await join(secret)
    assert.ok(performance.now() - startedAt < 20_000, 'within 30 seconds of the launch')
    assert.equal(posted().filter((line) => line === `POST ${path}`).length, 2)
  })

test('an agent that is not on the list does not confirm', async () => {
  const { secret } = await world.emailRoom({})
  await assert.rejects(join(secret), { code: 'not_authorized', reason: 'not_on_list' })
  assert.deepEqual(posted(), ['POST id-token'])
})

test('entries are the messages of others since the launch, also in long rooms, and never the agent’s own', async () => {
  const room = open(fresh())
  for (let n = 0; n < 6; n++) await Promise.all(Array.from({ length: 100 }, () => room.say('before')))
  const { at } = await room.say('the last before')
  session.createdAt = new Date(Date.parse(at) + 1).toISOString()
  // Not in the same millisecond.
  while (Date.now() <= Date.parse(at)) await new Promise((resolve) => setImmediate(resolve))
  await room.say('launched')
  const agent = await join(room)
  await agent.say('own')
  await room.say('joined')
  assert.deepEqual(await hear(agent, 2), ['launched', 'joined'])
})

test('entries are those since the launch also where the messages before fill more than a page', async () => {
  const room = open(fresh())
  const long = 'x'.repeat(16_000)
  for (let n = 0; n < 13; n++) await Promise.all(Array.from({ length: 10 }, () => room.say(long)))
  const { at } = await room.say('the last before')
  session.createdAt = new Date(Date.parse(at) + 1).toISOString()
  while (Date.now() <= Date.parse(at)) await new Promise((resolve) => setImmediate(resolve))
  await room.say('launched')
  assert.deepEqual(await hear(await join(room), 1), ['launched'])
})

test('a room without any message is waited for', async () => {
  const room = open(fresh())
  const agent = await join(room)
  const heard = hear(agent, 1)
  await room.say('first')
  assert.deepEqual(await heard, ['first'])
})

test('an entry is answered once, however often', async () => {
  const room = open(fresh())
  const entry = { ...(await room.say('Who?')) }
  const agents = [await join(room), await join(room)]
  const replies = await Promise.all(agents.flatMap((agent) => [agent.reply(entry, 'I.'), agent.reply(entry, 'I!')]))
  assert.equal(new Set(replies.map(({ seq }) => seq)).size, 1)
  assert.equal((await room.poll()).entries.length, 2)
})

test('when the status is ended or the control token is rejected, the entries end and the signal aborts', async () => {
  for (const end of [{ status: 'stopped' }, { status: 'failed' }, { status: 'expired' }, { refuses: 401 }, { refuses: 404 }]) {
    Object.assign(session, { status: 'running', refuses: 0 })
    const room = open(fresh())
    await room.say('hello')
    const agent = await join(room)
    const entries = agent.entries[Symbol.asyncIterator]()
    assert.equal((await entries.next()).value.message.text, 'hello')
    Object.assign(session, end)
    assert.equal((await entries.next()).done, true)
    assert.ok(agent.signal.reason instanceof SessionOverError)
    await assert.rejects(agent.say('too late'), SessionOverError)
  }
})

test('a temporary outage of the platform does not end the session', async () => {
  const room = open(fresh())
  await room.say('hello')
  const agent = await join(room)
  const before = session.asked.length
  session.refuses = 500
  while (session.asked.length < before + 3) await new Promise((resolve) => setImmediate(resolve))
  session.refuses = 0
  const heard = hear(agent, 2)
  await room.say('still there?')
  assert.deepEqual(await heard, ['hello', 'still there?'])
})

test('the entries of an agent that is removed from the room throw', async () => {
  const { secret, owner } = await world.emailRoom()
  const agent = await join(secret)
  const heard = hear(agent)
  const expelled = await world.space.call('expel', { ...secret, agents: [scribe], ...owner.identity })
  assert.equal(expelled.status, 200, JSON.stringify(expelled.body))
  await assert.rejects(heard, (error: unknown) => error instanceof NotAuthorizedError && error.reason === 'revoked')
})

test('a token that expires early is replaced, without missing or repeating an entry', async () => {
  const { secret, owner } = await world.emailRoom()
  const room = openRoom({ spaceUrl: `${world.space.origin}/space`, ...secret, identity: owner.identity as never })
  session.token = { iat: now() - 37, exp: now() + 8 }
  const agent = await join(secret)
  const heard = hear(agent, 2)
  await room.say('one')
  const poll = () =>
    agent.room.poll().then(
      () => true,
      () => false,
    )
  while (await poll()) await delay(50)
  session.token = {}
  await room.say('two')
  assert.deepEqual(await heard, ['one', 'two'])
})

test('a message that was stored is not written again after a token that expired', async () => {
  const { secret } = await world.emailRoom()
  let turns = 0
  const agent = await join(secret, {
    fetch: async (url, init) => {
      const isTurn = typeof init?.body === 'string' && init.body.includes('"op":"turn"')
      if (isTurn && ++turns === 2) return Response.json({ error: 'not_authorized', reason: 'token: expired' }, { status: 403 })
      const res = await fetch(url, init)
      if (isTurn && turns === 1) throw new TypeError('the answer was lost')
      return res
    },
  })
  await agent.say('once')
  assert.equal(turns, 3)
  assert.equal((await agent.room.poll()).entries.length, 1)
})

test('a launch whose control_url is not that of its session is refused', async () => {
  const launch = { session_id: 'ses_1', control_url: 'https://elsewhere.example/sessions/ses_2', ...fresh() }
  await assert.rejects(joinSession(launch as SessionLaunched), TypeError)
})
