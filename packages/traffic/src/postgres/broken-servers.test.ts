import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { startLoopClock } from '../../../server/testing/busy-machine.ts'
import { ConnectionLost, isConnectionLost } from '../database-errors.ts'
import { admitted, answering, connectUpstream, message, open, startServer, urlOfProxy } from './testing/fake-server.ts'

const isLost = (error: unknown) => error instanceof ConnectionLost

test('messages may come one byte at a time, and queries may leave so', async () => {
  const url = await startServer((client) => {
    const upstream = connectUpstream()
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', (chunk) => chunk.forEach((_, i) => to.write(chunk.subarray(i, i + 1))))
      from.on('close', () => to.destroy()).on('error', () => undefined)
      to.setNoDelay(true)
    }
  })
  const connection = await open({ url: urlOfProxy(url) })
  const text = 'ä€🎈'.repeat(100)
  const { rows } = await connection.query('select $1::text as text, n from generate_series(1, 3) n', [text])
  assert.deepEqual(
    rows,
    ['1', '2', '3'].map((n) => ({ text, n })),
  )
  await assert.rejects(connection.query('select 1 / 0'), { code: '22012', message: 'division by zero' })
})

test('an answer that ends in the middle of a message loses the connection', async () => {
  const row = message('D', Buffer.from([0, 1]), 3, 'abc')
  const field = Buffer.concat([Buffer.from('n\0'), Buffer.alloc(18)])
  const whole = Buffer.concat([message('T', Buffer.from([0, 1]), field), row, message('C', 'SELECT 1\0'), message('Z', 'I')])
  for (let length = 0; length < whole.length; length += 3) {
    const connection = await open({ url: await startServer(answering(whole.subarray(0, length), true)) })
    await assert.rejects(connection.query('select n'), isLost, `${length} bytes`)
    assert.equal(connection.isOpen, false)
  }
  const connection = await open({ url: await startServer(answering(whole)) })
  assert.deepEqual((await connection.query('select n')).rows, [{ n: 'abc' }])
})

test('messages that cannot be, or that answer nothing, lose the connection', async () => {
  const answers = {
    'no type of the protocol': message('?', 'x'),
    'a row before its description': message('D', Buffer.from([0, 1]), 3, 'abc'),
    'a row with a negative number of columns': message('D', Buffer.from([255, 255])),
    'an unknown kind of login': message('R', 99),
    'the start of SCRAM': message('R', 10, 'SCRAM-SHA-256\0\0'),
    'two answers for one query': Buffer.concat([message('Z', 'I'), message('C', 'SELECT 1\0'), message('Z', 'I')]),
  }
  for (const [name, bytes] of Object.entries(answers)) {
    const connection = await open({ url: await startServer(answering(bytes)), answerMs: 5_000 })
    const lost = new Promise<Error>((resolve) => (connection.onLost = resolve))
    await connection.query('select 1').catch(() => undefined)
    await lost
    assert.equal(connection.isOpen, false, name)
  }
})

test('a server that refuses, hangs, leaves or talks nonsense during the login fails it', async () => {
  const refusal = message('E', 'SFATAL\0C53300\0Mtoo many clients\0\0')
  const cases: [string, Parameters<typeof startServer>[0], (error: unknown) => boolean][] = [
    ['closes at once', (socket) => socket.destroy(), isConnectionLost],
    ['ends politely', (socket) => socket.end(), isConnectionLost],
    ['closes after the startup message', (socket) => void socket.once('data', () => socket.end()), isConnectionLost],
    ['never answers', () => undefined, isLost],
    ['admits and is never ready', (socket) => void socket.once('data', () => socket.write(message('R', 0))), isLost],
    [
      'refuses',
      (socket) => void socket.once('data', () => socket.write(refusal)),
      (error) => (error as { code?: string }).code === '53300',
    ],
    ['speaks HTTP', (socket) => void socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')), () => true],
    ['asks for Kerberos', (socket) => void socket.once('data', () => socket.write(message('R', 7))), () => true],
  ]
  for (const [name, serve, isExpected] of cases) {
    const error: unknown = await open({ url: await startServer(serve), connectMs: 800 }).then(
      () => assert.fail(name),
      (reason: unknown) => reason,
    )
    assert.ok(error instanceof Error && isExpected(error), `${name}: ${String(error)}`)
    assert.doesNotMatch(error.message, /pencil/)
  }
})

test("nobody listens: the error is the system's, and an aborted attempt ends with the reason", async () => {
  await assert.rejects(open({ url: 'postgresql://tester@127.0.0.1:1/tester' }), { code: 'ECONNREFUSED' })
  await assert.rejects(open({ url: 'postgresql://tester@localhost/tester?host=/nowhere' }), { code: 'ENOENT' })
  const closing = new AbortController()
  const url = await startServer((socket) => void socket.once('data', () => closing.abort(new Error('closing'))))
  await assert.rejects(open({ url, signal: closing.signal }), /closing/)
  await assert.rejects(open({ url, signal: AbortSignal.abort(new Error('closed')) }), /closed/)
})

test('a connection that is reset between two queries is lost, and no error goes unheard', async () => {
  const connection = await open({
    url: await startServer((socket) => {
      socket.once('data', () => {
        socket.write(admitted)
        setTimeout(() => socket.resetAndDestroy(), 20)
      })
    }),
  })
  const error = await new Promise<Error>((resolve) => (connection.onLost = resolve))
  assert.ok(isConnectionLost(error))
})

test('a server that never closes its side does not hold up the end', async (t) => {
  const serve = (socket: Socket) => void socket.once('data', () => (socket.write(admitted), socket.pause()))
  const connection = await open({ url: await startServer(serve) })
  const now = startLoopClock(t)
  const started = now()
  await connection.end()
  assert.ok(now() - started < 4_000)
})
