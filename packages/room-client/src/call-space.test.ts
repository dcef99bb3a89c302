import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { parseDeviceKey } from '@atrium/identity/device-key'
import { isProof } from '@atrium/identity/proof'
import { proofContent } from '@atrium/sealing/proof'
import { type CallOptions, callSpace, type SpaceEndpoint } from './call-space.ts'
import { deviceKeyOf, generateDevicePair } from './device-pair.ts'
import { SpaceCallError } from './space-call-error.ts'

const secret = { room: 'lantern-night', mk: 'k'.repeat(43) }
const done = { ok: true, seq: 1, id: 'e1', at: '', etag: 'e', count: 2 }
const flat = (status: number, error: string, reason: string, headers: Record<string, string> = {}) =>
  Response.json({ error, reason }, { status, headers })

/** An endpoint with scripted answers, and the requests that it received. */
function scripted(...answers: (Response | Error)[]) {
  const bodies: Record<string, any>[] = []
  const inits: RequestInit[] = []
  const endpoint: SpaceEndpoint = {
    url: 'https://space.example/space',
    fetch: async (_, init = {}) => {
      bodies.push(JSON.parse(String(init.body)))
      inits.push(init)
      const answer = answers[bodies.length - 1]
      if (!(answer instanceof Response)) throw answer ?? new Error('the script is over')
      return answer
    },
  }
  return { endpoint, bodies, inits }
}

async function failureOf(answer: Response | Error, options: CallOptions = {}): Promise<SpaceCallError> {
  const failure = await callSpace(scripted(answer).endpoint, { op: 'poll', ...secret }, options).then(
    () => assert.fail('it succeeded'),
    (error: unknown) => error,
  )
  assert.ok(failure instanceof SpaceCallError, String(failure))
  return failure
}
const summary = ({ status, error, reason, retryAfterSeconds }: SpaceCallError) => [status, error, reason, retryAfterSeconds]

test('a call may have any time', async () => {
  for (const timeoutMs of [Infinity, 2 ** 31])
    assert.deepEqual(await callSpace(scripted(Response.json(done)).endpoint, { op: 'poll', ...secret }, { timeoutMs }), done)
})

test('a rejection has a status, code, reason and Retry-After', async () => {
  const refused = await failureOf(flat(403, 'not_authorized', 'not_on_list'))
  assert.deepEqual(summary(refused), [403, 'not_authorized', 'not_on_list', undefined])
  assert.equal(refused.message, 'not_authorized: not_on_list')
  assert.deepEqual(summary(await failureOf(flat(429, 'rate_limited', 'too many requests', { 'retry-after': '3' }))), [
    429,
    'rate_limited',
    'too many requests',
    3,
  ])
})

test('an error in the envelope of the API is read too; any other answer is unexpected_answer', async () => {
  const envelope = Response.json({ error: { code: 'unavailable', message: 'Later.' } }, { status: 503 })
  assert.deepEqual(summary(await failureOf(envelope)), [503, 'unavailable', '', undefined])
  assert.deepEqual(summary(await failureOf(new Response('<html>', { status: 502 }))), [502, 'unexpected_answer', '', undefined])
  assert.deepEqual(summary(await failureOf(new Response('null', { status: 404 }))), [404, 'unexpected_answer', '', undefined])
  for (const text of ['{"etag":', 'null', '[]', '7'])
    assert.deepEqual(summary(await failureOf(new Response(text))), [200, 'unexpected_answer', '', undefined], text)
})

test('a redirect is named, since a proxy that redirects has to be changed', async () => {
  const moved = new Response(null, { status: 301, headers: { location: 'https://spaces.example/space' } })
  const opaque = Object.defineProperties(new Response(null), { type: { value: 'opaqueredirect' }, status: { value: 0 } })
  for (const [answer, status] of [
    [moved, 301],
    [opaque, 0],
  ] as const) {
    const failure = await failureOf(answer)
    assert.deepEqual(summary(failure), [status, 'unexpected_answer', '', undefined])
    assert.match(failure.message, new RegExp(`^The server answered ${status} with a redirect, which is not followed`))
  }
})

test('no response, or none in time, is an error of status 0; an abort of the caller throws its reason', async () => {
  assert.deepEqual(summary(await failureOf(new TypeError('cut'))), [0, 'network_error', '', undefined])
  const never: SpaceEndpoint = {
    url: 'https://space.example/space',
    fetch: (_, init) =>
      new Promise((_resolve, reject) => {
        const fail = () => reject(init?.signal?.reason)
        if (init?.signal?.aborted) fail()
        init?.signal?.addEventListener('abort', fail)
      }),
  }
  await assert.rejects(callSpace(never, { op: 'attest' }, { timeoutMs: 10 }), { status: 0, error: 'network_error' })
  const stop = new AbortController()
  const stopped = callSpace(never, { op: 'attest' }, { signal: stop.signal })
  stop.abort(new Error('enough'))
  await assert.rejects(stopped, /enough/)
})

test('temporary errors are distinguished from permanent ones', async () => {
  const isPassing = async (answer: Response | Error) => (await failureOf(answer)).isPassing
  for (const status of [408, 429, 500, 502, 503]) assert.ok(await isPassing(flat(status, 'x', '')), `${status}`)
  assert.ok(await isPassing(new TypeError('cut')))
  assert.ok(await isPassing(new Response('<html>')))
  for (const status of [400, 403, 404, 409, 413]) assert.equal(await isPassing(flat(status, 'x', '')), false, `${status}`)
})

