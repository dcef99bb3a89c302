import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, test, type TestContext } from 'node:test'
import { startKms, type KmsServer } from '../packages/server/testing/kms-server.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { adminToken, freePort } from './support/atrium-process.ts'
import { runAtrium, type AtriumRun } from './support/run-atrium.ts'

const key = Buffer.alloc(32, 3)

let kms: KmsServer
let database: TestDatabase
let folder: string
before(async () => {
  ;[kms, database] = await Promise.all([startKms(), createTestDatabase()])
  folder = await mkdtemp(join(tmpdir(), 'atrium-kms-'))
})
after(async () => {
  await kms.close()
  await database.drop()
  await rm(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 })
})
afterEach(() => kms.behave('well'))

async function run(t: TestContext, env: Record<string, string>, role = 'api'): Promise<AtriumRun> {
  const started = runAtrium([role], {
    DATABASE_URL: database.url,
    ATRIUM_DATA_DIR: join(folder, 'data'),
    ATRIUM_ADMIN_TOKEN: adminToken,
    PORT: String(await freePort()),
    ...kms.env,
    ...env,
  })
  t.after(() => started.kill('SIGKILL'))
  return started
}

async function serves(t: TestContext, env: Record<string, string>): Promise<void> {
  const started = await run(t, env)
  while (!started.output().includes('Server listening')) assert.equal(await started.ended(50), undefined, started.output())
  assert.ok(!started.output().includes(key.toString('base64')))
  started.kill()
  assert.equal(await started.ended(15_000), 0, started.output())
}

async function refusal(t: TestContext, env: Record<string, string>): Promise<string> {
  const started = await run(t, env)
  assert.equal(await started.ended(30_000), 1, started.output())
  assert.match(started.output(), /^atrium: [^\n]*\n$/)
  return started.output()
}

test('the same key, once as it is, and then wrapped in a variable and in a file, opens the database', async (t) => {
  await serves(t, {
    ATRIUM_MASTER_KEY: key.toString('base64'),
    ATRIUM_MASTER_KEY_KMS_REGION: '',
    ATRIUM_MASTER_KEY_KMS_ENDPOINT: '',
  })
  const wrapped = kms.wrap(key)
  await serves(t, { ATRIUM_MASTER_KEY_KMS: wrapped })
  const file = join(folder, 'wrapped')
  await writeFile(file, `${wrapped}\n`)
  await serves(t, { ATRIUM_MASTER_KEY_KMS_FILE: file })
  // During a change of the key: the new one seals, and the old one opens.
  await serves(t, { ATRIUM_MASTER_KEY_KMS: `${kms.wrap(Buffer.alloc(32, 4))},${wrapped}` })
  assert.ok(!(await readdir(join(folder, 'data'))).includes('master-key'), 'no file has the key')
})

test('a start waits for a KMS that is gone, and says so', async (t) => {
  kms.behave('broken')
  const started = await run(t, { ATRIUM_MASTER_KEY_KMS: kms.wrap(key) })
  while (!started.output().includes('trying again')) assert.equal(await started.ended(20), undefined, started.output())
  assert.match(started.output(), /^atrium: ATRIUM_MASTER_KEY_KMS: KMS does not answer \([^)]+\); trying again for 60 s\n$/)
  kms.behave({ status: 400, type: 'ThrottlingException' })
  const asked = kms.requests()
  while (kms.requests() === asked) assert.equal(await started.ended(20), undefined, started.output())
  kms.behave('well')
  while (!started.output().includes('Server listening')) assert.equal(await started.ended(50), undefined, started.output())
})

test('what KMS refuses ends the start at once, with its reason', async (t) => {
  const ATRIUM_MASTER_KEY_KMS = kms.wrap(key)
  const refused = async (env: Record<string, string>, says: RegExp) => {
    const asked = kms.requests()
    assert.match(await refusal(t, { ATRIUM_MASTER_KEY_KMS, ...env }), says)
    assert.ok(kms.requests() <= asked + 1, 'asked once')
  }
  await refused({ AWS_SECRET_ACCESS_KEY: 'another' }, /KMS answers 400 InvalidSignatureException/)
  await refused({ AWS_ACCESS_KEY_ID: 'NOBODY' }, /KMS answers 400 UnrecognizedClientException/)
  await refused({ ATRIUM_MASTER_KEY_KMS: Buffer.alloc(99).toString('base64') }, /KMS answers 400 InvalidCiphertextException/)
  await refused({ ATRIUM_MASTER_KEY_KMS: kms.wrap(Buffer.alloc(16)) }, /decrypts it to 16 bytes, and a master key has 32/)
  await refused({ ATRIUM_MASTER_KEY_KMS: kms.wrap(Buffer.alloc(32, 9)) }, /sealed under the master key/)
  kms.behave({ status: 400, type: 'com.amazonaws.kms#DisabledException' })
  await refused({}, /KMS answers 400 DisabledException \(docs\/master-key\.md\)/)
})

test('wrong settings are named before anything is asked or made', async (t) => {
  const asked = kms.requests()
  const wrapped = { ATRIUM_MASTER_KEY_KMS: kms.wrap(key) }
  for (const [env, says] of [
    [{ ...wrapped, ATRIUM_MASTER_KEY: key.toString('base64') }, /ATRIUM_MASTER_KEY and ATRIUM_MASTER_KEY_KMS are both set/],
    [{ ...wrapped, ATRIUM_MASTER_KEY_KMS_REGION: '' }, /ATRIUM_MASTER_KEY_KMS_REGION must be/],
    [{ ...wrapped, ATRIUM_MASTER_KEY_KMS_ENDPOINT: 'http://kms.example' }, /ATRIUM_MASTER_KEY_KMS_ENDPOINT must be an https/],
    [{ ATRIUM_MASTER_KEY_KMS: 'hush!' }, /ATRIUM_MASTER_KEY_KMS must be the base64/],
    [{}, /ATRIUM_MASTER_KEY_KMS must be set when ATRIUM_MASTER_KEY_KMS_REGION is/],
  ] as const) {
    const said = await refusal(t, env)
    assert.match(said, says)
    assert.doesNotMatch(said, /hush/)
  }
  assert.equal(kms.requests(), asked)
})
