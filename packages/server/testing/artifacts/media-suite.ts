import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import sharp from 'sharp'
import { send } from '../http.ts'
import type { TestApi } from '../test-api.ts'
import { originalKey } from '#features/blob-deletions/blob-keys.ts'
import { animation, clip, gradient } from '@atrium/media/testing/sample-pictures'
import { clearOf } from '../../../../tests/support/clear-of.ts'
import { StoredWorld, type Place } from './stored-world.ts'

export function describeMedia(name: string, open: () => TestApi): void {
  describe(`media from ${name}`, () => {
    let world: StoredWorld
    let place: Place
    let picture: string
    let whole: Buffer
    before(async () => {
      world = await StoredWorld.open(open())
      place = await world.makeCollection()
      picture = await world.publish(place, await gradient().jpeg().toBuffer(), 'image/jpeg')
      whole = (await world.media(picture)).body
    })
    const curate = (id: string, body: object) =>
      send(world.api, 'PATCH', `/collections/${place.id}/artifacts/${id}`, { ...place.owner, body })

    test('anyone gets published bytes, cacheable without end, and no browser runs them', async () => {
      const { status, headers } = await world.media(picture)
      assert.equal(status, 200)
      assert.equal(headers['content-type'], 'image/jpeg')
      assert.equal(headers['content-length'], String(whole.length))
      assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
      assert.equal(headers['accept-ranges'], 'bytes')
      assert.equal(headers['x-content-type-options'], 'nosniff')
      assert.equal(headers['content-disposition'], `inline; filename="${picture}.jpg"`)
      assert.match(headers['content-security-policy'] as string, /^default-src 'none';.*; sandbox$/)
      assert.doesNotMatch(headers['content-security-policy'] as string, /script|unsafe-eval|allow-/)
      assert.equal(headers['access-control-allow-origin'], '*')
      assert.match(String(headers['x-request-id']), /^req_/)
    })

    test('only the owner gets unpublished bytes, and no cache stores them', async () => {
      const { id } = await world.upload(place, await gradient(20, 20).png().toBuffer(), 'image/png')
      const other = await world.makeCollection()
      const missing = await world.media('art_0000000000000000000000')
      for (const headers of [{}, { 'x-collection-token': other.owner.collectionToken }, { 'x-collection-token': 'x' }]) {
        const { status, body } = await world.media(id, headers)
        const bare = (text: Buffer) => text.toString().replace(/req_\w+/, '')
        assert.deepEqual([status, bare(body)], [404, bare(missing.body)])
        assert.equal((await world.media(`${id}?w=320`, headers)).status, 404)
      }
      const own = await world.ownerMedia(place, id)
      assert.deepEqual([own.status, own.headers['cache-control']], [200, 'private, no-store'])
      for (const flags of [
        { published: true, archived: true },
        { archived: false, approved: false },
      ]) {
        await curate(id, flags)
        assert.equal((await world.media(id)).status, 404, JSON.stringify(flags))
      }
    })

    test('ranges are served, and a range beyond the end is refused', async () => {
      const part = await world.media(picture, { range: 'bytes=10-19' })
      assert.deepEqual([part.status, part.headers['content-range']], [206, `bytes 10-19/${whole.length}`])
      assert.deepEqual(part.body, whole.subarray(10, 20))
      const end = await world.media(picture, { range: 'bytes=-5' })
      assert.deepEqual([end.status, end.body], [206, whole.subarray(-5)])
      for (const range of [`bytes=${whole.length}-`, 'bytes=0-1,5-6', 'lines=1-2', 'bytes=9-3']) {
        const { status, body } = await world.media(picture, { range })
        assert.deepEqual([status, body.length], [200, whole.length], range)
      }
    })

    test('an ETag saves the bytes, and tells whether a range is of the same bytes', async () => {
      const etag = (await world.media(picture)).headers.etag!
      assert.match(etag, /^"[0-9a-f]{64}"$/)
      const unchanged = await world.media(picture, { 'if-none-match': `"x", W/${etag}` })
      assert.deepEqual([unchanged.status, unchanged.body.length], [304, 0])
      assert.equal((await world.media(picture, { 'if-none-match': '"x"' })).status, 200)
      assert.equal((await world.media(picture, { range: 'bytes=0-9', 'if-range': etag })).status, 206)
      assert.equal((await world.media(picture, { range: 'bytes=0-9', 'if-range': '"x"' })).status, 200)
      const head = await world.media(picture, {}, 'HEAD')
      assert.deepEqual([head.status, head.headers['content-length'], head.body.length], [200, String(whole.length), 0])
    })

    test('a variant is generated once and stored', async () => {
      const id = await world.publish(place, await gradient(800, 600).png().toBuffer(), 'image/png')
      const answers = await Promise.all(Array.from({ length: 5 }, () => world.media(`${id}?w=320`)))
      for (const { status, headers, body } of answers) {
        assert.deepEqual([status, headers['content-type']], [200, 'image/webp'])
        assert.deepEqual(body, answers[0]!.body)
      }
      const { width, height, format } = await sharp(answers[0]!.body).metadata()
      assert.deepEqual([width, height, format], [320, 240, 'webp'])
      await world.api.ctx.blobs.delete([originalKey({ tenantId: world.tenant.id, collectionId: place.id }, id)])
      const kept = await world.media(`${id}?w=320&format=webp`)
      assert.deepEqual([kept.status, kept.body, kept.headers.etag], [200, answers[0]!.body, answers[0]!.headers.etag])
      assert.equal((await world.media(`${id}?w=640`)).status, 404, 'the rest would have to be made of the original')
    })

    test('a variant can be an AVIF, and is never larger than the picture', async () => {
      const avif = await world.media(`${picture}?w=640&format=avif`)
      const { width, height, compression } = await sharp(avif.body).metadata()
      assert.deepEqual([avif.headers['content-type'], width, height, compression], ['image/avif', 640, 480, 'av1'])
      const [large, larger] = [await world.media(`${picture}?w=1280`), await world.media(`${picture}?w=1920`)]
      assert.deepEqual((await sharp(large.body).metadata()).width, 800)
      assert.deepEqual(larger.body, large.body)
      const tall = await world.publish(place, await gradient(400, 4_000).png().toBuffer(), 'image/png')
      const shrunk = await sharp((await world.media(`${tall}?w=320`)).body).metadata()
      assert.deepEqual([shrunk.width, shrunk.height], [64, 640], 'at most twice as high as wide')
    })

    test('a variant of an animation is its first frame', async () => {
      const id = await world.publish(place, await animation('gif', 4, 400, 300), 'image/gif', 'clip')
      const { pages = 1, width } = await sharp((await world.media(`${id}?w=320`)).body).metadata()
      assert.deepEqual([pages, width], [1, 320])
    })

    test('an invalid variant is 400', async () => {
      const video = await world.publish(place, await clip('webm'), 'video/webm', 'clip')
      for (const path of [
        `${video}?w=320`,
        `${picture}?w=300`,
        `${picture}?format=webp`,
        `${picture}?w=320&format=png`,
        `${picture}?x=1`,
      ]) {
        const { status, body } = await world.media(path)
        assert.deepEqual([status, JSON.parse(body.toString()).error.code], [400, 'invalid_request'], path)
      }
    })

    test('the share page and its link preview show a stored hero', async () => {
      const shown = await world.makeCollection({ share_title: 'Lanterns' })
      const id = await world.publish(shown, await gradient(1_200, 630).png().toBuffer(), 'image/png', 'card', { hero: true })
      const { text, headers } = await send(world.api, 'GET', `/collections/${shown.id}/render`)
      const { publicUrl } = world.api.ctx.config
      const url = `${publicUrl}/v1/media/${id}`
      assert.ok(text.includes(`src="${url}"`))
      const meta = (name: string) => new RegExp(`<meta property="og:image${name}" content="([^"]*)">`).exec(text)?.[1]
      assert.equal(meta(''), `${url}?w=1280`)
      const preview = await world.media(meta('')!.replace(`${publicUrl}/v1/media/`, ''))
      const { format, width, height } = await sharp(preview.body).metadata()
      assert.deepEqual([`image/${format}`, `${width}`, `${height}`], [meta(':type'), meta(':width'), meta(':height')])
      for (const [, source = '', claimed] of text.matchAll(/\/v1\/media\/(\S+) (\d+)w/g)) {
        const smaller = await sharp((await world.media(source)).body).metadata()
        assert.equal(`${smaller.width}`, claimed, source)
      }
      assert.match(headers.get('content-security-policy')!, new RegExp(`img-src 'self' ${new URL(publicUrl).origin}`))
      assert.equal((await world.media(id)).status, 200)
    })

    test('sent bytes count for the tenant', async () => {
      await clearOf('day')
      const other = await StoredWorld.open(world.api)
      const there = await other.makeCollection()
      const id = await other.publish(there, await gradient(900, 700).png().toBuffer(), 'image/png')
      await world.api.ctx.usageCounter.flush()
      const used = async () => {
        await world.api.ctx.usageCounter.flush()
        const { data } = (await send(world.api, 'GET', '/usage', { key: other.tenant.secretKey })).body
        return data.find((row: { meter: string }) => row.meter === 'bytes').quantity as number
      }
      const before = await used()
      const { length } = (await other.media(id)).body
      await other.media(id, { range: 'bytes=0-99' })
      const spent = (await used()) - before
      assert.ok(spent >= length + 100 && spent < length + 3_000, `${spent} for ${length} and 100, and the look at the usage`)
    })
  })
}
