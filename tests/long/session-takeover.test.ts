import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { startProviderServer } from '../../packages/server/testing/provider-server.ts'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { call, makeTenant } from '../support/call-api.ts'
import { fundIssuer } from '../support/fund-issuer.ts'
import { childPids } from '../support/worker-pids.ts'

let database: TestDatabase
let atrium: AtriumProcess
let secret: string

before(async () => {
  database = await createTestDatabase()
  atrium = await startAtrium({ databaseUrl: database.url, space: true, env: { ATRIUM_EGRESS: 'loopback' } })
  secret = (await makeTenant(atrium.origin)).secret
  await fundIssuer(atrium.origin, secret, 1_000)
})

after(async () => {
  await atrium.end('SIGKILL')
  await database.drop()
})

interface Room {
  room: string
  mk: string
}

interface Entry {
  author: { kind: string }
  message: { text: string; reply_to?: string }
  id: string
}

async function space(op: string, fields: object) {
  const res = await fetch(`${atrium.origin}/v1/space`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ op, ...fields }),
  })
  return (await res.json()) as { entries?: Entry[]; id?: string }
}

const say = (room: Room, text: string) => space('turn', { ...room, message: { text } })
const answers = async (room: Room) =>
  ((await space('poll', { ...room, sinceCount: 0 })).entries ?? []).filter(({ author }) => author.kind === 'agent')

