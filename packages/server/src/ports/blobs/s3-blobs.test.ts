import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { PutBucketCorsCommand, S3Client, type CORSConfiguration } from '@aws-sdk/client-s3'
import { readConfig } from '#config/config.ts'
import { readEnv } from '#config/env.ts'
import { readGivenSecrets } from '#config/secrets.ts'
import { skipWithoutRadosgw as skip, startRadosgw, type Radosgw } from '#testing/radosgw/start-radosgw.ts'
import { describeBlobs } from '#testing/blobs/blob-suite.ts'
import { checkBlobs } from './check-blobs.ts'
import { S3Blobs } from './s3-blobs.ts'
import { bytesOf, contentOf, mebibyte } from '#testing/blobs/blob-bytes.ts'

const wrongSecret = { secretAccessKey: 'not-the-secret-of-the-tests' }

let store: Radosgw
before(async () => {
  if (!skip) store = await startRadosgw()
})
after(async () => {
  if (!skip) await store.stop()
})

describeBlobs(
  'blobs in S3 (Ceph RADOS Gateway)',
  async () => {
    const blobs = new S3Blobs(store)
    const stranger = new S3Blobs({ ...store, ...wrongSecret })
    return {
      blobs,
      stranger,
      reach: (url) => url,
      // This one's release signs the header and looks no further; AWS and later releases compare.
      checksHashes: false,
      close: async () => {
        blobs.close()
        stranger.close()
      },
    }
  },
  { skip },
)

test('type, length and hash of an upload are among the signed headers', { skip }, async () => {
  const blobs = new S3Blobs(store)
  const terms = { key: 'a/b', mime: 'image/png', bytes: 5, sha256: '00'.repeat(32), expiresInSeconds: 60 }
  const { url, headers } = await blobs.presignUpload(terms)
  const signed = new URL(url).searchParams.get('X-Amz-SignedHeaders')?.split(';')
  assert.deepEqual(signed, ['content-length', 'content-type', 'host', 'x-amz-checksum-sha256'])
  assert.equal(headers['x-amz-checksum-sha256'], Buffer.alloc(32).toString('base64'))
  blobs.close()
})

test(
  'with the rules of docs/storage.md a page uploads straight to the bucket, of the origins there and of no other',
  { skip },
  async () => {
    const guide = await readFile(new URL('../../../../../docs/storage.md', import.meta.url), 'utf8')
    const rules = JSON.parse(/```json\n(.*?)```/s.exec(guide)![1]!) as CORSConfiguration
    const client = new S3Client({ ...store, credentials: store, forcePathStyle: true })
    await client.send(new PutBucketCorsCommand({ Bucket: store.bucket, CORSConfiguration: rules }))
    const blobs = new S3Blobs(store)
    const terms = { key: 'a/b', mime: 'image/png', bytes: 5, sha256: '00'.repeat(32), expiresInSeconds: 60 }
    const { url, headers } = await blobs.presignUpload(terms)
    // A browser names those that it does not send by itself.
    const named = Object.keys(headers).filter((name) => name !== 'content-length')
    const preflight = (origin: string, method: string) =>
      fetch(url, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': method,
          'access-control-request-headers': named.join(','),
        },
      })
    const [page, stranger, other] = await Promise.all([
      preflight('https://your-app.example', 'PUT'),
      preflight('https://elsewhere.example', 'PUT'),
      preflight('https://your-app.example', 'DELETE'),
    ])
    assert.equal(page.headers.get('access-control-allow-origin'), 'https://your-app.example')
    const allowed = page.headers.get('access-control-allow-headers')!.toLowerCase().split(/, ?/)
    assert.deepEqual(allowed.toSorted(), named.toSorted())
    for (const refused of [stranger, other]) assert.equal(refused.headers.get('access-control-allow-origin'), null)
    client.destroy()
    blobs.close()
  },
)

