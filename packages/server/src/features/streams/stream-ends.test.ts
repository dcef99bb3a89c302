import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { statement } from '#db/database.ts'
import { send } from '#testing/http.ts'
import { openStream, type OpenStream } from '#testing/read-stream.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { numberInTransaction } from '../events/numbering-store.ts'
import { recordEvent } from '../events/record-event.ts'

const limits = { streams: '12', streamsPerTenant: '8', streamsPerAddress: '10' }

let api: TestApi
let narrow: TestApi
before(async () => {
  ;[api, narrow] = await Promise.all([startTestApi(), startTestApi({ ...limits, trustProxy: 'loopback' })])
})
after(() => Promise.all([api.close(), narrow.close()]))

async function make(of: TestTenant, on = api) {
  const body = { item_access: 'open', wall: true }
  const { data } = (await send(on, 'POST', '/collections', { key: of.publishableKey, body })).body
  return { id: data.id as string, owner: { key: of.publishableKey, collectionToken: data.admin_token as string } }
}

const cutStatement = statement<{ last: number }>(
  'test-cut-log',
  `update event_heads h set last_sequence = e.sequence, chain_sequence = e.sequence, chain_hash = e.hash
   from events e where h.tenant_id = $1 and e.tenant_id = h.tenant_id and e.sequence = h.last_sequence - 3
   returning h.last_sequence as last`,
)
const deleteStatement = statement<never>('test-delete-end', 'delete from events where tenant_id = $1 and sequence > $2')

const endWithinMs = 15_000
const checkIntervalMs = 2_500

/** Every kind of stream of one tenant and collection. */
async function openAll(t: TestContext, tenant: TestTenant, { id, owner }: Awaited<ReturnType<typeof make>>) {
  const path = `/collections/${id}/stream`
  const [events, owned, open, wall] = await Promise.all([
    openStream(api.baseUrl, '/events/stream', { key: tenant.secretKey }),
    openStream(api.baseUrl, path, owner),
    openStream(api.baseUrl, path, { key: tenant.publishableKey }),
    openStream(api.baseUrl, `/collections/${id}/wall/stream`),
  ])
  const all = { events, owned, open, wall }
  await Promise.all(Object.values(all).map((one) => one.untilCount(1)))
  t.after(() => Object.values(all).forEach((one) => one.close()))
  return all
}

/** Asserts that those end in time, and that the others are open still. */
async function assertEnd(all: Record<string, OpenStream>, expected: string[]): Promise<void> {
  const ended = new Set<string>()
  for (const [name, one] of Object.entries(all)) void one.ended.then(() => ended.add(name))
  const timeout = new Promise((resolve) => setTimeout(resolve, endWithinMs))
  await Promise.race([Promise.all(expected.map((name) => all[name]!.ended)), timeout])
  assert.deepEqual([...ended].toSorted(), expected.toSorted())
}

