import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir, stat } from 'node:fs/promises'
import { request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { after, before, test } from 'node:test'
import { mountDisk, whyNoDisk } from '../../../../tests/support/small-disk.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'
import { bytesOf, mebibyte, sha256Of } from '#testing/blobs/blob-bytes.ts'
import { breakOff, sendHttp } from '#testing/blobs/send-http.ts'

const mime = 'image/webp'
const bytes = bytesOf(50_000)
const origin = 'https://app.example'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

const reach = (url: string) => url.replace(api.ctx.config.publicUrl, api.origin)

async function upload(key: string, size = bytes.length, sha256?: string) {
  const signed = await api.ctx.blobs.presignUpload({ key, mime, bytes: size, sha256, expiresInSeconds: 60 })
  return { ...signed, url: reach(signed.url) }
}

function errorOf(body: Buffer) {
  return JSON.parse(body.toString()).error as { code: string; reason?: string; request_id: string; details?: { path: string }[] }
}

test('any page may ask whether it may upload', async () => {
  const { url } = await upload('uploads/preflight')
  const headers = { origin, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'content-type' }
  const answer = await sendHttp('OPTIONS', url, headers)
  assert.equal(answer.status, 204)
  assert.equal(answer.headers['access-control-allow-origin'], '*')
  assert.equal(answer.headers['access-control-allow-credentials'], undefined)
  assert.equal(answer.headers['access-control-allow-methods'], 'PUT')
  assert.equal(answer.headers['access-control-allow-headers'], 'Content-Type')
})

test('the address of an upload takes no other method', async () => {
  const { url, headers } = await upload('uploads/methods')
  assert.equal((await sendHttp('PUT', url, headers, bytes)).status, 200)
  for (const method of ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE']) assert.equal((await sendHttp(method, url)).status, 404, method)
})

test('a page may read what became of its upload, good or bad', async () => {
  const { url, headers } = await upload('uploads/cors')
  const good = await sendHttp('PUT', url, { ...headers, origin }, bytes)
  assert.equal(good.headers['access-control-allow-origin'], '*')
  assert.match(good.headers['access-control-expose-headers']!, /\bETag\b/)
  const bad = await sendHttp('PUT', `${url}x`, { ...headers, origin }, bytes)
  assert.equal(bad.status, 403)
  assert.equal(bad.headers['access-control-allow-origin'], '*')
})

test('each refusal has its code', async () => {
  const { url, headers } = await upload('uploads/codes')
  const send = async (changed: Record<string, string>, to = url) => {
    const { status, body } = await sendHttp(
      'PUT',
      to,
      { ...headers, ...changed },
      bytes.subarray(0, Number(changed['content-length'] ?? 50_000)),
    )
    const { code, reason, details, request_id } = errorOf(body)
    assert.match(request_id, /^req_/)
    return [status, code, reason ?? details?.[0]?.path]
  }
  assert.deepEqual(await send({}, `${url}x`), [403, 'not_authorized', 'bad_signature'])
  const old = await api.ctx.blobs.presignUpload({ key: 'uploads/codes', mime, bytes: 50_000, expiresInSeconds: -1 })
  assert.deepEqual(await send({}, reach(old.url)), [403, 'not_authorized', 'expired'])
  assert.deepEqual(await send({ 'content-type': 'image/png' }), [400, 'invalid_request', 'Content-Type'])
  assert.deepEqual(await send({ 'content-type': 'application/json' }), [400, 'invalid_request', 'Content-Type'])
  assert.deepEqual(await send({ 'content-length': '49999' }), [400, 'invalid_request', 'Content-Length'])
  const small = await upload('uploads/codes', 49_999)
  assert.deepEqual(await send({ 'content-length': '50000' }, small.url), [413, 'payload_too_large', undefined])
  const hashed = await upload('uploads/codes', bytes.length, sha256Of(Buffer.from('something else')))
  assert.deepEqual(await send({}, hashed.url), [400, 'invalid_request', ''])
})

test('a refusal reaches a client that sends a large body without looking', async () => {
  const size = 20 * mebibyte
  const { url } = await upload('uploads/large-refused', size)
  const answer = await fetch(url, { method: 'PUT', headers: { 'content-type': 'image/png' }, body: Buffer.alloc(size) })
  assert.equal(answer.status, 400)
})

test('a client that has asked for the end of the connection can send a refused body whole', async () => {
  const size = 20 * mebibyte
  const { url } = await upload('uploads/refused-at-the-end', size)
  for (let i = 0; i < 5; i++) {
    const headers = { 'content-type': 'image/png', 'content-length': size, connection: 'close' }
    const req = request(url, { method: 'PUT', headers, agent: false })
    const [[res]] = await Promise.all([once(req, 'response'), pipeline(Readable.from(pieces(size)), req)])
    assert.equal(res.statusCode, 400)
    res.resume()
  }
})

test('one that stops sending gets the answer when the time of a request is over', async (t) => {
  const { requestTimeout } = api.server
  api.server.requestTimeout = 500
  t.after(() => (api.server.requestTimeout = requestTimeout))
  const { url } = await upload('uploads/refused-slowly', mebibyte)
  const { hostname, port, pathname, search } = new URL(url)
  const socket = connect(Number(port), hostname)
  const head = `PUT ${pathname}${search} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: image/png`
  socket.write(`${head}\r\nContent-Length: ${mebibyte}\r\n\r\nx`)
  const [answer] = await once(socket, 'data', { signal: AbortSignal.timeout(20_000) })
  assert.match(String(answer), /^HTTP\/1.1 400 /)
  socket.destroy()
})

function* pieces(size: number): Generator<Buffer> {
  for (let sent = 0; sent < size; sent += mebibyte) yield Buffer.alloc(mebibyte)
}

/**
 * Sends so much to the address, without looking; says how much went out before the connection ended, and what was
 * answered.
 */
function pour(url: string, size: number): Promise<{ sent: number; answer: string }> {
  const { hostname, port, pathname, search } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    let answer = ''
    socket.on('data', (data) => (answer += data)).on('error', () => {})
    socket.once('close', () => resolve({ sent: socket.bytesWritten, answer }))
    socket.write(`PUT ${pathname}${search} HTTP/1.1\r\nHost: a\r\nContent-Type: ${mime}\r\nContent-Length: ${size}\r\n\r\n`)
    const chunk = Buffer.alloc(mebibyte)
    const more = () => {
      if (socket.destroyed) return
      if (socket.bytesWritten >= size) socket.end()
      else socket.write(chunk, more)
    }
    socket.once('data', more)
  })
}

