import { after, before } from 'node:test'
import { startTestApi, type TestApi } from '#testing/test-api.ts'
import { describeMedia } from '#testing/artifacts/media-suite.ts'
import { describeRemoval } from '#testing/artifacts/removal-suite.ts'
import { describeUploadRaces } from '#testing/artifacts/upload-races-suite.ts'
import { describeUploads } from '#testing/artifacts/upload-suite.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

for (const describe of [describeUploads, describeUploadRaces, describeMedia, describeRemoval]) describe('disk', () => api)
