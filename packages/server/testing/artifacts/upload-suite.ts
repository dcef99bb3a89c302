import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { before, describe, test } from 'node:test'
import sharp from 'sharp'
import { send } from '../http.ts'
import type { TestApi } from '../test-api.ts'
import { DiskBlobs } from '#ports/blobs/disk-blobs.ts'
import { uploadKey } from '#features/blob-deletions/blob-keys.ts'
import { animation, clip, gradient, located, secret, type Still } from '@atrium/media/testing/sample-pictures'
import { StoredWorld, type Place } from './stored-world.ts'

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

export function describeUploads(name: string, open: () => TestApi): void {
  describe(`uploads to ${name}`, () => {
    let world: StoredWorld
    let place: Place
    before(async () => {
      world = await StoredWorld.open(open())
      place = await world.makeCollection()
    })

    const uploadKeyOf = (id: string) => uploadKey({ tenantId: world.tenant.id, collectionId: place.id }, id)

    test('an upload is painting until it is completed, and then ready with the served size and hash', async () => {
      const bytes = await gradient(300, 200).png().toBuffer()
      const announced = await world.announce(place, {
        kind: 'image',
        mime: 'image/png',
        bytes: bytes.length,
        sha256: sha256(bytes),
      })
      assert.equal(announced.status, 201)
      assert.equal(announced.headers.get('cache-control'), 'no-store')
      const { id, upload } = announced.body.data
      const hourMs = Date.parse(upload.expires_at) - Date.now()
      assert.ok(Math.abs(hourMs - 3_600_000) < 10_000)
      const { status, stage, source, url } = (await world.get(place, id)).body.data
      assert.deepEqual([status, stage, source, url], ['painting', 'uploading', 'upload', null])
      assert.equal((await world.put(upload, bytes)).status, 200)
      const { data } = (await world.ready(place, id)).body
      const served = (await world.ownerMedia(place, id)).body
      assert.deepEqual(
        { status: data.status, stage: data.stage, mime: data.mime, width: data.width, height: data.height },
        { status: 'ready', stage: 'done', mime: 'image/png', width: 300, height: 200 },
      )
      assert.deepEqual([data.bytes, data.sha256], [served.length, sha256(served)])
      assert.equal(data.url, `${world.api.ctx.config.publicUrl}/v1/media/${id}`)
      assert.deepEqual((await world.get(place, id)).body.data, data)
      assert.deepEqual(await world.keys(place), [`${world.tenant.id}/${place.id}/${id}/original`])
    })

    test('an upload keeps its title and alternative text, which the share page reads out', async () => {
      const bytes = await gradient(30, 20).png().toBuffer()
      const words = { title: 'Night', alt: 'Lanterns on the pier' }
      const announced = await world.announce(place, { kind: 'image', mime: 'image/png', bytes: bytes.length, ...words })
      const { id, upload } = announced.body.data
      assert.equal((await world.put(upload, bytes)).status, 200)
      const { title, alt } = (await world.ready(place, id)).body.data
      assert.deepEqual({ title, alt }, words)
      const shown = { ...place.owner, body: { published: true, hero: true } }
      await send(world.api, 'PATCH', `/collections/${place.id}/artifacts/${id}`, shown)
      const page = await send(world.api, 'GET', `/collections/${place.id}/render`)
      assert.match(page.text, /<img [^>]*alt="Lanterns on the pier"/)
    })

    for (const format of ['jpeg', 'png', 'webp', 'avif'] as Still[]) {
      test(`camera metadata of a ${format} is not served`, async () => {
        const bytes = await located(format)
        assert.ok(bytes.includes(secret))
        const { id, got } = await world.upload(place, bytes, `image/${format}`)
        assert.equal(got.status, 200, got.text)
        const { body } = await world.ownerMedia(place, id)
        assert.equal(body.includes(secret), false)
        const { exif, xmp, iptc, width, height } = await sharp(body).metadata()
        assert.deepEqual([exif, xmp, iptc, width, height], [undefined, undefined, undefined, 800, 600])
        const { data: left } = await sharp(body)
          .extract({ left: 5, top: 5, width: 1, height: 1 })
          .raw()
          .toBuffer({ resolveWithObject: true })
        assert.ok(left[0]! > 230 && left[2]! < 30, `the picture is the same: ${[...left].join()}`)
      })
    }

    for (const format of ['jpeg', 'webp'] as const) {
      test(`a rotated ${format} is served upright`, async () => {
        const { id, got } = await world.upload(place, await located(format, 6), `image/${format}`)
        assert.deepEqual([got.body.data.width, got.body.data.height], [600, 800])
        const { body } = await world.ownerMedia(place, id)
        const top = await sharp(body).extract({ left: 300, top: 5, width: 1, height: 1 }).raw().toBuffer()
        assert.ok(top[0]! > 230 && top[2]! < 30, `turned by 90°, left is above: ${[...top].join()}`)
        assert.equal((await sharp(body).metadata()).orientation, undefined)
      })
    }

    for (const format of ['gif', 'webp'] as const) {
      test(`an animated ${format} stays animated`, async () => {
        const bytes = await animation(format, 7)
        const { id, got } = await world.upload(place, bytes, `image/${format}`, 'clip')
        assert.deepEqual([got.status, got.body.data.width, got.body.data.height], [200, 64, 48], got.text)
        const { pages, delay, loop } = await sharp((await world.ownerMedia(place, id)).body).metadata()
        assert.deepEqual([pages, delay?.[0], loop], [7, 80, 3])
      })
    }

    for (const type of ['webm', 'mp4'] as const) {
      test(`a ${type} is stored unchanged`, async () => {
        const bytes = await clip(type)
        const { id, got } = await world.upload(place, bytes, `video/${type}`, 'clip')
        assert.equal(got.status, 200, got.text)
        const { width, height, sha256: told } = got.body.data
        assert.deepEqual([width, height, told], [64, 48, sha256(bytes)])
        const { headers, body } = await world.ownerMedia(place, id)
        assert.deepEqual([headers['content-type'], body], [`video/${type}`, bytes])
      })
    }

    const wrong = async (): Promise<Record<string, [string, Buffer]>> => ({
      'a page that is called a picture': ['image/png', Buffer.from('<!doctype html><script>alert(1)</script>')],
      'a JPEG that is called a PNG': ['image/png', await gradient().jpeg().toBuffer()],
      'a PNG that is called a video': ['video/mp4', await gradient().png().toBuffer()],
      'a picture that is cut short': ['image/jpeg', (await gradient().jpeg().toBuffer()).subarray(0, 3_000)],
      'a video that is cut short': ['video/mp4', (await clip('mp4')).subarray(0, 900)],
    })
    test('bytes that differ from the announcement are refused and deleted, and the artifact stays failed', async () => {
      const other = await world.makeCollection()
      for (const [what, [mime, bytes]] of Object.entries(await wrong())) {
        const { id, got } = await world.upload(other, bytes, mime, 'clip')
        assert.deepEqual([got.status, got.body.error.code], [409, 'upload_mismatch'], what)
        if (what.startsWith('a JPEG')) assert.match(got.body.error.message, /not of the type image\/png, but image\/jpeg/)
        const { status, error, stage } = (await world.get(other, id)).body.data
        assert.deepEqual(
          [status, stage, error.code, error.message],
          ['failed', 'done', 'upload_mismatch', got.body.error.message],
        )
        assert.deepEqual(await world.keys(other), [], what)
        const again = await world.ready(other, id)
        assert.deepEqual([again.status, again.body.error.message], [409, got.body.error.message])
        assert.equal((await world.ownerMedia(other, id)).status, 404)
      }
    })

    test('bytes with another hash never become ready', async () => {
      const bytes = await gradient(50, 50).png().toBuffer()
      const { id, upload } = (
        await world.announce(place, { kind: 'image', mime: 'image/png', bytes: bytes.length, sha256: 'a'.repeat(64) })
      ).body.data
      await world.put(upload, bytes)
      const got = await world.ready(place, id)
      assert.deepEqual([got.status, got.body.error.code], [409, 'upload_mismatch'])
      assert.equal((await world.ownerMedia(place, id)).status, 404)
    })

    test('an upload stays open while no bytes have arrived', async () => {
      const bytes = await gradient(50, 50).png().toBuffer()
      const { id, upload } = (await world.announce(place, { kind: 'image', mime: 'image/png', bytes: bytes.length })).body.data
      const early = await world.ready(place, id)
      assert.deepEqual([early.status, early.body.error.code], [409, 'upload_mismatch'])
      assert.equal((await world.get(place, id)).body.data.status, 'painting')
      await world.put(upload, bytes)
      assert.equal((await world.ready(place, id)).status, 200)
    })

    test('repeated completions, concurrent and later, make the artifact ready once', async () => {
      const bytes = await located('webp')
      const { id, upload } = (await world.announce(place, { kind: 'image', mime: 'image/webp', bytes: bytes.length })).body.data
      await world.put(upload, bytes)
      const answers = await Promise.all(Array.from({ length: 6 }, () => world.ready(place, id)))
      const later = await world.ready(place, id)
      for (const { status, text } of answers) assert.deepEqual([status, text], [200, later.text])
      const events: { type: string; data: object }[] = (
        await send(world.api, 'GET', '/events?limit=200', { key: world.tenant.secretKey })
      ).body.data
      assert.equal(events.filter(({ type, data }) => type === 'artifact.ready' && JSON.stringify(data).includes(id)).length, 1)
    })

    test('bytes sent to the address after completion are never served; on disk they are refused', async () => {
      const bytes = await gradient(40, 40).png().toBuffer()
      const { id, upload } = (await world.announce(place, { kind: 'image', mime: 'image/png', bytes: bytes.length })).body.data
      await world.put(upload, bytes)
      await world.ready(place, id)
      const before = (await world.ownerMedia(place, id)).body
      const other = Buffer.alloc(bytes.length, 7)
      const refused = world.api.ctx.blobs instanceof DiskBlobs
      const sent = await world.put(upload, other)
      assert.equal(sent.status, refused ? 403 : 200)
      if (refused) assert.equal(JSON.parse(sent.body.toString()).error.reason, 'expired')
      assert.equal((await world.ready(place, id)).status, 200)
      assert.deepEqual((await world.ownerMedia(place, id)).body, before)
      assert.equal((await world.keys(place)).includes(uploadKeyOf(id)), !refused)
    })

    test('an artifact that was not uploaded cannot be completed', async () => {
      const body = { kind: 'image', url: 'https://pictures.example/a.png' }
      const { id } = (await send(world.api, 'POST', `/collections/${place.id}/artifacts`, { ...place.owner, body })).body.data
      const got = await world.ready(place, id)
      assert.deepEqual([got.status, got.body.error.code], [409, 'state_conflict'])
    })

    test('a repeated announcement returns the same upload', async () => {
      const body: Parameters<StoredWorld['announce']>[1] = { kind: 'image', mime: 'image/png', bytes: 70 }
      const [first, second] = [
        await world.announce(place, body, { idempotencyKey: 'once' }),
        await world.announce(place, body, { idempotencyKey: 'once' }),
      ]
      assert.deepEqual([second.headers.get('idempotency-status'), second.text], ['replayed', first.text])
    })

    for (const [field, body] of [
      ['/mime', { kind: 'image', mime: 'image/svg+xml', bytes: 100 }],
      ['/mime', { kind: 'image', mime: 'audio/mpeg', bytes: 100 }],
      ['/mime', { kind: 'image', mime: 'video/mp4', bytes: 100 }],
      ['/mime', { kind: 'card', mime: 'video/webm', bytes: 100 }],
      ['/bytes', { kind: 'image', mime: 'image/png', bytes: 100 * 1024 * 1024 + 1 }],
      ['/sha256', { kind: 'image', mime: 'image/png', bytes: 1, sha256: 'A'.repeat(64) }],
    ] as const) {
      test(`an upload of ${JSON.stringify(body).slice(0, 60)} is refused at ${field}`, async () => {
        const got = await world.announce(place, body)
        assert.deepEqual([got.status, got.body.error.details[0].path], [400, field])
      })
    }
  })
}
