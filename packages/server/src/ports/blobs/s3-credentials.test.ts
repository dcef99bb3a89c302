import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, test, type TestContext } from 'node:test'
import { readConfig } from '#config/config.ts'
import { readEnv } from '#config/env.ts'
import { readGivenSecrets } from '#config/secrets.ts'
import { startContainerCredentials } from '#testing/container-credentials.ts'
import { startInstanceMetadata, startTokenService } from '#testing/role-credentials.ts'
import { skipWithoutRadosgw as skip, startRadosgw, type Radosgw } from '#testing/radosgw/start-radosgw.ts'
import { sendHttp } from '#testing/blobs/send-http.ts'
import { checkBlobs } from './check-blobs.ts'
import { S3Blobs } from './s3-blobs.ts'

let store: Radosgw
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atrium-aws-'))
  if (!skip) store = await startRadosgw()
})
after(async () => {
  if (!skip) await store.stop()
  await rm(folder, { recursive: true })
})

const ownVariables = Object.keys(process.env).filter((name) => name.startsWith('AWS_'))
const saved = Object.fromEntries(ownVariables.map((name) => [name, process.env[name]]))
const clear = () => {
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name]
}

/** The chain finds nothing of this machine: neither files of its user nor the metadata of its cloud. */
beforeEach(() => {
  clear()
  Object.assign(process.env, {
    AWS_SHARED_CREDENTIALS_FILE: join(folder, 'none'),
    AWS_CONFIG_FILE: join(folder, 'none'),
    AWS_EC2_METADATA_DISABLED: 'true',
  })
})
afterEach(() => {
  clear()
  Object.assign(process.env, saved)
})

/** The start's own check, with settings that have no keys unless they are given. */
async function start(given: Record<string, string> = {}, place: Pick<Radosgw, 'endpoint' | 'bucket' | 'region'> = store) {
  const env = readEnv({
    ATRIUM_BLOBS: 's3',
    S3_ENDPOINT: place.endpoint,
    S3_BUCKET: place.bucket,
    S3_REGION: place.region,
    ...given,
  })
  await checkBlobs(readConfig(env), readGivenSecrets(env))
}

async function assertStores(): Promise<void> {
  const { endpoint, bucket, region } = store
  const blobs = new S3Blobs({ endpoint, bucket, region })
  await blobs.write('chain/a', Buffer.from('x'), { mime: 'image/png' })
  assert.equal((await blobs.stat('chain/a'))?.bytes, 1)
  const { url, headers } = await blobs.presignUpload({ key: 'chain/b', mime: 'image/png', bytes: 2, expiresInSeconds: 60 })
  assert.equal((await sendHttp('PUT', url, headers, Buffer.from('xy'))).status, 200)
  blobs.close()
}

test('without S3_ACCESS_KEY_ID, the keys of the environment are used', { skip }, async () => {
  process.env['AWS_ACCESS_KEY_ID'] = store.accessKeyId
  process.env['AWS_SECRET_ACCESS_KEY'] = store.secretAccessKey
  await start()
  await assertStores()
})

test('the keys of a profile in a shared file are used', { skip }, async () => {
  const file = join(folder, 'credentials')
  const { accessKeyId, secretAccessKey } = store
  await writeFile(file, `[atrium]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`)
  Object.assign(process.env, { AWS_SHARED_CREDENTIALS_FILE: file, AWS_PROFILE: 'atrium' })
  await start()
  await assertStores()
})

test('S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY win over the chain', { skip }, async () => {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'NOBODY', AWS_SECRET_ACCESS_KEY: 'hush-hush' })
  await start({ S3_ACCESS_KEY_ID: store.accessKeyId, S3_SECRET_ACCESS_KEY: store.secretAccessKey })
  await assert.rejects(start(), /^Error: S3_BUCKET: .* refuses the credentials of the standard chain/)
})

test('a start that finds no credentials stops with a line that says so', async () => {
  const place = { endpoint: 'http://127.0.0.1:1', bucket: 'atrium', region: 'us-east-1' }
  await assert.rejects(start({}, place), /^Error: S3_ACCESS_KEY_ID is not set, and the standard chain found no AWS cred/)
})

test('credentials of a role are renewed before they expire, and an endpoint that is gone hangs no request', async (t) => {
  const role = await startContainerCredentials('Bearer of-the-container')
  t.after(() => role.close())
  Object.assign(process.env, {
    AWS_CONTAINER_CREDENTIALS_FULL_URI: role.uri,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: 'Bearer of-the-container',
  })
  const s3 = await startRecordingStore(t)
  const blobs = new S3Blobs({ endpoint: s3.endpoint, bucket: 'atrium', region: 'us-east-1' })
  t.after(() => blobs.close())

  // Close to their end: used, and renewed in the background.
  role.answer({ accessKeyId: 'FIRST', secretAccessKey: 'a', secondsLeft: 60 })
  await blobs.stat('a/b')
  assert.deepEqual(s3.signedBy(), ['FIRST'])
  role.answer({ accessKeyId: 'SECOND', secretAccessKey: 'b', secondsLeft: 3_600 })
  const deadline = Date.now() + 10_000
  while (s3.signedBy().at(-1) !== 'SECOND') {
    assert.ok(Date.now() < deadline, 'renewed long before the minute is over')
    await blobs.stat('a/b')
  }
  assert.equal(s3.sessionToken(), 'session-token')

  // Far from their end: the endpoint is not needed.
  role.answer('nothing')
  const asked = role.asked()
  await blobs.stat('a/b')
  assert.equal(role.asked(), asked)
})

