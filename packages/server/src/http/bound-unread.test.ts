import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import Fastify from 'fastify'
import { boundUnread, sendBody } from './bound-unread.ts'

/** More than the kernel takes for a reader that does not read. */
const content = Buffer.alloc(10 * 1024 * 1024, 'x').toString()
const app = Fastify()
const sockets: Socket[] = []
before(async () => {
  boundUnread(app)
  app.setErrorHandler((error: { code?: string }, _req, reply) => reply.code(error.code === 'unavailable' ? 503 : 500).send())
  app.get('/read', (req, reply) => sendBody(req, reply, content))
  app.get('/page', (req, reply) =>
    sendBody(
      req,
      reply.headers({
        'x-request-id': 'req_1',
        ratelimit: '"tenant";r=1;t=1',
        'access-control-allow-origin': '*',
        'content-type': 'text/html',
        'content-encoding': 'gzip',
        'content-language': 'de',
        'content-security-policy': "default-src 'none'",
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cache-control': 'public',
        etag: 'W/"1"',
        vary: 'Authorization, accept-encoding, Accept-Language',
      }),
      content,
    ),
  )
  app.post('/read', (req, reply) => sendBody(req, reply, content, true))
  app.post('/write', (req, reply) => sendBody(req, reply, content))
  await app.listen({ host: '127.0.0.1', port: 0 })
})
after(async () => {
  for (const socket of sockets) socket.destroy()
  await app.close()
})

/** Asks, and does not read the answer. */
async function askHead(line: string): Promise<string> {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => undefined)
  socket.write(`${line} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`)
  const [head] = (await once(socket, 'data')) as [Buffer]
  socket.pause()
  return head.toString('latin1').split('\r\n\r\n', 1)[0]!
}

const ask = async (line: string) => Number((await askHead(line)).slice(9, 12))

test('beyond the budget, a read by POST is refused as a GET is, and the answer to a write is sent', async () => {
  const statuses = [await ask('POST /read'), await ask('POST /read'), await ask('GET /read'), await ask('POST /write')]
  assert.deepEqual(statuses, [200, 503, 503, 200])
})

test('a refusal has the headers of an error, and none of the page that is not sent', async () => {
  const [status, ...headers] = (await askHead('GET /page')).split('\r\n')
  assert.match(status ?? '', / 503 /)
  const named = Object.fromEntries(headers.map((line) => line.toLowerCase().split(/: (.*)/s)))
  for (const name of ['date', 'keep-alive', 'connection', 'content-length']) delete named[name]
  assert.deepEqual(named, {
    'x-request-id': 'req_1',
    ratelimit: '"tenant";r=1;t=1',
    'access-control-allow-origin': '*',
    vary: 'authorization',
  })
})
