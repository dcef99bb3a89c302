import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { before, describe, test, type TestContext } from 'node:test'
import { statement } from '#db/database.ts'
import { send } from '../http.ts'
import type { TestApi } from '../test-api.ts'
import { BlobError } from '#ports/blobs/blobs.ts'
import { DiskBlobs } from '#ports/blobs/disk-blobs.ts'
import { originalKey } from '#features/blob-deletions/blob-keys.ts'
import { deleteBlobs } from '#features/blob-deletions/delete-blobs.ts'
import { holdBlobDeletions } from '#features/blob-deletions/hold-store.ts'
import { clip, gradient } from '@atrium/media/testing/sample-pictures'
import { StoredWorld, type Place } from './stored-world.ts'

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** The same video with another last byte. It is in the last frame, which no test decodes. */
function changed(video: Buffer): Buffer {
  const other = Buffer.from(video)
  other[other.length - 1]! ^= 1
  return other
}

/** Events during the check of an upload: leases, late bytes, deletion. */
export function describeUploadRaces(name: string, open: () => TestApi): void {
  describe(`uploads under check, to ${name}`, () => {
    let world: StoredWorld
    let place: Place
    before(async () => {
      world = await StoredWorld.open(open())
      place = await world.makeCollection()
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
    const dueNow = statement<never>(
      'test-due-now',
      `update blob_deletions set due_at = now() - interval '1 second' where tenant_id = $1`,
    )
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
      // The same length, because the address accepts no other.
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

    test('while a backup runs, an upload stays after its artifact became ready or failed, and goes afterwards', async () => {
      for (const [mime, bytes, status] of [
        ['image/png', await gradient(40, 40).png().toBuffer(), 200],
        ['image/png', Buffer.alloc(70), 409],
        ['video/webm', await clip('webm'), 200],
      ] as const) {
        const there = await world.makeCollection()
        const { id } = await sendTo(there, mime, bytes)
        const uploads = async () => (await world.keys(there)).filter((key) => key.startsWith('uploads/'))
        const hold = await holdBlobDeletions(world.api.ctx.db)
        try {
          assert.equal((await world.ready(there, id)).status, status)
          await deleteBlobs(world.api.ctx, 1_000)
          assert.equal((await uploads()).length, 1, mime)
        } finally {
          await hold.release()
        }
        await world.api.ctx.db.query(dueNow, [world.tenant.id])
        await deleteBlobs(world.api.ctx, 1_000)
        assert.deepEqual(await uploads(), [])
      }
    })

    test('on disk, bytes that arrive again after their artifact became ready stay while a backup runs', async (t) => {
      const { blobs, db } = world.api.ctx
      if (!(blobs instanceof DiskBlobs)) return t.skip('the store takes what was signed')
      const there = await world.makeCollection()
      const bytes = await gradient(40, 40).png().toBuffer()
      const { id, upload } = await sendTo(there, 'image/png', bytes)
      const uploads = async () => (await world.keys(there)).filter((key) => key.startsWith('uploads/'))
      const receive = blobs.receive.bind(blobs)
      const mocked = t.mock.method(blobs, 'receive', async (...args: Parameters<typeof receive>) => {
        mocked.mock.restore()
        // The backup has the row of the upload, and may have listed the place of the picture already.
        const hold = await holdBlobDeletions(db)
        t.after(() => hold.release())
        assert.equal((await world.ready(there, id)).status, 200)
        return receive(...args)
      })
      assert.equal((await world.put(upload, bytes)).status, 403)
      assert.equal((await uploads()).length, 1)
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
  })
}
