import assert from 'node:assert/strict'
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
  server.script({ cut: true })
  await failureOf(client.addItem({ ...item, repeatable: false }))
  assert.equal(seen.length, 1)
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
