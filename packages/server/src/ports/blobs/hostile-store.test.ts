import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { startRawServer } from '#testing/raw-server.ts'
import { contentOf } from '#testing/blobs/blob-bytes.ts'
import { S3Blobs } from './s3-blobs.ts'

const silenceMs = 300

/** A store that answers each request with a head, and then goes on as a test says. */
async function openStore(t: TestContext, onRequest: (socket: Socket, request: string) => void): Promise<S3Blobs> {
  const server = await startRawServer(
    (socket) => {
      socket.on('data', (data) => onRequest(socket, data.toString('latin1')))
    },
    { host: '127.0.0.1' },
  )
  const settings = { bucket: 'b', region: 'r', accessKeyId: 'a', secretAccessKey: 's', silenceMs }
  const blobs = new S3Blobs({ endpoint: `http://127.0.0.1:${server.port}`, ...settings })
  t.after(async () => {
    blobs.close()
    await server.close()
  })
  return blobs
}

const ok = (...headers: string[]) => `${['HTTP/1.1 200 OK', ...headers].join('\r\n')}\r\n\r\n`
const list = (body: string) => `${ok(`content-length: ${Buffer.byteLength(body)}`, 'content-type: application/xml')}${body}`

/** As fast as it is read. */
function endless(socket: Socket, head: string, more: string): void {
  const block = more.repeat(Math.ceil(262_144 / more.length))
  socket.write(head)
  const write = () => {
    if (socket.destroyed) return
    if (socket.write(block)) setImmediate(write)
    else socket.once('drain', () => setImmediate(write))
  }
  write()
}

const unavailable = { code: 'unavailable' }

async function quickly(work: Promise<unknown>, withinMs = 15_000): Promise<void> {
  const startedAt = performance.now()
  await work
  assert.ok(performance.now() - startedAt < withinMs, `${(performance.now() - startedAt).toFixed()} ms`)
}

const content = '<Contents><Key>a/b</Key><Size>1</Size></Contents>'
const result = (inside: string) => `<?xml version="1.0"?><ListBucketResult>${inside}</ListBucketResult>`

test('an answer that does not end is given up, whatever it is an answer to', async (t) => {
  const blobs = await openStore(t, (socket) => endless(socket, ok('content-type: application/xml'), content))
  const before = process.memoryUsage().rss
  await quickly(assert.rejects(blobs.list('a/'), unavailable))
  await quickly(assert.rejects(blobs.delete(['a/b']), unavailable))
  await quickly(assert.rejects(blobs.write('a/b', Buffer.from('x'), { mime: 'image/png' }), unavailable))
  assert.ok(process.memoryUsage().rss - before < 200 * 1024 * 1024)
})

test('an error that does not end is given up', async (t) => {
  const blobs = await openStore(t, (socket) => endless(socket, 'HTTP/1.1 500 No\r\ncontent-type: application/xml\r\n\r\n', '<a>'))
  await quickly(assert.rejects(blobs.read('a/b'), unavailable))
  await quickly(assert.rejects(blobs.list('a/'), unavailable))
})

test('entities of a list are not unfolded, and what is nested or not XML is an error or an empty list', async (t) => {
  const levels = Array.from({ length: 12 }, (_, i) => `<!ENTITY e${i + 1} "${`&e${i};`.repeat(10)}">`).join('')
  const bomb = `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e0 "lol">${levels}]><ListBucketResult><Contents><Key>&e12;</Key></Contents></ListBucketResult>`
  const outside =
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><ListBucketResult><Contents><Key>&f;</Key></Contents></ListBucketResult>'
  for (const body of [
    bomb,
    outside,
    result('<a>'.repeat(100_000)),
    result('<Contents>'.repeat(50_000)),
    '<',
    '{}',
    '\0'.repeat(1_000),
  ]) {
    const blobs = await openStore(t, (socket) => socket.write(list(body)))
    const listed = await blobs.list('a/').catch((error: unknown) => error)
    if (listed instanceof Error) assert.equal((listed as { code?: string }).code, 'unavailable', String(listed))
    else assert.doesNotMatch(JSON.stringify(listed), /root:|lollol/)
  }
})

test('a list that names what was not asked for, or never ends by its own word, deletes nothing else and ends', async (t) => {
  let deleted = ''
  const blobs = await openStore(t, (socket, request) => {
    if (request.startsWith('POST')) deleted += request
    const page = result(`${content.replace('a/b', 'other/tenant')}<IsTruncated>true</IsTruncated>`)
    socket.write(request.startsWith('GET') ? list(page) : list('<DeleteResult></DeleteResult>'))
  })
  await quickly(assert.rejects(blobs.deletePrefix('a/'), unavailable))
  assert.doesNotMatch(deleted, /other/)
})

const stalls: [string, (socket: Socket) => void][] = [
  ['before its head', () => undefined],
  ['in its head', (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-')],
  ['in its body', (socket) => socket.write(`${ok('content-length: 100')}<a>`)],
]
for (const [where, stall] of stalls) {
  test(`an answer that stops ${where} is given up`, async (t) => {
    const blobs = await openStore(t, stall)
    await quickly(assert.rejects(blobs.list('a/'), unavailable))
    await quickly(assert.rejects(blobs.delete(['a/b']), unavailable))
  })
}

test('a blob that comes shorter than its length fails, and one without a length is none', async (t) => {
  const short = await openStore(t, (socket) => socket.end(`${ok('content-length: 100')}abc`))
  await assert.rejects(contentOf(await short.read('a/b')))
  const lengthless = await openStore(t, (socket) => endless(socket, ok(), 'x'))
  await quickly(assert.rejects(lengthless.read('a/b'), unavailable))
})

test('a redirect is not followed', async (t) => {
  let asked = 0
  const blobs = await openStore(t, (socket) => {
    asked++
    socket.write('HTTP/1.1 307 Go\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n')
  })
  await quickly(assert.rejects(blobs.read('a/b'), unavailable))
  assert.ok(asked <= 3)
})
