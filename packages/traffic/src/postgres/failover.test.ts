import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startLoopClock } from '../../../server/testing/busy-machine.ts'
import { Connections } from '../connections.ts'
import { ConnectionLost, isAnswerLost, isConnectionLost, isPassing } from '../database-errors.ts'
import {
  admitted,
  answering,
  answeringEach,
  message,
  open,
  startServer,
  urlOfProxy,
  connectUpstream,
} from './testing/fake-server.ts'

const refusal = (code: string, severity = 'FATAL') => message('E', `S${severity}\0V${severity}\0C${code}\0Mno\0\0`)

test('a server that is full, starts or stops refuses the login as passing', async () => {
  for (const code of ['53300', '57P01', '57P03', '08004']) {
    const url = await startServer((socket) => void socket.once('data', () => socket.end(refusal(code))))
    await assert.rejects(open({ url }), (error: { code: string }) => error.code === code && isPassing(error), code)
  }
})

test('the end of the server in the middle of a query leaves its outcome unknown', async () => {
  for (const code of ['57P01', '57P02', '08006']) {
    const connection = await open({ url: await startServer(answering(refusal(code), true)) })
    const [first, second] = [connection.query('insert 1'), connection.query('insert 2')]
    await assert.rejects(first, (error: { code: string }) => error.code === code && isAnswerLost(error) && isPassing(error))
    await assert.rejects(second, (error) => isAnswerLost(error) && isPassing(error))
    assert.equal(connection.isOpen, false)
  }
})

test('what is no message of the protocol leaves the outcome of a write unknown, and its error says what came', async () => {
  for (const bytes of [message('?', 'x'), message('R', 99), message('D', Buffer.from([255, 255])), message('R', 0)]) {
    const connection = await open({ url: await startServer(answering(bytes)), answerMs: 5_000 })
    const error: unknown = await connection.query('insert').catch((reason: unknown) => reason)
    assert.ok(error instanceof ConnectionLost && isAnswerLost(error) && isPassing(error), String(error))
    assert.doesNotMatch(error.message, /in time/)
  }
})

test('after a Citus worker is lost, a write may have been committed; an error that a worker reports has a known outcome', () => {
  const error = (routine: string, message: string) => Object.assign(new Error(message), { code: 'XX000', routine })
  for (const lost of [
    error('ErrorIfPostCommitFailedShardPlacements', 'could not commit transaction for shard 1 on at least one active node'),
    error('ReportResultError', 'server closed the connection unexpectedly\n\tThis probably means'),
    error('ReportResultError', 'could not receive data from server: Connection reset by peer'),
    error('ReportResultError', 'no connection to the server'),
  ])
    assert.ok(isAnswerLost(lost) && isPassing(lost), lost.message)
  // Rolled back on all nodes.
  const undone = error('MarkRemoteTransactionFailed', 'failure on connection marked as essential')
  assert.ok(!isAnswerLost(undone) && isPassing(undone))
  const own = error('ReportResultError', 'could not read block 7 in file "base/1/2": read only 0 of 8192 bytes')
  assert.ok(!isAnswerLost(own) && !isPassing(own))
})

test('after the time limit nothing is written, except by a worker that runs the statement outside a transaction', () => {
  const late = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })
  assert.deepEqual([isAnswerLost(late), isAnswerLost(late, { onWorker: true })], [false, true])
})

test('a connection to a server that became a standby is not used again', async () => {
  const readOnly = Buffer.concat([refusal('25006', 'ERROR'), message('Z', 'I')])
  let opened = 0
  const serve = answeringEach(readOnly)
  const url = await startServer((socket) => (opened++, serve(socket)))
  const connections = new Connections({ url, max: 1, onError: () => assert.fail('nothing idle breaks') })
  const isStandby = (error: unknown) => (error as { code?: string }).code === '25006' && isPassing(error)
  await assert.rejects(connections.query('insert 1'), isStandby)
  await assert.rejects(connections.query('insert 2'), isStandby)
  assert.equal(opened, 2)
  await connections.end()
})

test('a server that vanishes without a word costs each query its deadline, and a new connection finds the next', async (t) => {
  const sockets = new Set<Socket>()
  let isGone = false
  const url = await startServer((client) => {
    const upstream = connectUpstream()
    sockets.add(client)
    client.on('data', (bytes) => isGone || upstream.write(bytes)).on('close', () => upstream.destroy())
    upstream.on('data', (bytes) => isGone || client.write(bytes)).on('close', () => client.destroy())
  })
  const errors: Error[] = []
  const connections = new Connections({ url: urlOfProxy(url), max: 3, answerMs: 1_000, onError: (error) => errors.push(error) })
  await Promise.all([1, 2, 3].map(() => connections.query('select 1')))
  isGone = true
  const now = startLoopClock(t)
  const started = now()
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => connections.query('select 1')))
  assert.ok(outcomes.every((outcome) => outcome.status === 'rejected' && isConnectionLost(outcome.reason)))
  assert.ok(now() - started < 5_000)
  isGone = false
  assert.equal((await connections.query('select 1 as n')).rows[0]!.n, '1')
  assert.deepEqual([connections.totalCount, errors], [1, []])
  await connections.end()
})

test('an answer that the server never asked a login for does not open the connection', async () => {
  const early = [message('Z', 'I'), Buffer.concat([message('R', 10, 'SCRAM-SHA-256\0\0'), message('Z', 'I')])]
  for (const bytes of early) {
    const url = await startServer((socket) => void socket.once('data', () => socket.write(bytes)))
    await assert.rejects(open({ url, connectMs: 5_000 }), /ready before the login/)
  }
  await open({ url: await startServer((socket) => void socket.once('data', () => socket.write(admitted))) })
})

test('settings that the server refuses fail the opening, and the connection does not stay', async () => {
  let openCount = 0
  const url = await startServer((client) => {
    const upstream = connectUpstream()
    openCount++
    client.on('close', () => (openCount--, upstream.destroy()))
    client.pipe(upstream).pipe(client)
  })
  await assert.rejects(open({ url: urlOfProxy(url), settings: { no_such: 1 } }), { code: '42704' })
  for (const deadline = Date.now() + 5_000; openCount > 0; await delay(5)) assert.ok(Date.now() < deadline)
})

test('a row that is not as it was described loses the connection', async () => {
  const field = Buffer.concat([Buffer.from('n\0'), Buffer.alloc(18)])
  const described = message('T', Buffer.from([0, 1]), field)
  for (const row of [message('D', Buffer.from([0, 0])), message('D', Buffer.from([0, 2]), 1, 'a', 1, 'b')]) {
    const end = Buffer.concat([described, row, message('C', 'SELECT 1\0'), message('Z', 'I')])
    const connection = await open({ url: await startServer(answering(end)) })
    await assert.rejects(
      connection.query('select n'),
      (error) => error instanceof ConnectionLost && /described/.test(error.message),
    )
  }
})
