import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, beforeEach, test } from 'node:test'
import { createClient } from './create-client.ts'
import { errorAnswer, failureOf, startScriptedServer } from './testing/scripted-server.ts'

const server = await startScriptedServer()
after(() => server.stop())

const waitsMs: number[] = []
beforeEach(() => waitsMs.splice(0))
const wait = async (ms: number) => void waitsMs.push(ms)

const { origin, seen } = server
const client = createClient({ baseUrl: origin, key: 'wpk_test', wait })
const item = { id: 'col_1', body: { type: 'message', content: [1] } }
const keysOf = () => new Set(seen.map(({ headers }) => headers['idempotency-key']))

test('a GET and a PUT are retried after a cut connection, a 503, a 429 and a 502 or 504 of a proxy, up to the limit', async () => {
  server.script({ cut: true }, errorAnswer(503, 'unavailable'), { body: { data: { id: 'ten_1' } } })
  assert.equal((await client.getTenant()).data.id, 'ten_1')
  server.script({ status: 504, body: '<html>' }, { status: 502 }, { body: { data: { id: 'agt_1' } } })
  assert.equal((await client.setAgentStatus({ agentId: 'agt_1', body: { status: 'active' } })).data.id, 'agt_1')
  server.script(...Array.from({ length: 4 }, () => errorAnswer(429, 'rate_limited')))
  assert.equal((await failureOf(client.getTenant())).code, 'rate_limited')
  assert.equal(seen.length, 3)
})

test('a POST gets a new idempotency key per call, and its retries send the same key and bytes', async () => {
  const inProgress = errorAnswer(409, 'idempotency_in_progress', { 'retry-after': '1' })
  server.script({ cut: true }, inProgress, { status: 201, body: { data: { id: 'itm_1' } } })
  await client.addItem(item)
  assert.equal(seen.length, 3)
  assert.equal(new Set(seen.map(({ body }) => body)).size, 1)
  const [first, ...others] = keysOf()
  assert.deepEqual(others, [])
  assert.match(first as string, /^[\w-]{22}$/)
  server.script({ status: 201, body: { data: { id: 'itm_2' } } })
  await client.addItem(item)
  assert.notEqual([...keysOf()][0], first)
})

test("the caller's idempotency key is sent unchanged", async () => {
  server.script({ cut: true }, { status: 201, body: { data: { id: 'itm_1' } } })
  await client.addItem({ ...item, idempotencyKey: 'once' })
  assert.deepEqual([...keysOf()], ['once'])
})

test('a call that is neither a GET nor keyed is retried only if the caller sets `repeatable`', async () => {
  const input = { id: 'ses_1', controlToken: 'sct_test' }
  server.script({ cut: true })
  assert.equal((await failureOf(client.stopSession(input))).code, 'network_error')
  assert.deepEqual([...keysOf()], [undefined])
  server.script(errorAnswer(503, 'unavailable'))
  await failureOf(client.deleteCollection({ id: 'col_1', collectionToken: 'cat_test' }))
  assert.equal(seen.length, 1)
  server.script({ cut: true }, { body: { data: { status: 'stopped' } } })
  assert.equal((await client.stopSession({ ...input, repeatable: true })).data.status, 'stopped')
})

const launch = {
  body: { agent_id: 'agt_1', room: { room: 'r', mk: 'm'.repeat(22) }, coupon: 'cpn_1' },
  idempotencyKey: 'launch-1',
}
const outcome = (data: object) => ({ body: { data } })
const lines = () => seen.map(({ line }) => line)
const lookup = 'POST /v1/outcomes/lookup'

test('before it repeats a call that bills, the client asks for the outcome of the lost one', async () => {
  const data = { id: 'ses_1', status: 'launching' }
  const done = { state: 'done', status: 201, answer: { data }, expires_at: '2026-11-21T09:30:00.000Z' }
  server.script({ cut: true }, outcome(done))
  const found = await client.launchSession(launch)
  assert.deepEqual([found.status, found.data], [201, data])
  assert.deepEqual(
    [...found.headers],
    [
      ...new Headers({
        'content-type': 'application/json; charset=utf-8',
        'idempotency-expires': done.expires_at,
        'idempotency-status': 'replayed',
      }),
    ],
  )
  assert.deepEqual(lines(), ['POST /v1/sessions', lookup])
  assert.deepEqual(JSON.parse(seen[1]!.body), {
    idempotency_key: 'launch-1',
    operation: 'launchSession',
    path: '/v1/sessions',
    body_sha256: hash('sha256', seen[0]!.body),
  })
  assert.deepEqual([seen[1]!.headers.authorization, seen[1]!.headers['idempotency-key']], ['Bearer wpk_test', undefined])
})

