import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { HeadObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { skipWithoutRadosgw as skip, startRadosgw } from '#testing/radosgw/start-radosgw.ts'
import { send } from '#testing/http.ts'
import { startTestApi } from '#testing/test-api.ts'
import { createTestDatabase } from '#testing/test-database.ts'
import { S3Blobs } from '#ports/blobs/s3-blobs.ts'
import { readBackup } from './read-backup.ts'
import { openConnection } from './snapshot-store.ts'
import { writeBackup } from './write-backup.ts'

test('an object that is restored into a bucket has its content type', { skip }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-backup-s3-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const store = await startRadosgw()
  t.after(() => store.stop())
  const blobs = new S3Blobs(store)
  t.after(() => blobs.close())
  const client = new S3Client({ endpoint: store.endpoint, region: store.region, credentials: store, forcePathStyle: true })
  t.after(() => client.destroy())
  const api = await startTestApi()
  t.after(() => api.close())
  const { id: tenant, publishableKey: key } = await api.makeTenant()
  const collection = (await send(api, 'POST', '/collections', { key, body: {} })).body.data.id as string
  const database = await createTestDatabase()
  t.after(() => database.drop())
  const connection = await openConnection(database.url)
  t.after(() => connection.end())
  const columns = 'tenant_id, collection_id, id, kind, source, status, stage, mime'
  const insert = `insert into artifacts (${columns}) values ($1, $2, $3, $4, 'upload', $5, $6, $7)`
  await api.ctx.db.pool.query(insert, [tenant, collection, 'art_a', 'image', 'ready', 'done', 'image/png'])
  await api.ctx.db.pool.query(insert, [tenant, collection, 'art_b', 'clip', 'painting', 'uploading', null])
  await api.ctx.db.pool.query(
    `insert into artifact_uploads (tenant_id, collection_id, artifact_id, mime, bytes, expires_at)
     values ($1, $2, 'art_b', 'video/mp4', 3, now() + interval '1 hour')`,
    [tenant, collection],
  )
  const keyOf = (artifact: string) => `${tenant}/${collection}/${artifact}`
  const types = {
    [`${keyOf('art_a')}/original`]: 'image/png',
    [`${keyOf('art_a')}/w320.webp`]: 'image/webp',
    [`uploads/${keyOf('art_b')}`]: 'video/mp4',
  }
  for (const [key, mime] of Object.entries(types)) await blobs.write(key, Buffer.from('abc'), { mime })
  const look = async () => {
    const heads = []
    for (const Key of Object.keys(types)) {
      const head = await client.send(new HeadObjectCommand({ Bucket: store.bucket, Key }))
      heads.push([Key, head.ContentType, head.ContentLength, head.ETag, head.Metadata, head.CacheControl, head.ContentEncoding])
    }
    return heads
  }
  const before = await look()
  assert.deepEqual(
    before.map(([key, mime]) => [key, mime]),
    Object.entries(types),
  )
  const pieces: Buffer[] = []
  for await (const piece of writeBackup({ databaseUrl: api.databaseUrl, blobs })) pieces.push(piece)
  await blobs.delete(Object.keys(types))
  await readBackup(
    (async function* () {
      yield* pieces
    })(),
    { connection, blobs, prepare: async () => undefined },
  )
  assert.deepEqual(await look(), before)
})