test('a call is retried without a response or while the service is overloaded, up to the limit', async () => {
  const waitsMs: number[] = []
  const options = { retries: 2, wait: async (ms: number) => void waitsMs.push(ms) }
  const busy = () => flat(503, 'unavailable', '', { 'retry-after': '2' })
  const once = scripted(new TypeError('cut'), busy(), Response.json(done))
  assert.deepEqual(await callSpace(once.endpoint, { op: 'turn', ...secret, message: { text: 'x' } }, options), done)
  assert.ok(waitsMs.length === 2 && waitsMs[1]! >= 2_000, String(waitsMs))
  const thrice = scripted(busy(), busy(), busy(), Response.json(done))
  await assert.rejects(callSpace(thrice.endpoint, { op: 'poll', ...secret }, options), { error: 'unavailable' })
  const refused = scripted(flat(403, 'not_authorized', 'revoked'))
  await assert.rejects(callSpace(refused.endpoint, { op: 'poll', ...secret }, options), { reason: 'revoked' })
  assert.deepEqual([thrice.bodies.length, refused.bodies.length], [3, 1])
})

test('each attempt sends the current identity, and a proof over exactly the sent message', async () => {
  const key = await deviceKeyOf(await generateDevicePair())
  const { endpoint, bodies } = scripted(new TypeError('cut'), Response.json(done))
  let tokens = 0
  const options = { retries: 1, wait: async () => undefined, identity: () => ({ ...key, idToken: `token ${++tokens}` }) }
  await callSpace(endpoint, { op: 'admit', ...secret, emails: ['b@x.example'], agents: undefined }, options)
  assert.deepEqual(
    bodies.map(({ idToken }) => idToken),
    ['token 1', 'token 2'],
  )
  const publicKey = parseDeviceKey(key.spk)!.publicKey
  for (const body of bodies) {
    const sha256 = createHash('sha256')
      .update(proofContent(body as never))
      .digest('hex')
    assert.ok(isProof(body['proof'], { publicKey, op: 'admit', room: secret.room, sha256, nowMs: Date.now() }))
    assert.deepEqual(body['spk'], key.spk)
  }
})

test('a signature of node:crypto makes a proof too, and without one none is sent', async () => {
  const { sign } = await import('node:crypto')
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x, y } = publicKey.export({ format: 'jwk' }) as { x: string; y: string }
  const spk = { kty: 'EC' as const, crv: 'P-256' as const, x, y }
  const byNode = async (bytes: Uint8Array) => sign('sha256', bytes, { key: privateKey, dsaEncoding: 'ieee-p1363' })
  const { endpoint, bodies } = scripted(Response.json(done), Response.json(done))
  await callSpace(endpoint, { op: 'poll', ...secret }, { identity: { spk, sign: byNode } })
  const sha256 = createHash('sha256').update('').digest('hex')
  assert.ok(isProof(bodies[0]!['proof'], { publicKey, op: 'poll', room: secret.room, sha256, nowMs: Date.now() }))
  await callSpace(endpoint, { op: 'poll', ...secret }, { identity: { spk } })
  assert.deepEqual(Object.keys(bodies[1]!), ['op', 'room', 'mk', 'spk'])
})

test('sealed and attest send neither key nor identity', async () => {
  const key = await deviceKeyOf(await generateDevicePair())
  const { endpoint, bodies } = scripted(Response.json({}), Response.json({}))
  await callSpace(endpoint, { op: 'sealed', room: secret.room }, { identity: key })
  await callSpace(endpoint, { op: 'attest', nonce: 'n' }, { identity: key })
  assert.deepEqual(bodies, [
    { op: 'sealed', room: secret.room },
    { op: 'attest', nonce: 'n' },
  ])
})

test('a request carries the headers of the endpoint, no cookies, and follows no redirect', async () => {
  const { endpoint, inits } = scripted(Response.json({}))
  await callSpace({ ...endpoint, headers: { 'x-atrium-rate-key': 'session:1' } }, { op: 'attest' })
  const [{ headers, credentials, redirect } = {}] = inits
  assert.deepEqual(headers, { 'content-type': 'application/json', 'x-atrium-rate-key': 'session:1' })
  assert.deepEqual([credentials, redirect], ['omit', 'manual'])
})

test('a request is not sent if beforeSend throws, which runs after the proof is made', async () => {
  const { endpoint, bodies } = scripted(Response.json(done))
  const steps: string[] = []
  const identity = async () => (steps.push('identity'), undefined)
  const beforeSend = () => {
    steps.push('beforeSend')
    throw new Error('not any more')
  }
  await assert.rejects(callSpace(endpoint, { op: 'poll', ...secret }, { identity, beforeSend }), /not any more/)
  assert.deepEqual([steps, bodies], [['identity', 'beforeSend'], []])
})

test('an answer that does not end is left once it is longer than any true one', async () => {
  let readBytes = 0
  let isLeft = false
  const endless = new ReadableStream({
    pull: (controller) => {
      readBytes += 65_536
      assert.ok(readBytes < 2 ** 28, 'it is read on and on')
      controller.enqueue(new Uint8Array(65_536).fill(0x20))
    },
    cancel: () => void (isLeft = true),
  })
  const failure = await failureOf(new Response(endless))
  assert.deepEqual(summary(failure), [200, 'unexpected_answer', '', undefined])
  assert.equal(failure.message, 'The server answered 200 with more than 16777216 bytes')
  assert.ok(isLeft && readBytes <= 2 ** 24 + 3 * 65_536, String(readBytes))
})
