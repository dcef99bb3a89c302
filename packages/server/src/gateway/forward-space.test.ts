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

test('a call that cannot be forwarded says when to come again', async (t) => {
  const { config } = api.ctx
  const { spaceOrigin } = config
  // Nothing listens there.
  Object.assign(config, { spaceOrigin: 'http://127.0.0.1:1' })
  t.after(() => Object.assign(config, { spaceOrigin }))
  const headers = { 'content-type': 'application/json' }
  const res = await fetch(`${api.baseUrl}/space`, { method: 'POST', headers, body: '{}' })
  assert.deepEqual([res.status, res.headers.get('retry-after')], [503, '1'])
})