describe('a stream ends within 15 seconds', { concurrency: 8 }, () => {
  test('once its key is revoked', async (t) => {
    const tenant = await api.makeTenant()
    const made = await make(tenant)
    const second = (await send(api, 'POST', '/tenant/keys', { key: tenant.secretKey, body: { kind: 'publishable' } })).body.data
    const all = await openAll(t, { ...tenant, publishableKey: second.key }, made)
    assert.equal((await send(api, 'DELETE', `/tenant/keys/${second.id}`, { key: tenant.secretKey })).status, 204)
    await assertEnd(all, ['open'])
  })

  test('once its tenant is suspended', async (t) => {
    const tenant = await api.makeTenant()
    const made = await make(tenant)
    const all = await openAll(t, tenant, made)
    const headers = { 'x-admin-token': api.adminToken }
    await send(api, 'POST', `/tenants/${tenant.id}/status`, { headers, body: { status: 'suspended' } })
    await assertEnd(all, ['events', 'owned', 'open', 'wall'])
    const again = await openStream(api.baseUrl, `/collections/${made.id}/wall/stream`)
    const unknown = await openStream(api.baseUrl, '/collections/col_4fRzK0vXcB1mQwErTy7uPa/wall/stream')
    const faceOf = ({ status, text }: OpenStream) => [status, text.replace(/req_\w+/, '')]
    assert.deepEqual(faceOf(again), faceOf(unknown), 'a wall of a suspended tenant does not exist')
    assert.equal(again.status, 404)
  })

  test('of a wall, once the state of the collection changes: the next answer names the new one', async (t) => {
    const tenant = await api.makeTenant()
    const made = await make(tenant)
    const all = await openAll(t, tenant, made)
    const { status } = await send(api, 'POST', `/collections/${made.id}/state`, { ...made.owner, body: { state: 'ready' } })
    assert.equal(status, 200)
    await assertEnd(all, ['wall'])
    const { headers } = await fetch(`${api.baseUrl}/collections/${made.id}/wall/stream`, { method: 'HEAD' })
    assert.equal(headers.get('collection-state'), 'ready')
  })

  test('once its key is revoked or its tenant suspended, and no notification tells so', async (t) => {
    const [revoked, suspended] = [await api.makeTenant(), await api.makeTenant()]
    const [one, other] = await Promise.all([
      openAll(t, revoked, await make(revoked)),
      openAll(t, suspended, await make(suspended)),
    ])
    const { pool } = api.ctx.db
    await pool.query(`update api_keys set revoked_at = now() where tenant_id = $1 and kind = 'secret'`, [revoked.id])
    await pool.query(`update tenants set status = 'suspended' where id = $1`, [suspended.id])
    const everywhere = { ...one, ...Object.fromEntries(Object.entries(other).map(([name, each]) => [`other ${name}`, each])) }
    await assertEnd(everywhere, ['events', 'other events', 'other open', 'other owned', 'other wall'])
  })

  test('once its owner token is replaced', async (t) => {
    const tenant = await api.makeTenant()
    const made = await make(tenant)
    const all = await openAll(t, tenant, made)
    const body = { rotate: ['admin_token'] }
    const rotated = await send(api, 'POST', `/collections/${made.id}/tokens`, { key: tenant.secretKey, body })
    await assertEnd(all, ['owned'])
    const again = { key: tenant.publishableKey, collectionToken: rotated.body.data.admin_token }
    const { messages, untilCount, close } = await openStream(api.baseUrl, `/collections/${made.id}/stream`, again)
    await untilCount(1)
    await send(api, 'POST', `/collections/${made.id}/items`, { key: tenant.publishableKey, body: { type: 'm', content: 1 } })
    await untilCount(2)
    assert.equal(messages[1]!.event, 'item.created', 'the new token opens the stream of the owner')
    close()
  })

  test('once the wall is switched off, after which it is 404', async (t) => {
    const tenant = await api.makeTenant()
    const made = await make(tenant)
    const all = await openAll(t, tenant, made)
    await send(api, 'PATCH', `/collections/${made.id}`, { ...made.owner, body: { wall: false } })
    await assertEnd(all, ['wall'])
    assert.equal((await openStream(api.baseUrl, `/collections/${made.id}/wall/stream`)).status, 404)
  })

  test('once its collection is deleted: at once, with the event where it is sent', async (t) => {
    const tenant = await api.makeTenant()
    const made = await make(tenant)
    const all = await openAll(t, tenant, made)
    await send(api, 'DELETE', `/collections/${made.id}`, made.owner)
    await assertEnd(all, ['owned', 'open', 'wall'])
    assert.equal(all.owned.messages.at(-1)?.event, 'collection.deleted')
  })
})

