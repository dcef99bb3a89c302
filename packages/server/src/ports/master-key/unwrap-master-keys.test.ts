import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readWrappedMasterKeys } from '#config/kms-config.ts'
import { readEnv } from '#config/env.ts'
import { readGivenSecrets } from '#config/secrets.ts'
import { startKms } from '#testing/kms-server.ts'
import { unwrapMasterKeys } from './unwrap-master-keys.ts'

test('a KMS that stays away or refuses for a while is tried with growing waits, and ends in one clear error', async (t) => {
  const kms = await startKms()
  t.after(() => kms.close())
  const env = readEnv({ ...kms.env, ATRIUM_MASTER_KEY_KMS: kms.wrap(Buffer.alloc(32, 3)) })
  const own = { id: process.env['AWS_ACCESS_KEY_ID'], secret: process.env['AWS_SECRET_ACCESS_KEY'] }
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: kms.env['AWS_ACCESS_KEY_ID'],
    AWS_SECRET_ACCESS_KEY: kms.env['AWS_SECRET_ACCESS_KEY'],
  })
  t.after(() => {
    for (const [name, value] of [
      ['AWS_ACCESS_KEY_ID', own.id],
      ['AWS_SECRET_ACCESS_KEY', own.secret],
    ] as const)
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
  })
  const said: string[] = []
  const unwrap = () =>
    unwrapMasterKeys(readGivenSecrets(env), readWrappedMasterKeys(env), { withinMs: 2_000, say: (line) => said.push(line) })

  kms.behave({ status: 503, type: '' })
  const startedAt = performance.now()
  await assert.rejects(unwrap(), { message: 'ATRIUM_MASTER_KEY_KMS: KMS answers 503 (docs/master-key.md)' })
  assert.ok(performance.now() - startedAt < 4_000)
  assert.ok(kms.requests() >= 3 && kms.requests() <= 6, `${kms.requests()} requests`)
  assert.equal(said.length, 1, 'one line, not one a request')

  kms.behave('silent')
  await assert.rejects(unwrap(), { message: /^ATRIUM_MASTER_KEY_KMS: KMS does not answer \(.*\) \(docs/ })
  assert.ok(performance.now() - startedAt < 15_000)

  kms.behave('well')
  assert.deepEqual((await unwrap()).masterKeys, [Buffer.alloc(32, 3)])
})
