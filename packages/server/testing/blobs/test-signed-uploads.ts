import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { BlobWorld } from './blob-suite.ts'
import type { SignedUpload } from '#ports/blobs/blobs.ts'
import { bytesOf, contentOf, mebibyte, sha256Of } from './blob-bytes.ts'
import { breakOff, sendHttp } from './send-http.ts'

const mime = 'image/webp'
const bytes = bytesOf(200_000)
const expiresInSeconds = 300
const terms = { mime, bytes: bytes.length, expiresInSeconds }

export function testSignedUploads(world: () => BlobWorld): void {
  const put = ({ url, headers }: SignedUpload, body: Buffer = bytes) => sendHttp('PUT', world().reach(url), headers, body)

  const assertNothingAt = async (key: string) => assert.equal(await world().blobs.stat(key), undefined)

  test('a signed address takes the upload that it was made for', async () => {
    const { blobs } = world()
    const upload = await blobs.presignUpload({ key: 'uploads/good', ...terms })
    assert.equal(upload.method, 'PUT')
    const leftMs = upload.expiresAt.getTime() - Date.now()
    assert.ok(leftMs > 290_000 && leftMs < 302_000, `${leftMs}`)
    const answer = await put(upload)
    assert.equal(answer.status, 200, answer.body.toString())
    const stat = await blobs.stat('uploads/good')
    assert.equal(stat?.bytes, bytes.length)
    assert.equal(answer.headers.etag, `"${stat?.etag}"`)
    assert.deepEqual(await contentOf(await blobs.read('uploads/good')), bytes)
  })

  test('with a hash it takes the bytes that have it', async () => {
    const { blobs } = world()
    const upload = await blobs.presignUpload({ key: 'uploads/hashed', ...terms, sha256: sha256Of(bytes) })
    const answer = await put(upload)
    assert.equal(answer.status, 200, answer.body.toString())
    assert.deepEqual(await contentOf(await blobs.read('uploads/hashed')), bytes)
  })

  test('with a hash it refuses other bytes of the same length', async (t) => {
    const { blobs, checksHashes } = world()
    if (!checksHashes) return t.skip('this store does not look at the hash')
    const upload = await blobs.presignUpload({ key: 'uploads/unlike', ...terms, sha256: sha256Of(bytes) })
    assert.equal((await put(upload, bytesOf(bytes.length, 2))).status, 400)
    await assertNothingAt('uploads/unlike')
  })

  const changed: Record<string, (upload: SignedUpload) => { url?: string; headers?: Record<string, string>; body?: Buffer }> = {
    'another type': ({ headers }) => ({ headers: { ...headers, 'content-type': 'text/html' } }),
    'its type with parameters': ({ headers }) => ({ headers: { ...headers, 'content-type': `${mime}; charset=utf-8` } }),
    'no type': ({ headers }) => ({ headers: { 'content-length': headers['content-length']! } }),
    'a longer body': ({ headers }) => ({
      headers: { ...headers, 'content-length': String(bytes.length + 1) },
      body: Buffer.concat([bytes, Buffer.from('x')]),
    }),
    'a shorter body': ({ headers }) => ({
      headers: { ...headers, 'content-length': String(bytes.length - 1) },
      body: bytes.subarray(1),
    }),
    'no body': ({ headers }) => ({ headers: { ...headers, 'content-length': '0' }, body: Buffer.alloc(0) }),
    'a body of unknown length': ({ headers }) => ({
      headers: { 'content-type': headers['content-type']!, 'transfer-encoding': 'chunked' },
    }),
    'another key': ({ url }) => ({ url: url.replace('uploads/changed', 'uploads/stolen') }),
    'a changed signature': ({ url }) => ({
      url: url.replace(/(signature=)(.)/i, (_, name, c) => name + (c === '0' ? '1' : '0')),
    }),
    'a cut signature': ({ url }) => ({ url: url.replace(/(signature=[\w-]{8})[\w-]*/i, '$1') }),
    'no signature': ({ url }) => ({ url: url.replace(/[?&](X-Amz-)?signature=[^&]*/i, '') }),
    'nothing signed at all': ({ url }) => ({ url: url.replace(/\?.*/, '') }),
    'a later end': ({ url }) => ({ url: url.replace(/(expires=)(\d+)/i, (_, name, n) => name + (Number(n) + 600)) }),
  }
  for (const [i, [name, change]] of Object.entries(changed).entries()) {
    test(`a signed address refuses ${name}`, async () => {
      const upload = await world().blobs.presignUpload({ key: `uploads/changed-${i}`, ...terms })
      const { url = upload.url, headers = upload.headers, body = bytes } = change(upload)
      assert.ok(url !== upload.url || headers !== upload.headers, 'something was changed')
      const { status } = await sendHttp('PUT', world().reach(url), headers, body)
      assert.ok(status >= 400 && status < 500, `status ${status}`)
      await assertNothingAt(`uploads/changed-${i}`)
      await assertNothingAt(`uploads/stolen-${i}`)
    })
  }

  test('an address signed with another secret is refused', async () => {
    const upload = await world().stranger.presignUpload({ key: 'uploads/forged', ...terms })
    assert.equal((await put(upload)).status, 403)
    await assertNothingAt('uploads/forged')
  })

  test('an upload address does not give the file, nor delete it', async () => {
    const { blobs, reach } = world()
    const upload = await blobs.presignUpload({ key: 'uploads/put-only', ...terms })
    await put(upload)
    for (const method of ['GET', 'DELETE']) {
      const { status } = await sendHttp(method, reach(upload.url))
      assert.ok(status === 403 || status === 404, `${method} ${status}`)
    }
    assert.ok(await blobs.stat('uploads/put-only'))
  })

  test('an address is refused once its time is over', async () => {
    const upload = await world().blobs.presignUpload({ key: 'uploads/expiring', ...terms, expiresInSeconds: 1 })
    const deadline = Date.now() + 8_000
    let status = 0
    while (status !== 403 && Date.now() < deadline) {
      status = (await put(upload)).status
      await delay(100)
    }
    assert.equal(status, 403)
  })

  test('an upload that is broken off leaves nothing', async () => {
    const { blobs, reach } = world()
    const size = 8 * mebibyte
    const upload = await blobs.presignUpload({ key: 'uploads/broken', ...terms, bytes: size })
    await breakOff(reach(upload.url), upload.headers, Buffer.alloc(3 * mebibyte))
    await assertNothingAt('uploads/broken')
    assert.equal((await put(upload, Buffer.alloc(size, 7))).status, 200, 'and can be tried again')
    assert.equal((await blobs.stat('uploads/broken'))?.bytes, size)
  })

  test('of two uploads to one address at once, one is there as a whole', async () => {
    const { blobs } = world()
    const candidates = [bytesOf(4 * mebibyte, 3), bytesOf(4 * mebibyte, 4)]
    const upload = await blobs.presignUpload({ key: 'uploads/twice', ...terms, bytes: 4 * mebibyte })
    const answers = await Promise.all(candidates.map((body) => put(upload, body)))
    const statuses = answers.map((answer) => answer.status)
    const seen = await contentOf(await blobs.read('uploads/twice'))
    const stored = candidates.findIndex((candidate) => candidate.equals(seen))
    assert.equal(statuses[stored], 200)
    // A store may end the earlier upload, and then answers it with 409.
    assert.ok([200, 409].includes(statuses[1 - stored]!), statuses.join())
  })

  test('what was promoted stays, whatever else is sent to its address', async () => {
    const { blobs } = world()
    const upload = await blobs.presignUpload({ key: 'uploads/promoted', ...terms })
    await put(upload)
    const promoted = await blobs.promote('uploads/promoted', 'ten_a/col_a/art_a/original')
    assert.equal(promoted.bytes, bytes.length)
    assert.deepEqual(await contentOf(await blobs.read('uploads/promoted')), bytes, 'the upload stays')
    assert.equal((await put(upload, bytesOf(bytes.length, 5))).status, 200)
    assert.deepEqual(await blobs.promote('uploads/promoted', 'ten_a/col_a/art_a/original'), promoted, 'nor promoted again')
    assert.deepEqual(await contentOf(await blobs.read('ten_a/col_a/art_a/original')), bytes)
    await blobs.delete(['uploads/promoted'])
    assert.deepEqual(await blobs.stat('ten_a/col_a/art_a/original'), promoted)
  })

  test('promoting again after it was done succeeds; what was never uploaded cannot be promoted', async () => {
    const { blobs } = world()
    await blobs.write('uploads/again', bytes, { mime })
    const first = await blobs.promote('uploads/again', 'ten_a/col_a/art_b/original')
    assert.deepEqual(await blobs.promote('uploads/again', 'ten_a/col_a/art_b/original'), first)
    await assert.rejects(blobs.promote('uploads/never', 'ten_a/col_a/art_c/original'), { code: 'not_found' })
  })
}