// Of the last three events, which a failover loses. Others are written before the process looks again.
for (const [written, log] of [
  [0, 'is shorter than before'],
  [3, 'has other events up to where it was'],
  [5, 'has lost events and has grown past them'],
] as const) {
  test(`once a connection to the database was lost and the log ${log}, with a reset`, async (t) => {
    const [tenant, other] = [await api.makeTenant(), await api.makeTenant()]
    const made = await make(tenant)
    const add = async (content: number) => {
      const body = { type: 'm', content }
      await send(api, 'POST', `/collections/${made.id}/items`, { key: tenant.publishableKey, body })
    }
    const all = await openAll(t, tenant, made)
    const kept = (await openAll(t, other, await make(other))).events
    for (let i = 0; i < 5; i++) await add(i)
    await Promise.all(Object.values(all).map((one) => one.untilCount(6)))
    const { db, outbox } = api.ctx
    await db.transaction(async (tx) => {
      const [head] = await tx.query(cutStatement, [tenant.id])
      await tx.query(deleteStatement, [tenant.id, head?.last])
      const event = { collection_id: made.id, item_id: 'itm_4fRzK0vXcB1mQwErTy7uPa' }
      for (let i = 0; i < written; i++) await recordEvent(tx, tenant.id, 'item.deleted', event)
      await numberInTransaction(tx, [tenant.id], 10, { isSpread: outbox.isSpread })
    })
    await db.pool.query(
      `select pg_terminate_backend(pid, 10000) from pg_stat_activity
       where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
    )
    await assertEnd({ ...all, kept }, Object.keys(all))
    for (const { messages } of Object.values(all)) {
      assert.equal(messages.length, 7)
      assert.equal(messages.at(-1)?.event, 'reset')
    }
    const { lastId: lastEventId } = all.wall
    const resumed = await openStream(api.baseUrl, `/collections/${made.id}/wall/stream`, { lastEventId })
    t.after(() => resumed.close())
    await add(5)
    assert.equal((await resumed.untilCount(1)).data.content, 5)
  })
}

test('too many streams of a tenant, of an address or in all are 429, and a stream that ends makes room', async () => {
  const [one, other] = [await narrow.makeTenant(), await narrow.makeTenant()]
  const open: OpenStream[] = []
  const ask = async (tenant: TestTenant, address: string) => {
    const asked = await openStream(narrow.baseUrl, '/events/stream', { key: tenant.secretKey, forwardedFor: address })
    if (asked.status === 200) open.push(asked)
    return asked
  }
  const assertRefused = ({ status, headers, text }: OpenStream, words: RegExp) => {
    assert.equal(status, 429)
    const { error } = JSON.parse(text)
    assert.equal(error.code, 'rate_limited')
    assert.match(error.message, words)
    assert.ok(Number(headers['retry-after']) >= 1)
  }
  const untilFewerOpen = async (count: number) => {
    for (const deadline = Date.now() + 20_000; narrow.ctx.streams.slots.open >= count; await delay(5))
      assert.ok(Date.now() < deadline, 'a stream ends')
  }
  for (let i = 0; i < 8; i++) assert.equal((await ask(one, '192.0.2.1')).status, 200)
  assertRefused(await ask(one, '192.0.2.2'), /This tenant has 8 streams open/)
  for (let i = 0; i < 2; i++) assert.equal((await ask(other, '192.0.2.1')).status, 200)
  assertRefused(await ask(other, '192.0.2.1'), /Your address has 10 streams open/)
  for (let i = 0; i < 2; i++) assert.equal((await ask(other, '2001:db8::1')).status, 200)
  assertRefused(await ask(other, '2001:db8::2'), /This server has 12 streams open/)

  open.pop()!.close()
  await untilFewerOpen(12)
  assert.equal((await ask(other, '192.0.2.3')).status, 200)

  const headers = { 'x-admin-token': narrow.adminToken }
  await send(narrow, 'PUT', `/tenants/${other.id}/limits`, { headers, body: { open_streams: 1 } })
  open.pop()!.close()
  await untilFewerOpen(12)
  assertRefused(await ask(other, '192.0.2.3'), /This tenant has 1 streams open/)
  for (const asked of open) asked.close()
  await untilFewerOpen(1)
})

test('the first stream after an idle time stays open when the first check fails', async (t) => {
  // The timers of the streams run when the test says so.
  t.mock.timers.enable({ apis: ['setInterval'] })
  const idle = await startTestApi()
  t.after(() => idle.close())
  const tenant = await idle.makeTenant()
  const made = await make(tenant, idle)
  const now = performance.now.bind(performance)
  t.mock.method(performance, 'now', () => now() + 60_000)
  t.mock.timers.tick(checkIntervalMs)
  const stream = await openStream(idle.baseUrl, `/collections/${made.id}/stream`, made.owner)
  t.after(() => stream.close())
  await stream.untilCount(1)

  const { db } = idle.ctx
  const query = db.query.bind(db)
  const failed = Promise.withResolvers<void>()
  const mock = t.mock.method(db, 'query', async (asked: Parameters<typeof query>[0], values: unknown[]) => {
    if (asked.name !== 'collections-guards') return query(asked, values)
    failed.resolve()
    throw new Error('the database does not answer')
  })
  t.mock.timers.tick(checkIntervalMs)
  await failed.promise
  mock.mock.restore()
  const body = { type: 'm', content: 1 }
  await send(idle, 'POST', `/collections/${made.id}/items`, { key: tenant.publishableKey, body })
  const arrived = stream.untilCount(2).then(() => true)
  // Each second, the server looks for events.
  while (!(await Promise.race([arrived, delay(20)]))) t.mock.timers.tick(1_000)
})

test('a reader that reads nothing keeps one page in memory, and goes on where it was', async (t) => {
  const tenant = await api.makeTenant()
  const made = await make(tenant)
  const { hostname, port, pathname } = new URL(api.baseUrl)
  const socket = connect({ host: hostname, port: Number(port) })
  t.after(() => socket.destroy())
  const head = `GET ${pathname}/collections/${made.id}/wall/stream HTTP/1.1\r\nHost: x\r\n\r\n`
  const received: Buffer[] = []
  socket.on('data', (chunk) => received.push(chunk))
  socket.write(head)
  while (!Buffer.concat(received).includes('ready')) await new Promise((resolve) => socket.once('data', resolve))
  socket.pause()
  const content = 'x'.repeat(60_000)
  const count = 200
  for (let i = 0; i < count; i++) {
    const body = { type: 'm', content: `${i}:${content}` }
    await send(api, 'POST', `/collections/${made.id}/items`, { key: tenant.publishableKey, body })
  }
  const waiting = [...api.ctx.streams.connections()].map(({ unsentBytes }) => unsentBytes)
  assert.ok(Math.max(...waiting) > 0, 'its buffers are full')
  assert.ok(Math.max(...waiting) < 200_000, `${Math.max(...waiting)} bytes wait`)
  socket.resume()
  const seen = () =>
    [
      ...Buffer.concat(received)
        .toString('latin1')
        .matchAll(/"content":"(\d+):/g),
    ].map(([, n]) => Number(n))
  while (seen().length < count) await new Promise((resolve) => socket.once('data', resolve))
  assert.deepEqual(
    seen(),
    Array.from({ length: count }, (_, i) => i),
  )
})

test('100 readers of one wall share a look and a page', async (t) => {
  const crowded = await startTestApi({ streamsPerAddress: '1000' })
  t.after(() => crowded.close())
  const tenant = await crowded.makeTenant()
  const made = await make(tenant, crowded)
  const path = `/collections/${made.id}/wall/stream`
  const viewers = await Promise.all(Array.from({ length: 100 }, () => openStream(crowded.baseUrl, path)))
  await Promise.all(viewers.map((viewer) => viewer.untilCount(1)))
  let pages = 0
  // Counts what reaches the database, and changes nothing.
  const { pool } = crowded.ctx.db
  const acquire = pool.acquire.bind(pool)
  const counted = new WeakSet<object>()
  pool.acquire = async (use) => {
    const connection = await acquire(use)
    if (counted.has(connection)) return connection
    counted.add(connection)
    const ask = connection.query.bind(connection)
    connection.query = (asked, values) => {
      if (typeof asked !== 'string' && asked.name === 'events-open-items') pages++
      return ask(asked, values)
    }
    return connection
  }
  for (let i = 0; i < 5; i++)
    await send(crowded, 'POST', `/collections/${made.id}/items`, { key: tenant.publishableKey, body: { type: 'm', content: i } })
  await Promise.all(viewers.map((viewer) => viewer.untilCount(6)))
  assert.ok(pages >= 1 && pages <= 5, `${pages} pages`)
  for (const viewer of viewers) viewer.close()
})

test('a process that stops ends its streams and takes no new ones', async () => {
  const stopping = await startTestApi()
  const tenant = await stopping.makeTenant()
  const open = await openStream(stopping.baseUrl, '/events/stream', { key: tenant.secretKey })
  await open.untilCount(1)
  stopping.ctx.streams.drain()
  await open.ended
  const late = await openStream(stopping.baseUrl, '/events/stream', { key: tenant.secretKey })
  assert.deepEqual([late.status, JSON.parse(late.text).error.code], [503, 'unavailable'])
  await stopping.close()
})
