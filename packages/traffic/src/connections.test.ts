import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Connections } from './connections.ts'
import { Overloaded } from './overloaded.ts'
import { answeringEach, connectUpstream, serverUrl, startServer, urlOfProxy } from './postgres/testing/fake-server.ts'

function openConnections(t: TestContext, options: Partial<ConstructorParameters<typeof Connections>[0]> = {}) {
  const errors: Error[] = []
  const connections = new Connections({ url: serverUrl, max: 4, onError: (error) => errors.push(error), ...options })
  t.after(() => connections.end())
  return { connections, errors }
}

const pidOf = async (connection: { query: Connections['query'] }) =>
  (await connection.query<{ pid: string }>('select pg_backend_pid() as pid')).rows[0]!.pid

test('an idle connection is used again, the last one first', async (t) => {
  const { connections } = openConnections(t)
  const [one, two] = [await connections.acquire('statement'), await connections.acquire('statement')]
  connections.release(one)
  connections.release(two)
  assert.equal(await connections.acquire('statement'), two)
  assert.deepEqual([connections.totalCount, connections.idleCount, connections.waitingCount], [2, 1, 0])
  connections.release(two)
  assert.throws(() => connections.release(two), /released before/)
})

test('no more than max are open, and who waits is served in order', async (t) => {
  const { connections } = openConnections(t, { max: 2 })
  const held = [await connections.acquire('statement'), await connections.acquire('statement')]
  const order: number[] = []
  const waiting = [1, 2, 3].map(async (n) => {
    const connection = await connections.acquire('statement')
    order.push(n)
    connections.release(connection)
  })
  assert.deepEqual([connections.totalCount, connections.waitingCount], [2, 3])
  connections.release(held[0]!)
  await Promise.all(waiting)
  assert.deepEqual(order, [1, 2, 3])
  connections.release(held[1]!)
})

test('a caller that waits too long gets Overloaded, and the connection stays with its holder', async (t) => {
  const { connections } = openConnections(t, { max: 1 })
  const held = await connections.acquire('statement')
  await assert.rejects(connections.acquire('statement'), Overloaded)
  assert.equal(connections.waitingCount, 0)
  connections.release(held)
  await connections.query('select 1')
})

test('an idle connection that the server ends is reported once and replaced', async (t) => {
  const { connections, errors } = openConnections(t)
  const [one, two] = [await connections.acquire('statement'), await connections.acquire('statement')]
  const pid = await pidOf(one)
  connections.release(one)
  await two.query('select pg_terminate_backend($1)', [pid])
  for (const deadline = Date.now() + 5_000; connections.idleCount > 0; await delay(5)) assert.ok(Date.now() < deadline)
  assert.equal(errors.length, 1)
  const again = await connections.acquire('statement')
  assert.notEqual(await pidOf(again), pid)
  connections.release(again)
  connections.release(two)
})

test('a limit of idle sessions that the role has does not end an idle connection', async (t) => {
  const separator = serverUrl.includes('?') ? '&' : '?'
  const url = `${serverUrl}${separator}options=-c%20idle_session_timeout%3D100`
  const { connections, errors } = openConnections(t, { url })
  const pid = await pidOf(connections)
  await delay(500)
  assert.deepEqual([await pidOf(connections), errors], [pid, []])
})

test('transactions are read committed and arrays have nulls, whatever the role has', async (t) => {
  const separator = serverUrl.includes('?') ? '&' : '?'
  const options = encodeURIComponent('-c default_transaction_isolation=serializable -c array_nulls=off')
  const { connections } = openConnections(t, { url: `${serverUrl}${separator}options=${options}` })
  const sql = "select current_setting('transaction_isolation') as isolation, current_setting('array_nulls') as nulls"
  assert.deepEqual((await connections.query(sql)).rows, [{ isolation: 'read committed', nulls: 'on' }])
})

test('a connection that breaks in use fails its query and is not given to the next', async (t) => {
  const { connections, errors } = openConnections(t)
  const [broken, other] = [await connections.acquire('statement'), await connections.acquire('statement')]
  const pid = await pidOf(broken)
  const slow = assert.rejects(broken.query('select pg_sleep(20)'), { code: '57P01' })
  await other.query('select pg_terminate_backend($1)', [pid])
  await slow
  connections.release(broken)
  connections.release(other)
  assert.deepEqual([connections.totalCount, connections.idleCount, errors], [1, 1, []])
  await connections.query('select 1')
})

test('a connection that is still in a transaction, or spent, is closed and not given to the next', async (t) => {
  const { connections } = openConnections(t, { max: 1 })
  const first = await connections.connect()
  const pid = await pidOf(first)
  await first.query('begin')
  first.release()
  const second = await connections.connect()
  const secondPid = await pidOf(second)
  assert.notEqual(secondPid, pid)
  second.release(true)
  assert.equal(connections.totalCount, 0)
  assert.notEqual(await pidOf(connections), secondPid)
})

test('transactions leave connections to statements', async (t) => {
  const { connections } = openConnections(t, { max: 2 })
  const transaction = await connections.acquire('transaction')
  const next = connections.acquire('transaction')
  await connections.query('select 1')
  assert.equal(connections.waitingCount, 1)
  connections.release(transaction)
  connections.release(await next)
})

test('what is idle for long is closed', async (t) => {
  const { connections, errors } = openConnections(t, { idleMs: 1_000 })
  await Promise.all([1, 2, 3].map(() => connections.query('select 1')))
  assert.equal(connections.idleCount, 3)
  for (const deadline = Date.now() + 10_000; connections.totalCount > 0; await delay(10)) assert.ok(Date.now() < deadline)
  await connections.query('select 1')
  assert.deepEqual(errors, [])
})

test('while the database is silent one connection at a time is tried, and the rest is refused or waits', async (t) => {
  let attempts = 0
  let isSilent = true
  const serve = answeringEach(Buffer.alloc(0))
  const url = await startServer((socket) => {
    attempts++
    if (!isSilent) serve(socket)
  })
  const { connections } = openConnections(t, { url })
  await assert.rejects(connections.acquire('statement'), /did not accept the connection in time/)
  const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => connections.acquire('statement')))
  assert.ok(outcomes.every(({ status }) => status === 'rejected'))
  assert.ok(attempts <= 3, `${attempts} attempts`)
  isSilent = false
  connections.release(await connections.acquire('statement'))
})

test('end waits for those in use, fails who waits, and closes all', async () => {
  const sockets = new Set<object>()
  const url = await startServer((client) => {
    const upstream = connectUpstream()
    sockets.add(client)
    client.on('close', () => (sockets.delete(client), upstream.destroy()))
    client.pipe(upstream).pipe(client)
  })
  const connections = new Connections({
    url: urlOfProxy(url),
    max: 2,
    onError: () => assert.fail('nothing breaks'),
  })
  const [one, two] = [await connections.acquire('statement'), await connections.acquire('statement')]
  connections.release(one)
  const next = await connections.acquire('statement')
  const waiting = assert.rejects(connections.acquire('statement'), /are closed/)
  const ended = connections.end()
  await waiting
  await assert.rejects(connections.acquire('statement'), /are closed/)
  await two.query('select 1')
  connections.release(two)
  connections.release(next)
  await ended
  await connections.end()
  for (const deadline = Date.now() + 5_000; sockets.size > 0; await delay(5)) assert.ok(Date.now() < deadline)
})
