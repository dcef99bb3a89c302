import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { BlobWorld } from './blob-suite.ts'
import { bytesOf } from './blob-bytes.ts'
import { sendHttp } from './send-http.ts'

const bytes = bytesOf(100_000)
const terms = { key: 'downloads/picture', mime: 'image/avif', expiresInSeconds: 300 }

export function testSignedDownloads(world: () => BlobWorld): void {
  before(() => world().blobs.write(terms.key, bytes, { mime: terms.mime }))

  test('a signed address gives the file, as the type it was made for', async () => {
    const { blobs, reach } = world()
    const { url } = await blobs.presignDownload(terms)
    const answer = await sendHttp('GET', reach(url))
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['content-type'], terms.mime)
    assert.equal(answer.headers['content-length'], String(bytes.length))
    assert.deepEqual(answer.body, bytes)
  })

  test('a signed address gives a range', async () => {
    const { blobs, reach } = world()
    const { url } = await blobs.presignDownload(terms)
    for (const [range, start, end] of [
      ['bytes=10-19', 10, 19],
      ['bytes=99990-', 99_990, 99_999],
      ['bytes=-5', 99_995, 99_999],
    ] as const) {
      const answer = await sendHttp('GET', reach(url), { range })
      assert.equal(answer.status, 206, range)
      assert.equal(answer.headers['content-range'], `bytes ${start}-${end}/100000`)
      assert.deepEqual(answer.body, bytes.subarray(start, end + 1), range)
    }
  })

  test('a changed download address is refused', async () => {
    const { blobs, stranger, reach } = world()
    await blobs.write('downloads/other', bytes, { mime: terms.mime })
    const { url } = await blobs.presignDownload(terms)
    const forged = await stranger.presignDownload(terms)
    for (const wrong of [
      url.replace('downloads/picture', 'downloads/other'),
      url.replace('image%2Favif', 'text%2Fhtml'),
      url.replace(/signature=./i, (found) => `${found.slice(0, -1)}${found.endsWith('0') ? '1' : '0'}`),
      url.replace(/(expires=)(\d+)/i, '$19$2'),
      forged.url,
    ]) {
      assert.notEqual(wrong, url)
      const { status } = await sendHttp('GET', reach(wrong))
      assert.ok(status === 403 || status === 400, `${status} ${wrong}`)
    }
    assert.equal(
      (await sendHttp('PUT', reach(url), { 'content-type': terms.mime, 'content-length': '1' }, Buffer.from('x'))).status,
      403,
    )
  })
}
