import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ByShard } from '#features/distribution/by-shard.ts'
import { measureQueues } from '#features/installation/queue-store.ts'
import { gradient } from '@atrium/media/testing/sample-pictures'
import { BlobError } from '#ports/blobs/blobs.ts'
import { StoredWorld } from '#testing/artifacts/stored-world.ts'
import { send } from '#testing/http.ts'
import { startTestApi } from '#testing/test-api.ts'
import { deleteBlobs } from './delete-blobs.ts'
import { holdBlobDeletions } from './hold-store.ts'
import { updateOverlong } from './store.ts'

test('a deletion that fails again and again grows old in the metrics, unless a backup holds it', async (t) => {
  const api = await startTestApi()
  t.after(() => api.close())
  const { db } = api.ctx
  const { id: tenantId } = await api.makeTenant()
  await db.pool.query(
    `insert into blob_deletions (tenant_id, target, due_at, queued_at)
     values ($1, $1 || '/col/', now() - interval '1 minute', now() - interval '20 minutes')`,
    [tenantId],
  )
  const measure = async () => {
    const queues = await measureQueues(db, new ByShard(api.ctx.tenantShards))
    const { depth, oldestSeconds } = queues.find(({ name }) => name === 'blob_deletions')!
    return { depth, isStuck: oldestSeconds > 600 }
  }
  t.mock.method(api.ctx.blobs, 'deletePrefix', async () => {
    throw new BlobError('unavailable', 'the object storage cannot be used')
  })
  assert.equal(await deleteBlobs(api.ctx, 100), 1)
  assert.deepEqual(await measure(), { depth: 1, isStuck: true })
  const hold = await holdBlobDeletions(db)
  assert.deepEqual(await measure(), { depth: 0, isStuck: false })
  await hold.release()
  t.mock.restoreAll()
  // The column has whole milliseconds: now() could be rounded up, and not be due yet.
  await db.pool.query("update blob_deletions set due_at = now() - interval '1 second'")
  await deleteBlobs(api.ctx, 100)
  assert.deepEqual(await measure(), { depth: 0, isStuck: false })
})

test('after the clock of the database was set back, a deletion waits no longer than for another attempt', async (t) => {
  const api = await startTestApi()
  t.after(() => api.close())
  const { db } = api.ctx
  await db.pool.query(
    `insert into blob_deletions (tenant_id, target, due_at) values ('t', 'late/', now() + interval '1 hour'),
       ('t', 'claimed/', now() + interval '110 seconds')`,
  )
  await updateOverlong(db)
  const { rows } = await db.pool.query(
    "select target, due_at <= now() + interval '1 second' as is_due from blob_deletions order by target",
  )
  assert.deepEqual(rows, [
    { target: 'claimed/', is_due: false },
    { target: 'late/', is_due: true },
  ])
})

test('after the clock of the database was set back, a backup that was killed holds no files, and one that runs fails', async (t) => {
  const api = await startTestApi()
  t.after(() => api.close())
  const { db, tenantShards } = api.ctx
  const world = await StoredWorld.open(api)
  const place = await world.makeCollection()
  const { id } = await world.upload(place, await gradient(4, 4).png().toBuffer(), 'image/png')
  const running = await holdBlobDeletions(db)
  t.after(() => running.release().catch(() => undefined))
  await db.pool.query("update blob_deletion_holds set held_until = held_until + interval '1 day'")
  await send(api, 'DELETE', `/collections/${place.id}/artifacts/${id}`, place.owner)
  const depth = async () =>
    (await measureQueues(db, new ByShard(tenantShards))).find(({ name }) => name === 'blob_deletions')!.depth
  assert.equal(await depth(), 2)
  await db.pool.query("update blob_deletions set due_at = now() - interval '1 second'")
  await deleteBlobs(api.ctx, 100)
  assert.deepEqual(await world.keys(place), [])
  assert.equal(await depth(), 0)
  await assert.rejects(running.release(), /its clock was set back: stored files may have been deleted/)
  assert.deepEqual((await db.pool.query('select id from blob_deletion_holds')).rows, [])
})