test('below a prefix of a proxy, the API is asked there, for the path that it saw', async () => {
  const below = createClient({ baseUrl: `${origin}/proxied/v1`, key: 'wpk_test', wait })
  const done = { state: 'done', status: 201, answer: { data: { id: 'ses_1' } }, expires_at: '2026-11-21T09:30:00.000Z' }
  server.script({ cut: true }, outcome(done))
  await below.launchSession(launch)
  assert.deepEqual(lines(), ['POST /proxied/v1/sessions', 'POST /proxied/v1/outcomes/lookup'])
  assert.equal(JSON.parse(seen[1]!.body).path, '/v1/sessions')
})

test('without a stored answer, or where it cannot be asked for, the call is repeated', async () => {
  for (const unknown of [
    outcome({ state: 'none' }),
    outcome({ state: 'in_progress' }),
    errorAnswer(404, 'not_found'),
    { cut: true },
  ]) {
    server.script({ cut: true }, unknown, { status: 201, body: { data: { id: 'ses_1' } } })
    assert.equal((await client.launchSession(launch)).status, 201)
    assert.deepEqual(lines(), ['POST /v1/sessions', lookup, 'POST /v1/sessions'])
    assert.equal(seen[0]!.body, seen[2]!.body)
  }
})

test('a call that must not be repeated is asked for once its answer is lost', async () => {
  const done = { state: 'done', status: 201, answer: { data: { id: 'itm_1' } }, expires_at: '2026-11-21T09:30:00.000Z' }
  server.script({ cut: true }, outcome(done))
  assert.equal((await client.addItem({ ...item, repeatable: false })).data.id, 'itm_1')
  server.script({ cut: true }, outcome({ state: 'none' }))
  assert.equal((await failureOf(client.addItem({ ...item, repeatable: false }))).code, 'network_error')
  assert.deepEqual(lines(), ['POST /v1/collections/col_1/items', lookup])
})

test('a 429 is retried for every call, because the call had no effect', async () => {
  server.script(errorAnswer(429, 'rate_limited'), { body: { data: { sessionId: 'ses_1', status: 'stopped' } } })
  assert.equal((await client.stopSession({ id: 'ses_1' })).data.status, 'stopped')
})

test('other errors are not retried', async () => {
  for (const [status, code] of [
    [500, 'internal_error'],
    [409, 'idempotency_key_reused'],
    [402, 'insufficient_credit'],
  ] as const) {
    server.script(errorAnswer(status, code))
    assert.equal((await failureOf(client.addItem(item))).code, code)
    assert.equal(seen.length, 1)
  }
})

test('a retry waits for Retry-After, in seconds or as a date; above a minute there is no retry', async () => {
  server.script(errorAnswer(429, 'rate_limited', { 'retry-after': '2' }), { body: { data: {} } })
  await client.getTenant()
  assert.equal(waitsMs.length, 1)
  assert.ok(waitsMs[0]! >= 2_000 && waitsMs[0]! < 2_250, String(waitsMs[0]))
  const date = new Date(Date.now() + 30_000).toUTCString()
  server.script(errorAnswer(503, 'unavailable', { 'retry-after': date }), { body: { data: {} } })
  await client.getTenant()
  assert.ok(waitsMs[1]! > 25_000 && waitsMs[1]! < 31_000, String(waitsMs[1]))
  server.script(errorAnswer(503, 'unavailable', { 'retry-after': '61' }))
  await failureOf(client.getTenant())
  assert.equal(waitsMs.length, 2)
  // RFC 9110 has no fractions, and some proxies send them.
  server.script(errorAnswer(503, 'unavailable', { 'retry-after': '3.5' }), { body: { data: {} } })
  await client.getTenant()
  assert.ok(waitsMs[2]! >= 3_500, String(waitsMs[2]))
})

test('delays grow and are random', async () => {
  const patient = createClient({ baseUrl: origin, retries: 8, wait })
  server.script(...Array.from({ length: 9 }, () => errorAnswer(503, 'unavailable')))
  await failureOf(patient.getTenant())
  assert.equal(waitsMs.length, 8)
  for (const [tried, ms] of waitsMs.entries()) assert.ok(ms <= Math.min(8_000, 250 * 2 ** tried), `${tried}: ${ms}`)
  assert.ok(new Set(waitsMs).size === 8 && waitsMs.some((ms) => ms > 500), String(waitsMs))
})

test('an abort of the caller ends it, with its reason', async () => {
  const aborting = new AbortController()
  const impatient = createClient({
    baseUrl: origin,
    wait: async (_, signal) => {
      aborting.abort(new Error('enough'))
      signal?.throwIfAborted()
    },
  })
  server.script(errorAnswer(503, 'unavailable'))
  await assert.rejects(impatient.getTenant({ signal: aborting.signal }), /enough/)
  await assert.rejects(client.getTenant({ signal: aborting.signal }), /enough/)
  assert.equal(seen.length, 1)
})