test('what a stranger sends is not read', async () => {
  const size = 60 * mebibyte
  const { url } = await upload('uploads/stranger', size)
  const { sent, answer } = await pour(`${url}x`, size)
  assert.match(answer, /^HTTP\/1.1 403 /)
  assert.match(answer, /connection: close/i)
  assert.ok(sent < 20 * mebibyte, `${sent} bytes went out`)
})

test('requests without a valid address are rate limited, and those with one are not', async (t) => {
  const limited = await startTestApi({ rateLimit: '0.1' })
  t.after(() => limited.close())
  const good = await limited.ctx.blobs.presignUpload({ key: 'uploads/good', mime, bytes: bytes.length, expiresInSeconds: 60 })
  const old = await limited.ctx.blobs.presignUpload({ key: 'uploads/good', mime, bytes: bytes.length, expiresInSeconds: -1 })
  const at = (url: string) => url.replace(limited.ctx.config.publicUrl, limited.origin)
  const statuses: number[] = []
  for (let i = 0; i < 12; i++) {
    const url = i % 2 === 0 ? `${at(good.url)}x` : at(old.url)
    const { status, headers, body } = await sendHttp('PUT', url, good.headers, bytes)
    statuses.push(status)
    if (status === 429) assert.deepEqual([errorOf(body).code, Number(headers['retry-after']) > 0], ['rate_limited', true])
  }
  // On a slow machine, one more may be allowed in between.
  assert.deepEqual([statuses[0], statuses.slice(6).includes(429)], [403, true], statuses.join())
  assert.equal((await sendHttp('PUT', at(good.url), good.headers, bytes)).status, 200)
})

test('an upload that is broken off leaves no half file', async () => {
  const { url, headers } = await upload('uploads/broken', 8 * mebibyte)
  await breakOff(url, headers, Buffer.alloc(2 * mebibyte))
  const folder = join(api.ctx.config.dataDir, 'blobs', '.growing')
  const until = Date.now() + 5_000
  const left = () => readdir(folder).catch(() => [])
  while ((await left()).length > 0 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 10))
  assert.deepEqual(await left(), [])
})

