import assert from 'node:assert/strict'
import { createServer, request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { buffer } from 'node:stream/consumers'
import { sendStream } from './send-stream.ts'

/** A server that answers with the stream. Returns the response, and the result of the sending. */
async function ask(t: TestContext, stream: Readable): Promise<{ answer: IncomingMessage; sent: Promise<string> }> {
  const outcome = Promise.withResolvers<string>()
  const server = createServer((_req, res) => {
    res.writeHead(200, { 'content-length': 3_000_000 })
    sendStream(res, stream).then(
      () => outcome.resolve('done'),
      (error: Error) => outcome.resolve(error.message),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const answer = await new Promise<IncomingMessage>((resolve) =>
    request({ port, host: '127.0.0.1', agent: false }, resolve).end(),
  )
  return { answer, sent: outcome.promise }
}

/** Three million bytes, in chunks that do not share memory. */
async function* chunks(made: Buffer[], breakAfter = Infinity) {
  for (let i = 0; i < 30; i++) {
    if (i === breakAfter) throw new Error('the disk broke')
    const chunk = Buffer.from(new ArrayBuffer(100_000)).fill(i)
    made.push(chunk)
    yield chunk
  }
}

test('every byte arrives, and the memory of each chunk is freed', async (t) => {
  const made: Buffer[] = []
  const { answer, sent } = await ask(t, Readable.from(chunks(made)))
  const body = await buffer(answer)
  assert.deepEqual(body, Buffer.concat(Array.from({ length: 30 }, (_, i) => Buffer.alloc(100_000, i))))
  assert.equal(await sent, 'done')
  assert.deepEqual(
    made.map((chunk) => chunk.length),
    made.map(() => 0),
  )
})

test('a chunk that shares its memory is not freed', async (t) => {
  const whole = Buffer.alloc(3_000_000, 7)
  const parts = Array.from({ length: 30 }, (_, i) => whole.subarray(i * 100_000, (i + 1) * 100_000))
  const { answer } = await ask(t, Readable.from(parts))
  assert.deepEqual(await buffer(answer), whole)
  assert.equal(whole.length, 3_000_000)
})

test('when the client disconnects, the reading ends without an error', async (t) => {
  const stream = Readable.from(chunks([]))
  const { answer, sent } = await ask(t, stream)
  answer.once('data', () => answer.destroy())
  answer.once('error', () => undefined)
  assert.equal(await sent, 'done')
  assert.ok(stream.destroyed)
})

test('when the stream fails, the response is truncated', async (t) => {
  const { answer, sent } = await ask(t, Readable.from(chunks([], 5)))
  await assert.rejects(buffer(answer), { code: 'ECONNRESET' })
  assert.equal(await sent, 'the disk broke')
})
