import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readWrappedMasterKeys } from '#config/kms-config.ts'
import { readEnv } from '#config/env.ts'
import { readGivenSecrets } from '#config/secrets.ts'
import { passesOnce, startLoopClock } from '#testing/busy-machine.ts'
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
  const now = startLoopClock(t)
  // In two seconds a busy machine may begin fewer requests.
  await passesOnce(async () => {
    const [before, startedAt] = [kms.requests(), now()]
    said.length = 0
    await assert.rejects(unwrap(), { message: 'ATRIUM_MASTER_KEY_KMS: KMS answers 503 (docs/master-key.md)' })
    assert.ok(now() - startedAt < 4_000)
    const requests = kms.requests() - before
    assert.ok(requests >= 3 && requests <= 6, `${requests} requests`)
    assert.equal(said.length, 1, 'one line, not one a request')
  })

  kms.behave('silent')
  const startedAt = now()
  await assert.rejects(unwrap(), { message: /^ATRIUM_MASTER_KEY_KMS: KMS does not answer \(.*\) \(docs/ })
  assert.ok(now() - startedAt < 11_000)

  kms.behave('well')
  assert.deepEqual((await unwrap()).masterKeys, [Buffer.alloc(32, 3)])
})
