import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { createTestDatabase } from '../../packages/server/testing/test-database.ts'
import { adminToken, freePort } from '../support/atrium-process.ts'
import { askGood, call } from '../support/call-api.ts'
import { runAtrium, type AtriumRun } from '../support/run-atrium.ts'

const keyText = (byte: number) => Buffer.alloc(32, byte).toString('base64')

async function newFolder(t: TestContext): Promise<string> {
  const base = await mkdtemp(join(tmpdir(), 'atrium-key-'))
  // Readable by the user under which root runs PostgreSQL.
  await chmod(base, 0o755)
  // Hooks run in their order, so what was started later ends while this still runs.
  t.after(() => rm(base, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 }))
  return join(base, 'data')
}

interface Running extends AtriumRun {
  origin: string
  end(): Promise<void>
}

/** Starts and waits until it says that it runs. */
async function start(t: TestContext, args: string[], env: Record<string, string>): Promise<Running> {
  const port = env['PORT'] ?? String(await freePort())
  const run = runAtrium(args, { ...env, PORT: port })
  const end = async () => {
    run.kill()
    await run.ended(15_000)
  }
  t.after(end)
  const words = args[0] === 'start' ? 'Atrium is running' : 'Server listening'
  while (!run.output().includes(words)) assert.equal(await run.ended(50), undefined, run.output())
  return { ...run, origin: `http://localhost:${port}`, end }
}

/** The process exits with one line that gives the reason. Returns the line. */
async function refusal(t: TestContext, args: string[], env: Record<string, string>): Promise<string> {
  const run = runAtrium(args, { PORT: String(await freePort()), ...env })
  t.after(() => run.kill('SIGKILL'))
  assert.equal(await run.ended(30_000), 1, run.output())
  const lines = run.output().trim().split('\n')
  assert.equal(lines.length, 1, `one line, not:\n${run.output()}`)
  return lines[0]!
}

const shared = async (t: TestContext) => {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  return { env: { DATABASE_URL: database.url, ATRIUM_ADMIN_TOKEN: adminToken, ATRIUM_EGRESS: 'loopback' } }
}

test('with its file deleted, a start on the same data folder is refused and makes no other; with the file back, all opens', async (t) => {
  const dataDir = await newFolder(t)
  const path = join(dataDir, 'master-key')
  const first = await start(t, ['start', '--no-space'], { ATRIUM_DATA_DIR: dataDir })
  await first.end()
  const key = await readFile(path, 'utf8')
  await rm(path)
  assert.match(
    await refusal(t, ['start', '--no-space'], { ATRIUM_DATA_DIR: dataDir }),
    /^atrium: the master key is missing: .*master-key does not exist.*Put the file back, or set ATRIUM_MASTER_KEY/,
  )
  assert.ok(!existsSync(path), 'no new file hides that the old one is gone')
  await writeFile(path, `${keyText(9)}\n`)
  assert.match(
    await refusal(t, ['start', '--no-space'], { ATRIUM_DATA_DIR: dataDir }),
    /^atrium: ATRIUM_MASTER_KEY: .*is sealed under the master key/,
  )
  assert.equal(await readFile(path, 'utf8'), `${keyText(9)}\n`, 'a file that is there stays as it is')
  await writeFile(path, 'cut off\n')
  assert.match(
    await refusal(t, ['start', '--no-space'], { ATRIUM_DATA_DIR: dataDir }),
    /^atrium: \/.*\/master-key must be the base64 of exactly 32 bytes/,
  )
  await writeFile(path, key)
  await (await start(t, ['start', '--no-space'], { ATRIUM_DATA_DIR: dataDir })).end()
})

test('a database with a new data folder, or with another key, is refused in every role that uses the key, and nothing is made', async (t) => {
  const { env } = await shared(t)
  const good = { ...env, ATRIUM_DATA_DIR: await newFolder(t), ATRIUM_MASTER_KEY: keyText(1) }
  await (await start(t, ['api'], good)).end()
  for (const role of ['start', 'api', 'worker']) {
    const dataDir = await newFolder(t)
    assert.match(await refusal(t, [role], { ...env, ATRIUM_DATA_DIR: dataDir }), /the master key is missing/, role)
    for (const name of ['master-key', 'admin-token']) assert.ok(!existsSync(join(dataDir, name)), `${role} made ${name}`)
  }
  assert.match(
    await refusal(t, ['api'], { ...good, ATRIUM_MASTER_KEY: keyText(2) }),
    /ATRIUM_MASTER_KEY: this database is sealed under the master key [0-9a-f]{8}, but the configured key is [0-9a-f]{8}\. .*docs\/master-key\.md/,
  )
  // The Space service does not use the master key and does not require it.
  const spacePort = String(await freePort())
  const space = runAtrium(['space'], { ...env, ATRIUM_DATA_DIR: await newFolder(t), SPACE_PORT: spacePort })
  t.after(() => space.kill('SIGKILL'))
  const isUp = () =>
    fetch(`http://localhost:${spacePort}/cert.json`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await isUp())) assert.equal(await space.ended(50), undefined, space.output())
  space.kill()
  assert.equal(await space.ended(10_000), 0, space.output())
})

