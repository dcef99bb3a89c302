import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import Fastify from 'fastify'
import { sendBody } from '#http/bound-unread.ts'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'
import { clearOf } from '../../../../tests/support/clear-of.ts'

const longText = 'x'.repeat(60_000)
let api: TestApi
before(async () => {
  api = await startTestApi({}, async () => new Response(longText + longText, { headers: { 'content-type': 'text/plain' } }))
})
after(() => api.close())

/** How often the operation was answered, by status. */
async function countsOf(operation: string): Promise<Record<string, number>> {
  const families = await api.ctx.metrics.collect()
  const { values = [] } = families.find(({ name }) => name === 'atrium_http_requests_total') ?? {}
  const ofOperation = values.filter(({ labels }) => labels.operation === operation)
  return Object.fromEntries(ofOperation.map(({ labels, value }) => [labels.status, value]))
}

/** The tenant has more unread than its budget allows, until the connection ends. */
async function holdBudget(tenantId: string) {
  const app = Fastify()
  app.get('/', (req, reply) => {
    req.tenantKey = { tenantId } as typeof req.tenantKey
    return sendBody(req, reply, Buffer.alloc(20 * 1024 * 1024, 'x').toString())
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const reader = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  reader.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(reader, 'data')
  reader.pause()
  return async () => {
    reader.destroy()
    await app.close()
  }
}

test('a large answer that is refused is recorded and counted once, as the refusal', async () => {
  await clearOf('day')
  const tenant = await api.makeTenant()
  const key = tenant.secretKey
  const { id, admin_token: collectionToken } = (await send(api, 'POST', '/collections', { key, body: {} })).body.data
  for (let i = 0; i < 2; i++)
    assert.equal(
      (await send(api, 'POST', `/collections/${id}/items`, { key, body: { type: 'message', content: longText } })).status,
      201,
    )
  const release = await holdBudget(tenant.id)
  try {
    const read = await send(api, 'GET', `/collections/${id}/items`, { key, collectionToken })
    assert.deepEqual([read.status, read.body.error.code], [503, 'unavailable'])
    assert.deepEqual(await countsOf('listItems'), { 503: 1 })
    const authorization = `Bearer ${key}`
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const told = await fetch(`${api.origin}/mcp`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(message),
    })
    assert.equal(told.status, 503)
    assert.deepEqual(await countsOf('mcp'), { 503: 1 })
  } finally {
    await release()
  }
  const logged = (await send(api, 'GET', '/tenant/requests', { key })).body.data as {
    path: string
    method: string
    status: number
  }[]
  const reads = logged.filter(({ method, path }) => method === 'GET' && path.endsWith('/items'))
  assert.deepEqual(
    reads.map(({ status }) => status),
    [503],
  )
  const usage = (await send(api, 'GET', '/usage', { key })).body.data as { meter: string; quantity: number }[]
  // One collection, two items, the two refusals, and the log.
  assert.equal(usage.find(({ meter }) => meter === 'requests')?.quantity, 6)
})

test('a page that has not changed is recorded as 304', async () => {
  const { secretKey: key } = await api.makeTenant()
  const body = { item_access: 'open', wall: true }
  const { id } = (await send(api, 'POST', '/collections', { key, body })).body.data
  const etag = (await send(api, 'GET', `/collections/${id}/wall`)).headers.get('etag')!
  assert.equal((await send(api, 'GET', `/collections/${id}/wall`, { headers: { 'if-none-match': etag } })).status, 304)
  assert.deepEqual(await countsOf('renderWall'), { 200: 1, 304: 1 })
})
