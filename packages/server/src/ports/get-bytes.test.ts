import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { AnswerTooLong, getBytes } from './get-bytes.ts'

const bounds = { maxBytes: 1_000, timeoutMs: 20_000 }
const server = createServer((req, res) => {
  if (req.url === '/whole') res.end('x'.repeat(bounds.maxBytes))
  else if (req.url === '/long') res.end('x'.repeat(bounds.maxBytes + 1))
  else if (req.url === '/moved') res.writeHead(302, { location: '/whole' }).end()
  else if (req.url === '/broken') res.writeHead(502).end('x'.repeat(bounds.maxBytes + 1))
  else if (req.url === '/stops') res.write('x')
  else if (req.url === '/cut') res.writeHead(200, { 'content-length': 2 }).write('x', () => res.destroy())
  // Any other path is never answered.
})
let origin: string

before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => {
  server.closeAllConnections()
  server.close()
})

test('an answer is read up to the bound, and a redirect is not followed', async () => {
  assert.equal((await getBytes(`${origin}/whole`, bounds)).length, bounds.maxBytes)
  await assert.rejects(getBytes(`${origin}/long`, bounds), AnswerTooLong)
  await assert.rejects(getBytes(`${origin}/moved`, bounds), /answered 302/)
})

test('the body of another status counts for nothing, however long it is', async () => {
  await assert.rejects(getBytes(`${origin}/broken`, bounds), (error: Error) => {
    return !(error instanceof AnswerTooLong) && /answered 502/.test(error.message)
  })
})

test('an answer that does not come, stops or is cut off is an error', async () => {
  for (const path of ['/never', '/stops', '/cut']) {
    const from = Date.now()
    await assert.rejects(getBytes(`${origin}${path}`, { ...bounds, timeoutMs: 300 }), path)
    assert.ok(Date.now() - from < 8_000, `${path} took ${Date.now() - from} ms`)
  }
  server.close()
  server.closeAllConnections()
  await assert.rejects(getBytes(`${origin}/whole`, bounds), /ECONNREFUSED/)
})
