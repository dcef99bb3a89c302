import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { statement } from '#db/database.ts'
import { newId } from '#crypto/random.ts'
import { send } from '../http.ts'
import type { TestApi } from '../test-api.ts'
import { expireUploads } from '../../src/features/artifacts/uploads/complete-upload.ts'
import { deleteBlobs } from '#features/blob-deletions/delete-blobs.ts'
import { deleteOrphans } from '#features/artifacts/delete-orphans.ts'
import { saveSearch } from '#features/artifacts/orphan-store.ts'
import { claimUpload } from '#features/artifacts/uploads/upload-store.ts'
import { gradient } from '@atrium/media/testing/sample-pictures'
import { StoredWorld, type Place } from './stored-world.ts'

const expireStatement = statement<never>(
  'test-expire',
  `update artifact_uploads set expires_at = now() - interval '1 second' where artifact_id = $1`,
)
const mime = 'image/png'

export function describeRemoval(name: string, open: () => TestApi): void {
  describe(`blob deletions from ${name}`, () => {
    let world: StoredWorld
    let png: Buffer
    before(async () => {
      world = await StoredWorld.open(open())
      png = await gradient(700, 20).png().toBuffer()
    })

    /** Makes an artifact with a variant, and an open upload. */
    async function fill(place: Place): Promise<string> {
      const { id } = await world.upload(place, png, mime)
      assert.equal((await world.ownerMedia(place, `${id}?w=320`)).status, 200)
      const { upload } = (await world.announce(place, { kind: 'image', mime, bytes: png.length })).body.data
      await world.put(upload, png)
      return id
    }
    async function failed(place: Place): Promise<string> {
      const { id, got } = await world.upload(place, Buffer.from('no picture'), mime)
      assert.equal(got.status, 409)
      return id
    }
    const sweep = () => deleteBlobs(world.api.ctx, 1_000)

    test('a deleted artifact leaves no blob, and deletes no other artifact’s', async () => {
      const place = await world.makeCollection()
      const [gone, kept] = [await fill(place), await fill(place)]
      assert.equal((await world.keys(place)).length, 6)
      await send(world.api, 'DELETE', `/collections/${place.id}/artifacts/${gone}`, place.owner)
      assert.equal((await world.ownerMedia(place, gone)).status, 404, 'from the delete on, not from the sweep on')
      // If the process is killed here, the next sweep continues.
      await sweep()
      const left = await world.keys(place)
      assert.equal(left.length, 4)
      assert.equal(
        left.some((key) => key.includes(gone)),
        false,
      )
      assert.equal((await world.ownerMedia(place, kept)).status, 200)
    })

    test('an artifact that is deleted while a smaller picture of it is made leaves no blob', async (t) => {
      const place = await world.makeCollection()
      const { id } = await world.upload(place, png, mime)
      const { pictures } = world.api.ctx
      const shrink = pictures.shrink.bind(pictures)
      t.mock.method(pictures, 'shrink', async (...args: Parameters<typeof shrink>) => {
        await shrink(...args)
        await send(world.api, 'DELETE', `/collections/${place.id}/artifacts/${id}`, place.owner)
        await sweep()
      })
      assert.equal((await world.ownerMedia(place, `${id}?w=320`)).status, 404)
      assert.deepEqual(await world.keys(place), [])
    })

    test('a deleted collection leaves no blob, also of open uploads', async () => {
      const [place, other] = [await world.makeCollection(), await world.makeCollection()]
      await fill(place)
      await fill(other)
      await send(world.api, 'DELETE', `/collections/${place.id}`, place.owner)
      assert.equal((await world.keys(place)).length, 3)
      await sweep()
      assert.deepEqual(await world.keys(place), [])
      assert.equal((await world.keys(other)).length, 3)
    })

    test('a deletion that fails is retried later', async (t) => {
      const place = await world.makeCollection()
      await fill(place)
      await send(world.api, 'DELETE', `/collections/${place.id}`, place.owner)
      const away = t.mock.method(world.api.ctx.blobs, 'deletePrefix', () => Promise.reject(new Error('the store is away')))
      await sweep()
      away.mock.restore()
      await sweep()
      assert.equal((await world.keys(place)).length, 3, 'not at once: the store was just away')
      await world.api.ctx.db.query(
        statement<never>('test-due', `update blob_deletions set due_at = now() - interval '1 second'`),
        [],
      )
      await sweep()
      assert.deepEqual(await world.keys(place), [])
    })

    test('an expired upload is deleted with its artifact; one that is being checked is not', async () => {
      const place = await world.makeCollection()
      const { data } = (await world.announce(place, { kind: 'image', mime, bytes: png.length })).body
      const busy = (await world.announce(place, { kind: 'image', mime, bytes: png.length })).body.data
      for (const { upload } of [data, busy]) await world.put(upload, png)
      const { db } = world.api.ctx
      assert.ok(await claimUpload(db, world.tenant.id, { collectionId: place.id, artifactId: busy.id }, 'another'))
      assert.equal(await expireUploads(world.api.ctx, 1_000), 0, 'its time is not over')
      for (const { id } of [data, busy]) await db.query(expireStatement, [id])
      assert.equal(await expireUploads(world.api.ctx, 1_000), 1)
      await sweep()
      assert.equal((await world.get(place, data.id)).status, 404)
      assert.equal((await world.ready(place, data.id)).status, 404)
      assert.deepEqual(await world.keys(place), [`uploads/${world.tenant.id}/${place.id}/${busy.id}`])
    })

    test('blobs without a row are deleted after a day; those with a row, young ones, and those of other installations stay', async () => {
      const { ctx } = world.api
      const place = await world.makeCollection()
      const id = await fill(place)
      const known = await world.keys(place)
      const folder = `${world.tenant.id}/${place.id}`
      const orphans = [
        `${folder}/${newId('artifact')}/original`,
        `${folder}/${newId('artifact')}/w320.webp`,
        `${world.tenant.id}/${newId('collection')}/${newId('artifact')}/original`,
        `uploads/${folder}/${id}`,
        `uploads/${folder}/${newId('artifact')}`,
        `${folder}/${await failed(place)}/original`,
      ]
      const strangers = [
        `${newId('tenant')}/${place.id}/${newId('artifact')}/original`,
        'backups/2026/all.tar',
        `${folder}/notes`,
      ]
      for (const key of [...orphans, ...strangers]) await ctx.blobs.write(key, Buffer.from('x'), { mime })
      const search = async (minAgeMs?: number) => {
        await saveSearch(ctx.db, '', 0)
        let removed = 0
        // One page at a time, as in a store that is too large for one run.
        for (let stretch = 0; stretch < 20; stretch++) {
          removed += await deleteOrphans(ctx, { pageSize: 3, ...(minAgeMs === undefined ? {} : { minAgeMs }) })
          await ctx.db.query(statement<never>('test-search', 'update blob_search set due_at = now()'), [])
        }
        return removed
      }
      assert.equal(await search(), 0, 'they are young')
      assert.ok((await search(-60_000)) >= orphans.length)
      for (const key of orphans) assert.equal(await ctx.blobs.stat(key), undefined, key)
      for (const key of [...known, ...strangers]) assert.ok(await ctx.blobs.stat(key), key)
      await ctx.blobs.delete(strangers)
    })
  })
}