async function eventually(holds: () => Promise<boolean>, withinMs: number, what: string): Promise<number> {
  const startedAt = Date.now()
  while (!(await holds())) {
    assert.ok(Date.now() - startedAt < withinMs, what)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return Date.now() - startedAt
}

async function launchInto(room: Room, more: object = {}): Promise<{ id: string; token: string }> {
  const manifest = { name: 'Echo', description: 'd', instructions: '', price_credits: 1, max_minutes: 30, ...more }
  const agent = await call(atrium.origin, 'POST /agents', { key: secret, body: manifest })
  await call(atrium.origin, `PUT /agents/${agent.data.id}/status`, { key: secret, body: { status: 'private' } })
  const granted = await call(atrium.origin, 'POST /v1/wallets/grant', {
    key: secret,
    idempotencyKey: randomUUID(),
    body: { amount: 1 },
  })
  const body = { agent_id: agent.data.id, room, coupon: (granted.data as unknown as { coupon: string }).coupon }
  const launched = await call(atrium.origin, 'POST /v1/sessions', { key: secret, idempotencyKey: randomUUID(), body })
  assert.equal(launched.status, 201, launched.text)
  return { id: launched.data.id, token: (launched.data as unknown as { control_token: string }).control_token }
}

const newRoom = (): Room => ({ room: `room-${randomUUID()}`, mk: randomBytes(32).toString('base64url') })
const jobWorker = () => childPids(atrium.pid, 'job-worker-main.ts')[0]

test("a killed worker's sessions are taken over within 60 seconds and continue at the end of their rooms, with each turn answered once", async (t) => {
  const rooms = Array.from({ length: 5 }, newRoom)
  const sessions = await Promise.all(rooms.map((room) => launchInto(room)))
  for (const room of rooms) await say(room, 'before')
  await eventually(async () => (await Promise.all(rooms.map(answers))).every((list) => list.length === 1), 10_000, 'all answer')
  // Some turns arrive just before the worker answers them, and some while there is no worker.
  await Promise.all(rooms.map((room) => say(room, 'at the kill')))
  const killed = jobWorker()!
  process.kill(killed, 'SIGKILL')
  await Promise.all(rooms.map((room) => say(room, 'while it is dead')))
  const last = await Promise.all(rooms.map((room) => say(room, 'the last one')))
  const tookMs = await eventually(
    async () => {
      const lists = await Promise.all(rooms.map(answers))
      return lists.every((list, i) => list.some(({ message }) => message.reply_to === last[i]!.id))
    },
    60_000,
    'the last turn is answered in every room',
  )
  t.diagnostic(`taken over and answered after ${tookMs} ms`)
  assert.notEqual(jobWorker(), killed)
  for (const list of await Promise.all(rooms.map(answers))) {
    const answered = list.map(({ message }) => message.reply_to)
    assert.equal(new Set(answered).size, answered.length, 'no turn is answered twice')
  }
  for (const { id, token } of sessions) await call(atrium.origin, `POST /sessions/${id}/stop`, { key: token })
})

test('a worker that was suspended for twice its lease and resumes does not repeat a turn of another worker', async () => {
  const room = newRoom()
  const { id, token } = await launchInto(room)
  await say(room, 'before')
  await eventually(async () => (await answers(room)).length === 1, 10_000, 'it answers')
  const stopped = jobWorker()!
  process.kill(stopped, 'SIGSTOP')
  const second = await startAtrium({
    databaseUrl: database.url,
    env: { ATRIUM_SPACES_URL: atrium.spacesOrigin, ATRIUM_PUBLIC_URL: atrium.origin },
  })
  try {
    const turn = await say(room, 'while it stands still')
    await eventually(
      async () => (await answers(room)).some(({ message }) => message.reply_to === turn.id),
      60_000,
      'the other worker answers',
    )
    process.kill(stopped, 'SIGCONT')
    const next = await say(room, 'after it goes on')
    await eventually(
      async () => (await answers(room)).some(({ message }) => message.reply_to === next.id),
      10_000,
      'one of them answers',
    )
    const answered = (await answers(room)).map(({ message }) => message.reply_to)
    assert.equal(new Set(answered).size, answered.length, 'no turn is answered twice')
    assert.equal(answered.length, 3)
    await call(atrium.origin, `POST /sessions/${id}/stop`, { key: token })
  } finally {
    process.kill(stopped, 'SIGCONT')
    await second.end('SIGKILL')
  }
})

test('a worker that was suspended during a model call and then gets a rejection does not end the session', async () => {
  const provider = await startProviderServer()
  provider.otherwise = () => ({ silent: true })
  const keys = { openai_compatible: { url: provider.compatibleUrl, key: 'sk-of-a-test' } }
  await call(atrium.origin, 'PUT /v1/tenant/provider-keys', { key: secret, body: keys })
  const room = newRoom()
  const { id, token } = await launchInto(room, { model: { provider: 'openai_compatible', id: 'lamp-1' } })
  const stateOf = async () => {
    const { status, charged_credits: charged } = (await call(atrium.origin, `GET /sessions/${id}`, { key: token }))
      .data as unknown as Record<string, unknown>
    return [status, charged]
  }
  provider.script({ text: ['Good evening.'] })
  await say(room, 'before')
  await eventually(async () => (await answers(room)).length === 1, 10_000, 'it answers, so that its end would be charged')
  const turn = await say(room, 'while the worker stands still')
  await eventually(async () => provider.requests.length === 2, 10_000, 'the model is asked')
  const stopped = jobWorker()!
  process.kill(stopped, 'SIGSTOP')
  const second = await startAtrium({
    databaseUrl: database.url,
    env: { ATRIUM_SPACES_URL: atrium.spacesOrigin, ATRIUM_PUBLIC_URL: atrium.origin, ATRIUM_EGRESS: 'loopback' },
  })
  try {
    provider.otherwise = () => ({ text: ['Here I am.'] })
    const answered = async () => (await answers(room)).filter(({ message }) => message.reply_to === turn.id)
    await eventually(async () => (await answered()).length === 1, 60_000, 'the other worker answers')
    await new Promise((resolve) => setTimeout(resolve, 30_000))
    provider.refuseSilent(401, { error: { message: 'Incorrect API key provided' } })
    process.kill(stopped, 'SIGCONT')
    // A further turn is answered after the stopped worker has checked its lease.
    const next = await say(room, 'after it goes on')
    const afterwards = async () => (await answers(room)).some(({ message }) => message.reply_to === next.id)
    await eventually(afterwards, 10_000, 'the session goes on')
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    assert.deepEqual(await stateOf(), ['running', 0])
    const texts = (await answers(room)).map(({ message }) => message.text)
    assert.deepEqual(texts, ['Good evening.', 'Here I am.', 'Here I am.'])
    await call(atrium.origin, `POST /sessions/${id}/stop`, { key: token })
    assert.deepEqual(await stateOf(), ['stopped', 1])
  } finally {
    process.kill(stopped, 'SIGCONT')
    await second.end('SIGKILL')
    await provider.close()
  }
})

test('a stop is obeyed within two seconds', async () => {
  const room = newRoom()
  const { id, token } = await launchInto(room)
  await say(room, 'hello')
  await eventually(async () => (await answers(room)).length === 1, 10_000, 'it answers')
  assert.equal((await call(atrium.origin, `POST /sessions/${id}/stop`, { key: token })).status, 200)
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  await say(room, 'are you still there?')
  const other = newRoom()
  const probe = await launchInto(other)
  await say(other, 'hello')
  await eventually(async () => (await answers(other)).length === 1, 10_000, 'another session answers meanwhile')
  assert.equal((await answers(room)).length, 1)
  await call(atrium.origin, `POST /sessions/${probe.id}/stop`, { key: probe.token })
})