test('with expired credentials and a silent endpoint, requests fail in time and work again later', async (t) => {
  const role = await startContainerCredentials('Bearer of-the-container')
  t.after(() => role.close())
  Object.assign(process.env, {
    AWS_CONTAINER_CREDENTIALS_FULL_URI: role.uri,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: 'Bearer of-the-container',
  })
  const s3 = await startRecordingStore(t)
  const blobs = new S3Blobs({ endpoint: s3.endpoint, bucket: 'atrium', region: 'us-east-1', silenceMs: 1_000 })
  t.after(() => blobs.close())
  const startedAt = Date.now()
  const failed = await Promise.allSettled(Array.from({ length: 20 }, () => blobs.stat('a/b')))
  assert.ok(Date.now() - startedAt < 15_000, `after ${Date.now() - startedAt} ms`)
  for (const outcome of failed) {
    assert.ok(outcome.status === 'rejected')
    assert.equal(outcome.reason.code, 'unavailable')
    assert.match(outcome.reason.cause.message, /the standard chain found no AWS credentials/)
  }
  assert.ok(role.asked() <= 3, `${role.asked()} requests of 20 callers`)
  role.answer({ accessKeyId: 'LATER', secretAccessKey: 'a', secondsLeft: 3_600 })
  await blobs.stat('a/b')
  assert.deepEqual(s3.signedBy(), ['LATER'])
})

test('web identity: the token of the file is exchanged for keys of the role; a wrong token stops the start with a line', async (t) => {
  const role = 'arn:aws:iam::123456789012:role/atrium'
  const file = join(folder, 'web-identity-token')
  await writeFile(file, 'of-this-pod')
  const service = await startTokenService({ token: () => 'of-this-pod', role }, { accessKeyId: 'WEBID', secretAccessKey: 'a' })
  t.after(() => service.close())
  const given = { AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_ARN: role, AWS_ENDPOINT_URL_STS: service.origin }
  Object.assign(process.env, given)
  const s3 = await startRecordingStore(t)
  const place = { endpoint: s3.endpoint, bucket: 'atrium', region: 'eu-central-1' }
  const blobs = new S3Blobs(place)
  t.after(() => blobs.close())
  await blobs.stat('a/b')
  await blobs.stat('a/b')
  assert.deepEqual([s3.signedBy(), s3.sessionToken()], [['WEBID', 'WEBID'], 'session-token'])
  assert.deepEqual(service.asked, ['AssumeRoleWithWebIdentity'], 'once')
  await writeFile(file, 'of-another-pod')
  await assert.rejects(start({}, place), /^Error: S3_ACCESS_KEY_ID is not set, and the standard chain found no AWS cred/)
})

test('instance metadata: keys of the role are read with a session token (IMDSv2)', async (t) => {
  const metadata = await startInstanceMetadata('atrium-role', { accessKeyId: 'INSTANCE', secretAccessKey: 'a' })
  t.after(() => metadata.close())
  delete process.env['AWS_EC2_METADATA_DISABLED']
  process.env['AWS_EC2_METADATA_SERVICE_ENDPOINT'] = metadata.origin
  const s3 = await startRecordingStore(t)
  const blobs = new S3Blobs({ endpoint: s3.endpoint, bucket: 'atrium', region: 'us-east-1' })
  t.after(() => blobs.close())
  await blobs.stat('a/b')
  assert.deepEqual([s3.signedBy(), s3.sessionToken()], [['INSTANCE'], 'session-token'])
  const folder = '/latest/meta-data/iam/security-credentials/'
  assert.deepEqual(metadata.asked, ['PUT /latest/api/token', `GET ${folder}`, `GET ${folder}atrium-role`])
})

/** Answers every HEAD, and keeps by whose key and with which token it was signed. */
async function startRecordingStore(t: TestContext) {
  const keys: string[] = []
  let token: unknown
  const server = createServer((req, res) => {
    keys.push(/Credential=([^/]+)\//.exec(req.headers.authorization ?? '')?.[1] ?? 'nobody')
    token = req.headers['x-amz-security-token']
    res.writeHead(200, { etag: '"a"', 'content-length': '1' }).end()
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    signedBy: () => keys,
    sessionToken: () => token,
  }
}
