import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { deleteBlobs } from '#features/blob-deletions/delete-blobs.ts'
import { send } from '#testing/http.ts'
import { skipWithoutRadosgw as skip, startRadosgw } from '#testing/radosgw/start-radosgw.ts'
import { startTestApi } from '#testing/test-api.ts'
import { eraseTenants } from './erase-tenants.ts'

test(
  'files in S3 are exported byte for byte, and go with their tenant while another tenant keeps its own',
  { skip },
  async (t) => {
    const store = await startRadosgw()
    t.after(() => store.stop())
    const { endpoint, bucket, region, accessKeyId, secretAccessKey } = store
    const s3 = {
      s3Endpoint: endpoint,
      s3Bucket: bucket,
      s3Region: region,
      s3AccessKeyId: accessKeyId,
      s3SecretAccessKey: secretAccessKey,
    }
    const api = await startTestApi({ blobs: 's3', ...s3 })
    t.after(() => api.close())
    const operator = { headers: { 'x-admin-token': api.adminToken } }
    const [gone, stays] = [await api.makeTenant(), await api.makeTenant()]
    const original = randomBytes(200_000)
    const placesOf = (id: string) => [`${id}/col_a/art_1/original`, `${id}/col_a/art_1/w320.webp`, `uploads/${id}/col_a/art_2`]
    for (const place of [...placesOf(gone.id), ...placesOf(stays.id)])
      await api.ctx.blobs.write(place, original, { mime: 'image/png' })
    const left = async (id: string) => {
      const lists = [await api.ctx.blobs.list(`${id}/`), await api.ctx.blobs.list(`uploads/${id}/`)]
      return lists.flatMap(({ blobs }) => blobs).length
    }

    const { text, status } = await send(api, 'GET', `/tenants/${gone.id}/export?blobs=true`, operator)
    assert.equal(status, 200)
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const pieces = lines.flatMap(({ blob }) => (blob ? [blob] : []))
    assert.deepEqual(new Set(pieces.map(({ key }) => key)), new Set([placesOf(gone.id)[0]]))
    assert.ok(Buffer.concat(pieces.map(({ base64 }) => Buffer.from(base64, 'base64'))).equals(original))
    assert.equal(lines.at(-1).blobs, 1)

    const path = `/tenants/${gone.id}/deletion`
    assert.equal((await send(api, 'POST', path, { ...operator, body: { after_days: 0 } })).status, 202)
    // Ends the minute after the suspension in which requests may still write.
    await api.ctx.db.pool.query(`update tenant_deletions set requested_at = requested_at - interval '1 minute'`)
    const state = async () => (await send(api, 'GET', path, operator)).body.data.state
    for (const deadline = Date.now() + 30_000; (await state()) !== 'done';) {
      assert.ok(Date.now() < deadline, 'the deletion does not end')
      await eraseTenants(api.ctx)
      await deleteBlobs(api.ctx, 1_000)
    }
    assert.deepEqual([await left(gone.id), await left(stays.id)], [0, 3])
  },
)
