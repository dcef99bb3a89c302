import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

/** Sends the first byte of a large answer, and never its end. */
const space = createServer((_req, res) => res.writeHead(200, { 'content-length': 1024 * 1024 }).write('{'))
let api: TestApi
before(async () => {
  space.listen(0, '127.0.0.1')
  await once(space, 'listening')
  api = await startTestApi()
  Object.assign(api.ctx.config, { spaceOrigin: `http://127.0.0.1:${(space.address() as AddressInfo).port}` })
})
after(async () => {
  space.closeAllConnections()
  space.close()
  await api.close()
})

function askRoom(): Promise<number> {
  return new Promise((resolve, reject) => {
    const req = request(`${api.baseUrl}/space`, { method: 'POST', headers: { 'content-type': 'application/json' }, agent: false })
    req.on('error', reject).on('response', (res) => {
      res.on('error', () => {})
      resolve(res.statusCode!)
    })
    req.end('{}')
  })
}

test('the rooms of many callers behind one address are answered at the same time', { timeout: 60_000 }, async () => {
  const statuses = new Set<number>()
  for (let n = 0; n < 10; n++) (await Promise.all(Array.from({ length: 20 }, askRoom))).forEach((one) => statuses.add(one))
  assert.deepEqual(statuses, new Set([200]))
})

test('the answer to a call that cannot be forwarded says when to come again', async (t) => {
  const { config } = api.ctx
  const { spaceOrigin } = config
  // Nothing listens there.
  Object.assign(config, { spaceOrigin: 'http://127.0.0.1:1' })
  t.after(() => Object.assign(config, { spaceOrigin }))
  const headers = { 'content-type': 'application/json' }
  const res = await fetch(`${api.baseUrl}/space`, { method: 'POST', headers, body: '{}' })
  assert.deepEqual([res.status, res.headers.get('retry-after')], [503, '1'])
})

test('a redirect from a proxy in front of Space is logged as a fault, and is not passed on to the caller', async (t) => {
  const proxy = createServer((_req, res) => res.writeHead(301, { location: 'https://space.example/space' }).end('moved'))
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { config, log } = api.ctx
  const { spaceOrigin } = config
  t.after(() => {
    Object.assign(config, { spaceOrigin })
    proxy.closeAllConnections()
    proxy.close()
  })
  Object.assign(config, { spaceOrigin: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` })
  const errors = t.mock.method(log, 'error', () => {})
  const headers = { 'content-type': 'application/json' }
  const res = await fetch(`${api.baseUrl}/space`, { method: 'POST', headers, body: '{}', redirect: 'manual' })
  const reason = 'the Space service cannot be reached'
  assert.deepEqual([res.status, await res.json()], [503, { error: 'unavailable', reason }])
  const { err } = errors.mock.calls[0]!.arguments[0] as { err: Error }
  assert.match(err.message, /redirects to https:\/\/space\.example\/space: set ATRIUM_SPACES_URL/)
})

test('a compressed body is refused as such, and not as a fault of the server', async () => {
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
  const res = await fetch(`${api.baseUrl}/space`, { method: 'POST', headers, body: '{}' })
  const reason = 'the body must be application/json, not compressed'
  assert.deepEqual([res.status, await res.json()], [400, { error: 'invalid_request', reason }])
})

test('a caller who leaves while Space has not answered is no fault of Space', async (t) => {
  const silent = createServer()
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { config, log, metrics } = api.ctx
  const { spaceOrigin } = config
  t.after(() => {
    Object.assign(config, { spaceOrigin })
    silent.close()
  })
  Object.assign(config, { spaceOrigin: `http://127.0.0.1:${(silent.address() as AddressInfo).port}` })
  const [errors, answers] = [t.mock.method(log, 'error'), t.mock.method(metrics, 'answered')]
  const leaving = new AbortController()
  const headers = { 'content-type': 'application/json' }
  const answer = fetch(`${api.baseUrl}/space`, { method: 'POST', headers, body: '{}', signal: leaving.signal })
  const [forwarded] = await once(silent, 'request')
  const closed = once(forwarded.socket, 'close')
  leaving.abort()
  await assert.rejects(answer)
  await closed
  Object.assign(config, { spaceOrigin })
  assert.equal(await askRoom(), 200)
  assert.deepEqual([errors.mock.callCount(), answers.mock.calls.map((call) => call.arguments[1])], [0, [200]])
})
