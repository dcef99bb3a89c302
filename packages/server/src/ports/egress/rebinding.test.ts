import net from 'node:net'
import { after, before, test } from 'node:test'
import assert from 'node:assert/strict'
import { startLoopClock } from '#testing/busy-machine.ts'
import { startNameServer } from '#testing/name-server.ts'
import { openTestEgress } from '#testing/open-test-egress.ts'
import { answering, startRawServer, type RawServer } from '#testing/raw-server.ts'
import { resolveName } from './resolve-name.ts'

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

let server: RawServer
before(async () => {
  server = await startRawServer(answering(ok))
})
after(() => server.close())

test('a name is asked for at a real name server, both kinds of address, IPv4 first', async (t) => {
  const names = await startNameServer(() => ['::1', '127.0.0.1', '127.0.0.2'])
  t.after(() => names.close())
  assert.deepEqual(await resolveName('many.example.org', [names.address]), ['127.0.0.1', '127.0.0.2', '::1'])
  assert.deepEqual(names.asked, ['many.example.org', 'many.example.org'])
})

test('a name that no server knows is a dns error, also in fetch', async (t) => {
  const names = await startNameServer(() => [])
  t.after(() => names.close())
  const egress = openTestEgress(t, { mode: 'public', resolve: (name) => resolveName(name, [names.address]) })
  await assert.rejects(egress.send({ method: 'GET', url: 'https://none.example.org/' }), { name: 'EgressError', reason: 'dns' })
  await assert.rejects(egress.fetch('https://none.example.org/'), { name: 'EgressError', reason: 'dns' })
})

test('an answer that changes between lookups is checked at each connection; a pooled connection keeps the one that it passed', async (t) => {
  let addresses = ['127.0.0.1']
  const names = await startNameServer(() => addresses)
  t.after(() => names.close())
  const egress = openTestEgress(t, { mode: 'loopback', resolve: (name) => resolveName(name, [names.address]) })
  const send = () => egress.send({ method: 'GET', url: `http://rebind.example.org:${server.port}/` })
  const reached = server.accepted()
  assert.equal((await send()).body.toString(), 'ok')

  addresses = ['10.0.0.1']
  // The connection is free again in the next turn of the loop.
  await new Promise(setImmediate)
  assert.equal((await send()).status, 200)
  assert.equal(server.accepted(), reached + 1)
  assert.equal(names.asked.length, 2)

  server.dropConnections()
  await server.untilOpen(0)
  for (const bad of ['10.0.0.1', '169.254.169.254', '::ffff:127.0.0.1', '0.0.0.0']) {
    addresses = ['127.0.0.1', bad]
    await assert.rejects(send(), { reason: 'refused_address' }, bad)
  }
  assert.equal(server.accepted(), reached + 1)

  addresses = ['127.0.0.1']
  assert.equal((await send()).status, 200)
})

test('a connection that is always busy is given up after a minute: then the name is asked for again, and its new address judged', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  let addresses = ['127.0.0.1']
  const egress = openTestEgress(t, { mode: 'loopback', resolve: async () => addresses })
  const send = () => egress.send({ method: 'GET', url: `http://moves.example.org:${server.port}/` })
  const reached = server.accepted()
  assert.equal((await send()).status, 200)
  addresses = ['10.0.0.1']
  for (let seconds = 0; seconds < 60; seconds += 2) {
    await new Promise(setImmediate)
    assert.equal((await send()).status, 200)
    t.mock.timers.tick(2_000)
  }
  assert.equal(server.accepted(), reached + 1, 'all over one connection')
  t.mock.timers.tick(1_000)
  await new Promise(setImmediate)
  await assert.rejects(send(), { reason: 'refused_address' })
})

test('a connection that ended elsewhere than its name said is closed before a byte is sent', async (t) => {
  const connect = net.connect
  const diverted = t.mock.method(net, 'connect', (options: net.TcpNetConnectOpts) => connect({ ...options, host: '127.0.0.1' }))
  const egress = openTestEgress(t, { mode: 'public', resolve: async () => ['93.184.216.34'] })
  const url = `https://fine.example.org:${server.port}/`
  const [reached, received] = [server.accepted(), server.received()]
  await assert.rejects(egress.send({ method: 'POST', url, body: 'secret' }), { reason: 'refused_address' })
  await assert.rejects(egress.fetch(url), { reason: 'refused_address' })
  assert.equal(diverted.mock.callCount(), 2)
  diverted.mock.restore()
  await server.untilAccepted(reached + 2)
  await server.untilOpen(0)
  assert.equal(server.received(), received)
})

test('a lookup that never answers ends with the deadline', async (t) => {
  const egress = openTestEgress(t, { mode: 'public', resolve: () => new Promise(() => undefined) })
  const url = 'https://slow.example.org/'
  const now = startLoopClock(t)
  const start = now()
  await assert.rejects(egress.send({ method: 'GET', url, timeoutMs: 100 }), { reason: 'timeout' })
  await assert.rejects(egress.fetchWithin({ timeoutMs: 100, maxAnswerBytes: 1 })(url), { reason: 'timeout' })
  assert.ok(now() - start < 5_000)
})