test('two that start at once on a new database and a new folder agree on one key', async (t) => {
  const { env } = await shared(t)
  const dataDir = await newFolder(t)
  const both = await Promise.all(['api', 'api'].map((role) => start(t, [role], { ...env, ATRIUM_DATA_DIR: dataDir })))
  const made = both.map(async ({ origin }) => {
    const { data } = await askGood(origin, 'POST /v1/tenants', { operator: true, body: { name: 'x' }, idempotencyKey: 'both' })
    return data.secret_key
  })
  assert.equal(new Set(await Promise.all(made)).size, 1, 'what the one kept, the other opens')
})

test('a first start whose SPACE_PORT is in use makes nothing; the next one prints the development keys', async (t) => {
  const dataDir = await newFolder(t)
  const [PORT, SPACE_PORT] = [String(await freePort()), String(await freePort())]
  const occupant = createServer().listen(Number(SPACE_PORT), '127.0.0.1')
  t.after(() => occupant.close())
  const env = { PORT, SPACE_PORT, ATRIUM_DATA_DIR: dataDir }
  const said = await refusal(t, ['start'], env)
  assert.equal(said, `atrium: port ${SPACE_PORT} is in use; stop what uses it or set SPACE_PORT to another one`)
  assert.ok(!existsSync(dataDir), 'nothing was made')
  occupant.close()
  await assertPrintsKeys(await start(t, ['start'], env))
})

test('if the first start fails after its database was created, the next start creates and prints the keys', async (t) => {
  const dataDir = await newFolder(t)
  const [PORT, SPACE_PORT] = [String(await freePort()), String(await freePort())]
  const failed = runAtrium(['start'], { PORT, SPACE_PORT, ATRIUM_DATA_DIR: dataDir })
  t.after(() => failed.kill('SIGKILL'))
  // The ports were checked before the folder was made.
  while (!existsSync(dataDir)) assert.equal(await failed.ended(10), undefined, failed.output())
  const occupant = createServer().listen(Number(SPACE_PORT), '127.0.0.1')
  t.after(() => occupant.close())
  assert.equal(await failed.ended(60_000), 1, failed.output())
  assert.ok(existsSync(join(dataDir, 'master-key')), 'it came as far as that')
  assert.doesNotMatch(failed.output(), /wsk_/)
  await assertPrintsKeys(await start(t, ['start'], { ATRIUM_DATA_DIR: dataDir }))
})

test('a wrong signing key of Space, in its variable, its file or the data folder, is reported before anything is created', async (t) => {
  const must = 'must be the private key of an EC P-256 pair, as PKCS#8 PEM or as JWK'
  const file = join(await mkdtemp(join(tmpdir(), 'atrium-space-key-')), 'key')
  t.after(() => rm(dirname(file), { recursive: true }))
  await writeFile(file, 'hunter2')
  for (const wrong of [{ ATRIUM_SPACE_SIGNING_KEY: 'hunter2' }, { ATRIUM_SPACE_SIGNING_KEY_FILE: file }])
    for (const role of ['start', 'space']) {
      const dataDir = await newFolder(t)
      // Nothing answers at this address, so a role that asks the database first does not report the key.
      const database = role === 'space' ? { DATABASE_URL: 'postgres://127.0.0.1:1/none' } : {}
      const said = await refusal(t, [role], {
        SPACE_PORT: String(await freePort()),
        ATRIUM_DATA_DIR: dataDir,
        ...database,
        ...wrong,
      })
      assert.equal(said, `atrium: ATRIUM_SPACE_SIGNING_KEY ${must}`)
      assert.ok(!existsSync(dataDir), 'nothing was made')
    }
  const dataDir = await newFolder(t)
  await mkdir(dataDir)
  await writeFile(join(dataDir, 'space-signing-key'), '')
  const env = { SPACE_PORT: String(await freePort()), ATRIUM_DATA_DIR: dataDir }
  assert.equal(await refusal(t, ['start'], env), `atrium: ${join(dataDir, 'space-signing-key')} ${must}`)
  assert.deepEqual(await readdir(dataDir), ['space-signing-key'])
})

test('the same port in two variables is reported before anything is created', async (t) => {
  const dataDir = await newFolder(t)
  const port = String(await freePort())
  assert.match(await refusal(t, ['start'], { PORT: port, SPACE_PORT: port, ATRIUM_DATA_DIR: dataDir }), /SPACE_PORT/)
  assert.ok(!existsSync(dataDir))
})

async function assertPrintsKeys(run: Running): Promise<void> {
  const secret = /secret +(wsk_\w+)/.exec(run.output())?.[1]
  assert.ok(secret, run.output())
  assert.equal((await call(run.origin, 'GET /v1/tenant', { key: secret })).status, 200)
}