test('the rest of a refused upload is not waited for longer than for any other request', { skip: whyNoDisk() }, async (t) => {
  const disk = mountDisk(t, 240)
  const full = await startTestApi({ dataDir: disk.folder })
  t.after(() => full.close())
  full.server.requestTimeout = 2_000
  // Node reports the time limit once, and the upload has a longer one.
  const reported = once(full.server, 'clientError', { signal: AbortSignal.timeout(20_000) })
  const size = 64 * mebibyte
  const signed = await full.ctx.blobs.presignUpload({ key: 'uploads/slow', mime, bytes: size, expiresInSeconds: 60 })
  const { port, pathname, search } = new URL(signed.url.replace(full.ctx.config.publicUrl, full.origin))
  const socket = connect(Number(port), '127.0.0.1')
  t.after(() => socket.destroy())
  let answer = ''
  socket.on('data', (data) => (answer += data)).on('error', () => {})
  socket.write(`PUT ${pathname}${search} HTTP/1.1\r\nHost: a\r\nContent-Type: ${mime}\r\nContent-Length: ${size}\r\n\r\n`)
  const sending = setInterval(() => socket.write(Buffer.alloc(16_384)), 20)
  t.after(() => clearInterval(sending))
  assert.equal((await reported)[0].code, 'ERR_HTTP_REQUEST_TIMEOUT')
  assert.equal(answer, '')
  disk.fill()
  // The end may be a reset, which `once` would report as an error.
  await new Promise((resolve) => socket.once('close', resolve))
  assert.match(answer, /^HTTP\/1.1 503 /)
})

test('parallel uploads to one address take no room that is kept for another upload', { skip: whyNoDisk() }, async (t) => {
  const disk = mountDisk(t, 240)
  const small = await startTestApi({ dataDir: disk.folder })
  t.after(() => small.close())
  /** Sends the head and some of the bytes. */
  const begin = async (key: string, size: number, sent: number) => {
    const signed = await small.ctx.blobs.presignUpload({ key, mime, bytes: size, expiresInSeconds: 60 })
    const req = request(signed.url.replace(small.ctx.config.publicUrl, small.origin), {
      method: 'PUT',
      headers: { 'content-type': mime, 'content-length': size },
      agent: false,
    })
    const answered = once(req, 'response').then(([{ statusCode }]) => statusCode as number)
    answered.catch(() => {})
    req.on('error', () => {})
    t.after(() => req.destroy())
    await new Promise((resolve) => req.write(Buffer.alloc(sent), resolve))
    return { answered, req }
  }
  /** Waits until the uploads that still run have stored so many bytes. */
  const written = async (least: (uploads: number) => number) => {
    const folder = join(disk.folder, 'blobs', '.growing')
    for (const until = Date.now() + 20_000; ; await new Promise((resolve) => setTimeout(resolve, 10))) {
      const sizes = (await readdir(folder).catch(() => [])).map((name) =>
        // One that is gone is looked at again.
        stat(join(folder, name)).then(
          ({ blocks }) => blocks * 512,
          () => -Infinity,
        ),
      )
      const sum = (await Promise.all(sizes)).reduce((all, one) => all + one, 0)
      if (sum >= least(sizes.length)) return
      assert.ok(Date.now() < until, `${sum} bytes`)
    }
  }
  const victim = await begin('uploads/victim', 60 * mebibyte, mebibyte)
  await written(() => mebibyte)
  const first = await begin('uploads/parallel', 40 * mebibyte, mebibyte)
  await written(() => 2 * mebibyte)
  const second = await begin('uploads/parallel', 40 * mebibyte, mebibyte)
  await written((uploads) => uploads * mebibyte)
  for (const { req } of [first, second]) req.write(Buffer.alloc(38 * mebibyte))
  await written((uploads) => (39 * (uploads - 1) + 1) * mebibyte)
  victim.req.end(Buffer.alloc(59 * mebibyte))
  assert.equal(await victim.answered, 200)
  for (const { req } of [first, second]) req.end(Buffer.alloc(mebibyte))
  assert.deepEqual([await first.answered, await second.answered], [409, 200])
})

test('no path leads out of the folder, signed or not', async () => {
  const { url, headers } = await upload('uploads/a')
  for (const path of [
    '',
    '..',
    '../admin-token',
    '%2e%2e/admin-token',
    '..%2fadmin-token',
    'a/../../admin-token',
    '.growing/a',
    '%00',
  ]) {
    const { status } = await sendHttp('PUT', `${api.baseUrl}/blobs/${path}${new URL(url).search}`, headers, bytes)
    assert.ok([400, 403, 404].includes(status), `${path}: ${status}`)
  }
})
