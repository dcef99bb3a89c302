import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readBlobConfig, readS3Secrets } from './blob-config.ts'
import { readEnv } from './env.ts'

const s3 = {
  ATRIUM_BLOBS: 's3',
  S3_ENDPOINT: 'https://s3.example',
  S3_BUCKET: 'atrium',
  S3_REGION: 'eu-central-1',
  S3_ACCESS_KEY_ID: 'AKIA',
  S3_SECRET_ACCESS_KEY: 'hush-hush',
}

test('files are kept on disk unless S3 is asked for', () => {
  assert.deepEqual(readBlobConfig(readEnv({})), { store: 'disk' })
  assert.deepEqual(readBlobConfig(readEnv({ ...s3, ATRIUM_BLOBS: 'disk' })), { store: 'disk' })
  assert.equal(readS3Secrets(readEnv({ ...s3, ATRIUM_BLOBS: '' })), undefined)
})

test('the configuration contains no secrets', () => {
  const config = readBlobConfig(readEnv(s3))
  assert.deepEqual(config, { store: 's3', endpoint: 'https://s3.example', bucket: 'atrium', region: 'eu-central-1' })
  assert.deepEqual(readS3Secrets(readEnv(s3)), { accessKeyId: 'AKIA', secretAccessKey: 'hush-hush' })
})

for (const name of ['S3_ENDPOINT', 'S3_BUCKET', 'S3_REGION']) {
  test(`a missing ${name} is named`, () => {
    const env = readEnv({ ...s3, [name]: ' ' })
    assert.throws(() => [readBlobConfig(env), readS3Secrets(env)], { message: `${name} must be set when ATRIUM_BLOBS is s3` })
  })
}

test('without keys the standard chain is used; one key without the other is named', () => {
  const { S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY, ...keyless } = s3
  assert.equal(readS3Secrets(readEnv(keyless)), undefined)
  assert.throws(() => readS3Secrets(readEnv({ ...keyless, S3_ACCESS_KEY_ID })), {
    message: 'S3_SECRET_ACCESS_KEY must be set when S3_ACCESS_KEY_ID is',
  })
  assert.throws(() => readS3Secrets(readEnv({ ...keyless, S3_SECRET_ACCESS_KEY })), {
    message: 'S3_ACCESS_KEY_ID must be set when S3_SECRET_ACCESS_KEY is',
  })
})

for (const [name, value] of [
  ['ATRIUM_BLOBS', 'gcs'],
  ['S3_ENDPOINT', 's3.example'],
  ['S3_ENDPOINT', 'ftp://s3.example'],
  ['S3_ENDPOINT', 'https://ann:hush-hush@s3.example'],
  ['S3_ENDPOINT', 'https://s3.example/bucket'],
  ['S3_BUCKET', 'My Bucket'],
  ['S3_BUCKET', 'a/b'],
] as const) {
  test(`a wrong ${name} is named: ${value}`, () => {
    assert.throws(
      () => readBlobConfig(readEnv({ ...s3, [name]: value })),
      (error: Error) => error.message.startsWith(`${name} must be`) && !error.message.includes('hush-hush'),
    )
  })
}
