import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { before, describe, test, type TestContext } from 'node:test'
import sharp from 'sharp'
import { statement } from '#db/database.ts'
import { send } from '../http.ts'
import type { TestApi } from '../test-api.ts'
import { BlobError } from '#ports/blobs/blobs.ts'
import { DiskBlobs } from '#ports/blobs/disk-blobs.ts'
import { originalKey, uploadKey } from '#features/blob-deletions/blob-keys.ts'
import { deleteBlobs } from '#features/blob-deletions/delete-blobs.ts'
import { animation, clip, gradient, located, secret, type Still } from '@atrium/media/testing/sample-pictures'
import { StoredWorld, type Place } from './stored-world.ts'

/** The same video with another last byte. It is in the last frame, which no test decodes. */
function changed(video: Buffer): Buffer {
  const other = Buffer.from(video)
  other[other.length - 1]! ^= 1
  return other
}

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

    test('on disk, bytes that arrive while the artifact is deleted are not stored', async (t) => {
      const { blobs } = world.api.ctx
      if (!(blobs instanceof DiskBlobs)) return t.skip('the store takes what was signed')
      const there = await world.makeCollection()
      const { id, upload } = (await world.announce(there, { kind: 'image', mime: 'image/png', bytes: 70 })).body.data
      const remove = () => send(world.api, 'DELETE', `/collections/${there.id}/artifacts/${id}`, there.owner)
      const receive = blobs.receive.bind(blobs)
      t.mock.method(blobs, 'receive', async (...args: Parameters<typeof receive>) => {
        await remove()
        await deleteBlobs(world.api.ctx, 1_000)
        return receive(...args)
      })
      assert.equal((await world.put(upload, Buffer.alloc(70))).status, 403)
      assert.deepEqual(await world.keys(there), [])
      assert.equal((await world.put(upload, Buffer.alloc(70))).status, 403, 'nor later')
    })

    /** Runs a function once, just before the bytes are read for the check, written or promoted. */
    function happenBefore(t: TestContext, what: 'read' | 'write' | 'promote', happens: () => Promise<unknown>): void {
      const { blobs } = world.api.ctx
      const real = blobs[what].bind(blobs) as (...args: unknown[]) => Promise<unknown>
      const mocked = t.mock.method(blobs, what, async (...args: unknown[]) => {
        mocked.mock.restore()
        await happens()
        return real(...args)
      })
    }
    const beforeStored = (t: TestContext, happens: () => Promise<unknown>) => happenBefore(t, 'write', happens)

    async function sendTo(there: Place, mime: string, bytes: Buffer) {
      const { id, upload } = (await world.announce(there, { kind: 'clip', mime, bytes: bytes.length })).body.data
      await world.put(upload, bytes)
      return { id: id as string, upload }
    }
    const sent = async (there: Place) => (await sendTo(there, 'image/png', await gradient(40, 40).png().toBuffer())).id

    const steal = statement<never>('test-steal', `update artifact_uploads set lease_owner = 'another' where artifact_id = $1`)
    const lapse = statement<never>(
      'test-lapse',
      `update artifact_uploads set lease_until = now() - interval '1 second' where artifact_id = $1`,
    )

    test('a check that lost its lease changes nothing', async (t) => {
      for (const [mime, bytes, step] of [
        ['image/png', await gradient(40, 40).png().toBuffer(), 'write'],
        ['video/webm', await clip('webm'), 'read'],
      ] as const) {
        const there = await world.makeCollection()
        const { id } = await sendTo(there, mime, bytes)
        happenBefore(t, step, () => world.api.ctx.db.query(steal, [id]))
        const got = await world.ready(there, id)
        assert.deepEqual([got.status, got.body.error.code], [503, 'unavailable'], mime)
        assert.ok(Number(got.headers.get('retry-after')) > 0)
        assert.equal((await world.get(there, id)).body.data.status, 'painting')
        const stored = (await world.keys(there)).filter((key) => !key.startsWith('uploads/'))
        if (step === 'write') assert.deepEqual(stored, [], 'nothing was written')
      }
    })

    test('the bytes that one check made ready stay, however late a check without the lease stores its own', async (t) => {
      const [first, second] = [gradient(40, 40), gradient(40, 40).negate()]
      const video = await clip('webm')
      // Of the same length: the address accepts no other.
      const pad = (bytes: Buffer, length: number) => Buffer.concat([bytes, Buffer.alloc(length - bytes.length)])
      const pngs = [await first.png().toBuffer(), await second.png().toBuffer()]
      const length = Math.max(...pngs.map((png) => png.length))
      for (const [mime, [before, after], step] of [
        ['image/png', pngs.map((png) => pad(png, length)), 'write'],
        ['video/webm', [video, changed(video)], 'promote'],
      ] as [string, [Buffer, Buffer], 'write' | 'promote'][]) {
        const there = await world.makeCollection()
        const { id, upload } = await sendTo(there, mime, before)
        happenBefore(t, step, async () => {
          await world.api.ctx.db.query(lapse, [id])
          assert.equal((await world.put(upload, after)).status, 200)
          assert.equal((await world.ready(there, id)).status, 200, mime)
        })
        const { status, body } = await world.ready(there, id)
        assert.deepEqual([status, body.data.status], [200, 'ready'])
        const served = await world.ownerMedia(there, id)
        assert.equal(sha256(served.body), body.data.sha256, mime)
        assert.equal(served.headers.etag, `"${body.data.sha256}"`)
        if (step === 'promote') assert.deepEqual(served.body, after)
      }
    })

    test('a picture that a killed check stored becomes ready', async () => {
      const id = await sent(place)
      const kept = await gradient(30, 20).png().toBuffer()
      const key = originalKey({ tenantId: world.tenant.id, collectionId: place.id }, id)
      await world.api.ctx.blobs.write(key, kept, { mime: 'image/png' })
      const { data } = (await world.ready(place, id)).body
      assert.deepEqual([data.width, data.height, data.bytes, data.sha256], [30, 20, kept.length, sha256(kept)])
      assert.deepEqual((await world.ownerMedia(place, id)).body, kept)
    })

    test('a check keeps its lease for as long as it runs', async (t) => {
      const id = await sent(place)
      const left = statement<{ seconds: number }>(
        'test-left',
        `select extract(epoch from lease_until - now())::float as seconds from artifact_uploads where artifact_id = $1`,
      )
      const { db } = world.api.ctx
      t.mock.timers.enable({ apis: ['setInterval'] })
      happenBefore(t, 'read', async () => {
        await db.query(lapse, [id])
        t.mock.timers.tick(15_000)
        for (let looks = 0; (await db.query(left, [id]))[0]!.seconds < 40; looks++) assert.ok(looks < 500, 'not renewed')
      })
      assert.equal((await world.ready(place, id)).status, 200)
    })

    test('while the blob store does not answer, no other check starts before the lease expires', async (t) => {
      const id = await sent(place)
      const { blobs, db } = world.api.ctx
      const away = t.mock.method(blobs, 'write', () => Promise.reject(new BlobError('unavailable', 'no answer')))
      assert.equal((await world.ready(place, id)).status, 503)
      away.mock.restore()
      const held = statement<{ held: boolean }>(
        'test-held',
        'select lease_until > now() as held from artifact_uploads where artifact_id = $1',
      )
      assert.deepEqual(await db.query(held, [id]), [{ held: true }])
      await db.query(lapse, [id])
      assert.equal((await world.ready(place, id)).status, 200)
    })

    test('an artifact that failed during another check keeps no bytes', async (t) => {
      const there = await world.makeCollection()
      const id = await sent(there)
      const fail = statement<never>(
        'test-fail',
        `with over as (delete from artifact_uploads where artifact_id = $1)
         update artifacts set status = 'failed', stage = 'done', error = '{"code":"upload_mismatch","message":"Other bytes."}' where id = $1`,
      )
      const { blobs, db } = world.api.ctx
      const write = blobs.write.bind(blobs)
      t.mock.method(blobs, 'write', async (...args: Parameters<typeof write>) => {
        const stored = await write(...args)
        await db.query(fail, [id])
        return stored
      })
      assert.equal((await world.ready(there, id)).status, 409)
      assert.deepEqual(
        (await world.keys(there)).filter((key) => !key.startsWith('uploads/')),
        [],
      )
    })

    test('an artifact that is deleted during its check stays deleted, and leaves no blob', async (t) => {
      const there = await world.makeCollection()
      const id = await sent(there)
      beforeStored(t, async () => {
        await send(world.api, 'DELETE', `/collections/${there.id}/artifacts/${id}`, there.owner)
        await deleteBlobs(world.api.ctx, 1_000)
      })
      assert.equal((await world.ready(there, id)).status, 404)
      assert.deepEqual(await world.keys(there), [])
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
