import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openEgressTo } from '#testing/open-test-egress.ts'
import { usedBytes } from '#testing/used-bytes.ts'

/** Sends something, and then the same again and again, as fast as it is read. */
const endless = (head: string, more: string) => (socket: Socket) =>
  socket.once('data', () => {
    const chunk = Buffer.from(more.repeat(Math.ceil(262_144 / more.length)))
    const write = () => {
      if (socket.destroyed) return
      if (socket.write(chunk)) setImmediate(write)
      else socket.once('drain', () => setImmediate(write))
    }
    socket.write(head)
    write()
  })

const answers: [string, string, string, string][] = [
  ['hints', '', 'HTTP/1.1 103 Early Hints\r\n\r\n', 'protocol'],
  ['a hundred-continue', '', 'HTTP/1.1 100 Continue\r\n\r\n', 'lost'],
  ['headers', 'HTTP/1.1 200 OK\r\n', 'x: y\r\n', 'protocol'],
  ['a status line', 'HTTP/1.1 200 ', 'x', 'lost'],
  ['the extension of a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;', 'a=b;', 'lost'],
]

for (const [name, head, more, reason] of answers) {
  test(`an answer that never comes to its body is given up long before its time: ${name}`, async (t) => {
    const { egress, url, server } = await openEgressTo(t, endless(head, more))
    const startedAt = performance.now()
    const sent = egress.send({ method: 'GET', url, timeoutMs: 60_000 })
    await assert.rejects(sent, (error: { reason?: string }) => {
      assert.equal(error.reason, reason, String(error))
      return true
    })
    assert.ok(performance.now() - startedAt < 30_000)
    await server.untilOpen(0)
  })
}

test('a body in pieces of one byte is read as far as it may be long', async (t) => {
  const { egress, url } = await openEgressTo(t, endless('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '1\r\nx\r\n'))
  const { body, truncated } = await egress.send({ method: 'GET', url, timeoutMs: 60_000 })
  assert.deepEqual([body.length, truncated], [65_536, true])
})

test('a body that arrives byte by byte takes little more memory than its bytes', async (t) => {
  const count = 30_000
  let taken = 0
  const { egress, url } = await openEgressTo(t, (socket) => {
    const send = async () => {
      socket.setNoDelay().write(`HTTP/1.1 200 OK\r\ncontent-length: ${count}\r\n\r\n`)
      const before = usedBytes()
      for (let sent = 1; sent < count; sent++) {
        socket.write('x')
        // In a turn of its own, so that the reader gets it alone.
        await nextTurn()
      }
      taken = usedBytes() - before
      socket.write('x')
    }
    socket.once('data', () => void send())
  })
  const { body, truncated } = await egress.send({ method: 'GET', url, timeoutMs: 60_000 })
  assert.deepEqual([body.toString(), truncated], ['x'.repeat(count), false])
  assert.ok(taken < 3_000_000, `${taken} bytes`)
})

test('a compressed answer is not unpacked: as text it is what it is, and to a library it is an error', async (t) => {
  const answer = 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc'
  const { egress, url } = await openEgressTo(t, (socket) => socket.on('data', () => socket.write(answer)))
  assert.equal((await egress.send({ method: 'GET', url })).body.toString(), 'abc')
  await assert.rejects(egress.fetch(url), { reason: 'protocol' })
})
