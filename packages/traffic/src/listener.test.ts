import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import pg from 'pg'
import { Listener } from './listener.ts'

const serverUrl = process.env['ATRIUM_TEST_DATABASE_URL']!

const ready = 'Z\0\0\0\x05I'
const admitted = Buffer.from(`R\0\0\0\x08\0\0\0\0${ready}`, 'latin1')
const fields = 'SERROR\0VERROR\0C53200\0Mout of memory\0\0'
const refused = Buffer.from(`E\0\0\0${String.fromCharCode(4 + fields.length)}${fields}${ready}`, 'latin1')

/** A way to the database that can be closed: whoever comes then is let in and may not listen. */
async function openGate(t: TestContext) {
  const socketFolder = new URL(serverUrl).searchParams.get('host')!
  const sockets = new Set<Socket>()
  const gate = { open: true, attempts: 0 }
  const server = createServer((client) => {
    gate.attempts++
    sockets.add(client)
    client.on('error', () => undefined).on('close', () => sockets.delete(client))
    if (!gate.open) return void client.once('data', () => client.on('data', () => client.write(refused)).write(admitted))
    const database = connect(`${socketFolder}/.s.PGSQL.5432`)
    database.on('error', () => client.destroy()).on('close', () => client.destroy())
    client.on('close', () => database.destroy())
    client.pipe(database).pipe(client)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const cut = () => sockets.forEach((socket) => socket.destroy())
  t.after(() => {
    server.close()
    cut()
  })
  const { username } = new URL(serverUrl)
  const url = `postgresql://${username}@127.0.0.1:${(server.address() as AddressInfo).port}/postgres`
  return { gate, url, cut, connections: () => sockets.size }
}

test('after a loss there is one attempt at a time, with growing waits, and one gap when it is back', async (t) => {
  const { gate, url, cut, connections } = await openGate(t)
  const heard: string[] = []
  let gaps = 0

  const failures = Promise.withResolvers<void>()
  const back = Promise.withResolvers<void>()
  const message = Promise.withResolvers<void>()
  const listener = new Listener({
    url,
    channel: 'listener_test',
    onMessage: (payload) => {
      heard.push(payload)
      message.resolve()
    },
    onGap: () => {
      gaps++
      back.resolve()
    },
    onError: () => {
      if (gate.attempts >= 4) failures.resolve()
    },
  })
  await listener.start()
  t.after(() => listener.close())
  assert.equal(gate.attempts, 1)

  gate.open = false
  const lostAt = performance.now()
  cut()
  await failures.promise
  const seconds = (performance.now() - lostAt) / 1_000
  // 200 to 400 ms, then 400 to 800, 800 to 1,600 before the three attempts.
  assert.ok(seconds >= 1.3, `three attempts took ${seconds.toFixed(1)} s`)
  assert.equal(gate.attempts, 4)
  assert.equal(gaps, 0)
  assert.ok(connections() <= 1, `${connections()} connections are open: failed attempts leave none`)

  gate.open = true
  await back.promise
  assert.equal(gate.attempts, 5, 'one connection in the end, not one for each failure')
  const sender = new pg.Client({ connectionString: url })
  await sender.connect()
  await sender.query("notify listener_test, 'again'")
  await message.promise
  const listening = await sender.query('select pid from pg_stat_activity where query like \'listen "listener_test"%\'')
  await sender.end()
  assert.equal(listening.rows.length, 1)
  assert.deepEqual([heard, gaps], [['again'], 1])
})

test('one that is closed while it reconnects leaves no connection and tries no more', async (t) => {
  const { gate, url, cut } = await openGate(t)
  const lost = Promise.withResolvers<void>()
  const listener = new Listener({
    url,
    channel: 'listener_closed',
    onMessage: () => undefined,
    onGap: () => assert.fail('it is closed'),
    onError: () => lost.resolve(),
  })
  await listener.start()
  gate.open = false
  cut()
  await lost.promise
  gate.open = true
  await listener.close()
  const attempts = gate.attempts
  await new Promise((resolve) => setTimeout(resolve, 600))
  assert.equal(gate.attempts, attempts)
})