test('a promotion names the bytes that it means, and takes no others', async (t) => {
  // Not the real one: its release knows the condition by another name.
  const conditions: unknown[] = []
  const server = createHttpServer((req, res) => {
    const isUpload = req.url!.includes('uploads/')
    if (req.method === 'HEAD') return res.writeHead(isUpload ? 200 : 404, { etag: `"tag-${conditions.length}"` }).end()
    conditions.push(req.headers['x-amz-copy-source-if-match'])
    const last = conditions.length % 3 === 0
    return last ? res.writeHead(500).end() : res.writeHead(412).end()
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const blobs = new S3Blobs({ endpoint, bucket: 'a', region: 'a', accessKeyId: 'a', secretAccessKey: 'a' })
  t.after(() => blobs.close())
  await assert.rejects(blobs.promote('uploads/a', 'b/a'), { code: 'unavailable' })
  // Twice replaced since it was looked at; then the client itself repeats what the store could not do.
  assert.deepEqual(conditions.slice(0, 3), ['"tag-0"', '"tag-1"', '"tag-2"'])
  assert.deepEqual([...new Set(conditions.slice(2))], ['"tag-2"'])
})

test('a file is read to its end however long its reader pauses', { skip }, async () => {
  const silenceMs = 300
  const blobs = new S3Blobs({ ...store, silenceMs })
  const bytes = bytesOf(8 * mebibyte)
  await blobs.write('paused/a', bytes, { mime: 'video/mp4' })
  const content = await blobs.read('paused/a')
  await delay(4 * silenceMs)
  assert.ok(bytes.equals(await contentOf(content)))
  blobs.close()
})

describe('an S3 store that cannot be used', { skip }, () => {
  const refused = async (settings: Partial<Radosgw> & { silenceMs?: number }) => {
    const blobs = new S3Blobs({ ...store, ...settings })
    await assert.rejects(blobs.write('a/b', Buffer.from('x'), { mime: 'image/png' }), { code: 'unavailable' })
    await assert.rejects(blobs.read('a/b'), { code: 'unavailable' })
    await assert.rejects(blobs.delete(['a/b']), { code: 'unavailable' })
    await assert.rejects(blobs.list('a/'), { code: 'unavailable' })
    blobs.close()
  }

  test('wrong secrets are refused: signatures are checked here', () => refused(wrongSecret))
  test('an unknown user is refused', () => refused({ accessKeyId: 'NOBODY' }))
  test('nothing is kept in a bucket that is not there', () => refused({ bucket: 'no-such-bucket' }))
  test('a store that is away is unavailable', () => refused({ endpoint: 'http://127.0.0.1:1' }))

  test('a store that says nothing is given up', async (t) => {
    const silent = createServer().listen(0, '127.0.0.1')
    t.after(() => silent.close())
    await new Promise((resolve) => silent.once('listening', resolve))
    const startedAt = Date.now()
    await refused({ endpoint: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`, silenceMs: 200 })
    assert.ok(Date.now() - startedAt < 15_000)
  })

  const start = async (changed: Record<string, string | undefined>) => {
    const { endpoint, bucket, region, accessKeyId, secretAccessKey } = store
    const env = readEnv({
      ATRIUM_BLOBS: 's3',
      S3_ENDPOINT: endpoint,
      S3_BUCKET: bucket,
      S3_REGION: region,
      S3_ACCESS_KEY_ID: accessKeyId,
      S3_SECRET_ACCESS_KEY: secretAccessKey,
      ATRIUM_ADMIN_TOKEN: 'test-operator-token-0123456789',
      ATRIUM_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      ...changed,
    })
    const config = readConfig(env)
    await checkBlobs(config, readGivenSecrets(env))
  }

  test('a start with the right settings goes on', () => start({}))

  const wrong: [Record<string, string | undefined>, RegExp][] = [
    [{ S3_ENDPOINT: 'http://127.0.0.1:1' }, /^S3_ENDPOINT: .*ECONNREFUSED/],
    [{ S3_BUCKET: 'no-such-bucket' }, /^S3_BUCKET: /],
    [{ S3_ACCESS_KEY_ID: 'NOBODY' }, /^S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY: /],
    [{ S3_SECRET_ACCESS_KEY: 'hush-hush' }, /^S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY: /],
  ]
  for (const [env, says] of wrong) {
    test(`a start with the wrong ${Object.keys(env)[0]} stops with a line that names it`, async () => {
      await assert.rejects(start(env), (error: Error) => {
        assert.equal(error.constructor.name, 'StartError')
        assert.match(error.message, says)
        assert.doesNotMatch(error.message, /\n|hush-hush/)
        return true
      })
    })
  }
})
