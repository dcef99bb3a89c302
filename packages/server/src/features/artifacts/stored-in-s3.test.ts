import { after, before, test } from 'node:test'
import { skipWithoutRadosgw as skip, startRadosgw, type Radosgw } from '#testing/radosgw/start-radosgw.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'
import { describeMedia } from '#testing/artifacts/media-suite.ts'
import { describeRemoval } from '#testing/artifacts/removal-suite.ts'
import { describeUploadRaces } from '#testing/artifacts/upload-races-suite.ts'
import { describeUploads } from '#testing/artifacts/upload-suite.ts'

if (skip) {
  test('uploads, media and deletions in S3', { skip }, () => {})
} else {
  let store: Radosgw
  let api: TestApi
  before(async () => {
    store = await startRadosgw()
    const { endpoint, bucket, region, accessKeyId, secretAccessKey } = store
    const s3 = {
      s3Endpoint: endpoint,
      s3Bucket: bucket,
      s3Region: region,
      s3AccessKeyId: accessKeyId,
      s3SecretAccessKey: secretAccessKey,
    }
    api = await startTestApi({ blobs: 's3', ...s3 })
  })
  after(async () => {
    await api.close()
    await store.stop()
  })

  for (const describe of [describeUploads, describeUploadRaces, describeMedia, describeRemoval])
    describe('S3 (Ceph RADOS Gateway)', () => api)
}
