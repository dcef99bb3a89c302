import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createTestDatabase, urlOfDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { adminToken, freePort } from '../support/atrium-process.ts'
import { call, makeCollection } from '../support/call-api.ts'
import { queryDatabase } from '../support/query-database.ts'
import { runAtrium, type AtriumRun } from '../support/run-atrium.ts'
import { skipWithout } from '../support/skip-without.ts'

/** Clean-up steps, run in reverse order of their set-up. Separate `after` hooks would run in the order of set-up. */
const endings = new WeakMap<TestContext, (() => Promise<unknown>)[]>()

function atEnd(t: TestContext, end: () => Promise<unknown>): void {
  const known = endings.get(t)
  if (known) return void known.unshift(end)
  const steps = [end]
  endings.set(t, steps)
  t.after(async () => {
    for (const step of steps) await step()
  })
}

/** A folder with a space in its path, readable by the user under which root runs PostgreSQL. */
async function dataFolder(t: TestContext): Promise<string> {
  const base = await mkdtemp(join(tmpdir(), 'atrium start '))
  await chmod(base, 0o755)
  atEnd(t, () => rm(base, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 }))
  return join(base, 'my data')
}

/** A valid environment for a start. Each case then breaks one setting. */
async function goodEnv(t: TestContext): Promise<Record<string, string>> {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  return { ...(await goodSettings(t)), DATABASE_URL: database.url }
}

/** As `goodEnv`, with a database that has no tables yet. */
async function emptyDatabase(t: TestContext): Promise<Record<string, string>> {
  const database = await createTestDatabase({ template: 'template0' })
  t.after(() => database.drop())
  return { ...(await goodSettings(t)), DATABASE_URL: database.url }
}

/** As `goodEnv`, without the database. */
async function goodSettings(t: TestContext): Promise<Record<string, string>> {
  const ATRIUM_MASTER_KEY = Buffer.alloc(32, 7).toString('base64')
  const PORT = String(await freePort())
  return {
    ATRIUM_DATA_DIR: await dataFolder(t),
    ATRIUM_ADMIN_TOKEN: adminToken,
    ATRIUM_MASTER_KEY,
    PORT,
  }
}

/** Asserts that the start fails with one line, without a stack, and with a failing exit code. */
async function assertRefuses(t: TestContext, env: Record<string, string>, says: RegExp, args: string[] = []): Promise<string> {
  const run = runAtrium(['start', ...args], env)
  t.after(() => run.kill('SIGKILL'))
  const code = await run.ended(30_000)
  const output = run.output()
  assert.ok(code !== undefined, `it ends by itself:\n${output}`)
  assert.notEqual(code, 0, output)
  const lines = output.trim().split('\n')
  assert.equal(lines.length, 1, `one line, not:\n${output}`)
  assert.match(lines[0]!, says)
  assert.match(lines[0]!, /^atrium: /)
  return output
}

describe('a start that cannot succeed prints the reason in one line', { concurrency: 2 }, () => {
  const wrong: [Record<string, string>, RegExp][] = [
    [{ PORT: 'http' }, /PORT must be a whole number/],
    [{ PORT: '70000' }, /PORT/],
    [{ HOST: '203.0.113.1' }, /HOST/],
    [{ HOST: 'no such host' }, /HOST/],
    [{ ATRIUM_PUBLIC_URL: 'atrium.example' }, /ATRIUM_PUBLIC_URL/],
    [{ ATRIUM_PUBLIC_URL: 'https://api.example/v1' }, /ATRIUM_PUBLIC_URL must be an origin without a path/],
    [{ ATRIUM_PUBLIC_URL: 'https://ann:hush-hush@api.example' }, /ATRIUM_PUBLIC_URL must be an origin/],
    // URL reads both as the origin, but each address would begin with this text.
    [{ ATRIUM_PUBLIC_URL: 'https://api.example/?' }, /ATRIUM_PUBLIC_URL must be an origin/],
    [{ ATRIUM_PUBLIC_URL: 'https:api.example' }, /ATRIUM_PUBLIC_URL must be an origin/],
    [{ ATRIUM_DATA_DIR: '/dev/null/atrium', ATRIUM_ADMIN_TOKEN: '' }, /ATRIUM_DATA_DIR|data folder/],
    [{ DATABASE_URL: 'mysql://ann:hush-hush@localhost/atrium' }, /DATABASE_URL/],
    [{ DATABASE_URL: 'postgresql://ann:hush-hush@localhost:notaport/atrium' }, /DATABASE_URL/],
    [{ DATABASE_URL: 'postgresql://ann:hush-hush@127.0.0.1:1/atrium' }, /DATABASE_URL/],
    [{ DATABASE_URL: 'postgresql://ann:hush-hush@no-such-host.invalid/atrium' }, /DATABASE_URL/],
    [{ DATABASE_DIRECT_URL: 'mysql://ann:hush-hush@localhost/atrium' }, /DATABASE_DIRECT_URL/],
    [{ DATABASE_URL: '', DATABASE_DIRECT_URL: 'postgresql://localhost/atrium' }, /DATABASE_URL must be set/],
    [{ DATABASE_POOL_SIZE: '1' }, /DATABASE_POOL_SIZE/],
    [{ SPACE_DATABASE_URL: 'ann:hush-hush@localhost' }, /SPACE_DATABASE_URL/],
    [{ SPACE_DATABASE_DIRECT_URL: 'postgresql://localhost/atrium' }, /SPACE_DATABASE_URL must be set/],
    [{ SPACE_DATABASE_POOL_SIZE: 'many' }, /SPACE_DATABASE_POOL_SIZE/],
    [{ REDIS_URL: 'http://ann:hush-hush@localhost' }, /REDIS_URL/],
    [{ ATRIUM_ADMIN_TOKEN: 'hush-hush' }, /ATRIUM_ADMIN_TOKEN/],
    [{ ATRIUM_MASTER_KEY: 'hush-hush' }, /ATRIUM_MASTER_KEY/],
    [{ ATRIUM_SPACE_PUBLISHABLE_KEY: 'wsk_hush-hush' }, /ATRIUM_SPACE_PUBLISHABLE_KEY/],
    [{ ATRIUM_RATE_LIMIT: 'fast' }, /ATRIUM_RATE_LIMIT/],
    [{ ATRIUM_RATE_LIMIT: '0' }, /ATRIUM_RATE_LIMIT/],
    [{ ATRIUM_AGENT_FEE: '1.5' }, /ATRIUM_AGENT_FEE/],
    [{ ATRIUM_TRUST_PROXY: 'my-proxy' }, /ATRIUM_TRUST_PROXY/],
    [{ ATRIUM_LOG: 'loud' }, /ATRIUM_LOG/],
    [{ OIDC_ISSUER: 'https://id.example' }, /OIDC_CLIENT_ID/],
    [{ OIDC_CLIENT_ID: 'atrium' }, /OIDC_ISSUER/],
    [{ OIDC_ISSUER: 'id.example', OIDC_CLIENT_ID: 'atrium' }, /OIDC_ISSUER/],
    [{ OIDC_ISSUER: 'http://id.example', OIDC_CLIENT_ID: 'atrium' }, /OIDC_ISSUER/],
    [{ TURN_URLS: 'turn:turn.example' }, /TURN_SECRET/],
    [{ TURN_SECRET: 'hush-hush-hush-hush' }, /TURN_URLS/],
    [{ TURN_URLS: 'turn:turn.example', TURN_SECRET: 'hush-hush' }, /TURN_SECRET/],
    [{ TURN_URLS: 'turn:ann:hush-hush@turn.example', TURN_SECRET: 'hush-hush-hush-hush' }, /TURN_URLS/],
  ]
  // None of these starts writes to the database, so they share one.
  let database: TestDatabase
  before(async () => void (database = await createTestDatabase()))
  after(() => database.drop())
  for (const [env, says] of wrong) {
    test(`wrong: ${Object.entries(env)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ')}`, async (t) => {
      const output = await assertRefuses(t, { ...(await goodSettings(t)), DATABASE_URL: database.url, ...env }, says)
      assert.ok(!output.includes('hush-hush'), 'and repeats no secret')
    })
  }

  for (const args of [[], ['--workers', '2']]) {
    test(`a port in use ${args.join(' ')}`, async (t) => {
      const env = await goodEnv(t)
      const taken = createServer().listen(Number(env['PORT']), '127.0.0.1')
      t.after(() => taken.close())
      await assertRefuses(t, env, new RegExp(`port ${env['PORT']} is in use`), args)
    })
  }

  test('a database that rejects the user', async (t) => {
    const env = await goodEnv(t)
    const url = new URL(env['DATABASE_URL']!)
    url.username = 'stranger'
    await assertRefuses(t, { ...env, DATABASE_URL: url.href }, /DATABASE_URL/)
  })

  test('a database that does not exist', async (t) => {
    const env = await goodEnv(t)
    const url = new URL(env['DATABASE_URL']!)
    url.pathname = '/no_such_database'
    await assertRefuses(t, { ...env, DATABASE_URL: url.href }, /DATABASE_URL/)
  })

  test('a role that may not create tables', async (t) => {
    const env = await emptyDatabase(t)
    const role = `reader_${randomBytes(6).toString('hex')}`
    await queryDatabase(env['DATABASE_URL']!, `create role ${role} login`)
    t.after(() => queryDatabase(database.url, `drop role ${role}`))
    const url = new URL(env['DATABASE_URL']!)
    url.username = role
    await assertRefuses(t, { ...env, DATABASE_URL: url.href }, /DATABASE_URL: permission denied for schema public: .*owner to/)
  })

  test('a database that is read-only, also for a restore', async (t) => {
    const [env, migrated] = [await emptyDatabase(t), await goodEnv(t)]
    for (const { DATABASE_URL: url } of [env, migrated]) {
      const name = new URL(url!).pathname.slice(1)
      await queryDatabase(url!, `alter database ${name} set default_transaction_read_only = on`)
    }
    await assertRefuses(t, migrated, /DATABASE_URL: cannot execute INSERT in a read-only transaction: .*primary/)
    const says = /DATABASE_URL: cannot execute CREATE TABLE in a read-only transaction: .*primary/
    await assertRefuses(t, env, says)
    const archive = join(await mkdtemp(join(tmpdir(), 'atrium-empty-')), 'empty.tar')
    atEnd(t, () => rm(dirname(archive), { recursive: true }))
    const backup = runAtrium(['backup', archive], { ...(await goodEnv(t)), ATRIUM_DATA_DIR: env['ATRIUM_DATA_DIR']! })
    assert.equal(await backup.ended(30_000), 0, backup.output())
    const restore = runAtrium(['restore', archive], env)
    assert.equal(await restore.ended(30_000), 1)
    assert.match(restore.output(), new RegExp(`(^|\\n)atrium: ${says.source}.*\\n$`))
  })

  test('a new database that is not in UTF-8', async (t) => {
    const name = `latin_${randomBytes(6).toString('hex')}`
    await queryDatabase(database.url, `create database ${name} encoding latin1 locale 'C' template template0`)
    t.after(() => queryDatabase(database.url, `drop database ${name} with (force)`))
    const env = { ...(await goodSettings(t)), DATABASE_URL: urlOfDatabase(database.url, name) }
    await assertRefuses(t, env, /DATABASE_URL: the encoding of the database is LATIN1 and must be UTF8: .*template0/)
  })

  test('a database server that accepts connections and does not answer', async (t) => {
    const silent = createServer()
    const port = await new Promise<number>((resolve) =>
      silent.listen(0, '127.0.0.1', () => resolve((silent.address() as { port: number }).port)),
    )
    t.after(() => silent.close())
    await assertRefuses(
      t,
      { ...(await goodSettings(t)), DATABASE_URL: `postgresql://ann@127.0.0.1:${port}/atrium` },
      /DATABASE_URL/,
    )
  })

  test('a database of a newer release', async (t) => {
    const env = await goodEnv(t)
    await queryDatabase(
      env['DATABASE_URL']!,
      `insert into schema_migration_checksum (name, sha256, contract_of) values ('9999_later', 'x', '9998')`,
    )
    await assertRefuses(t, env, /newer/)
  })

  test('a database whose migration was edited', async (t) => {
    const env = await goodEnv(t)
    await queryDatabase(env['DATABASE_URL']!, `update schema_migration_checksum set sha256 = 'x'`)
    await assertRefuses(t, env, /edited/)
  })

  test('a data folder of another PostgreSQL version', async (t) => {
    const env = await goodSettings(t)
    const folder = join(env['ATRIUM_DATA_DIR']!, 'postgres')
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'PG_VERSION'), '12\n')
    await assertRefuses(t, env, /PostgreSQL 12/)
  })

  test('an empty operator token file', async (t) => {
    const { ATRIUM_ADMIN_TOKEN: _, ...env } = await goodEnv(t)
    await mkdir(env['ATRIUM_DATA_DIR']!, { recursive: true })
    await writeFile(join(env['ATRIUM_DATA_DIR']!, 'admin-token'), '')
    await assertRefuses(t, env, /admin-token is empty/)
  })
})

async function untilReady(run: AtriumRun, origin: string): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += 50) {
    const ready = await call(origin, 'GET /readyz').then(
      ({ status }) => status === 200,
      () => false,
    )
    if (ready) return
    assert.ok(waitedMs < 30_000 && (await run.ended(50)) === undefined, `it starts:\n${run.output()}`)
  }
}

async function startEmbedded(t: TestContext, dataDir: string, port: number): Promise<AtriumRun & { origin: string }> {
  const run = runAtrium(['start'], { ATRIUM_DATA_DIR: dataDir, PORT: String(port) })
  const origin = `http://localhost:${port}`
  // After SIGTERM, Atrium ends with its PostgreSQL, whose files can then be removed.
  atEnd(t, async () => {
    run.kill()
    await run.ended(10_000)
  })
  await untilReady(run, origin)
  // What it prints comes after it is ready.
  while (!run.output().includes('Atrium is running')) await delay(20)
  return { ...run, origin }
}

test('without a database it starts its own; the development keys are printed once, and the data survives a restart', async (t) => {
  const dataDir = await dataFolder(t)
  const port = await freePort()
  const first = await startEmbedded(t, dataDir, port)
  const secret = /secret +(wsk_\w+)/.exec(first.output())?.[1]
  const publishable = /publishable +(wpk_\w+)/.exec(first.output())?.[1]
  assert.ok(secret && publishable, first.output())
  const pasted = first.output().split('Make a collection:\n')[1]!.split('\n\n')[0]!
  await t.test('the printed curl command works unchanged', { skip: skipWithout('curl') }, async () => {
    const { stdout } = await promisify(execFile)('sh', ['-c', pasted])
    assert.match((JSON.parse(stdout) as { data: { id: string } }).data.id, /^col_/)
  })
  const { id } = await makeCollection(first.origin, publishable)
  const operatorToken = (await readFile(join(dataDir, 'admin-token'), 'utf8')).trim()
  for (const name of ['admin-token', 'master-key']) {
    assert.equal((await stat(join(dataDir, name))).mode & 0o777, 0o600, name)
    assert.ok(first.output().includes(join(dataDir, name)), 'its path is printed')
  }
  assert.ok(!first.output().includes(operatorToken), 'the token is not')
  const order = { key: secret, idempotencyKey: 'kept', body: { kind: 'secret' } }
  const before = await call(first.origin, 'POST /v1/tenant/keys', order)
  first.kill()
  assert.equal(await first.ended(10_000), 0)

  const second = await startEmbedded(t, dataDir, port)
  assert.doesNotMatch(second.output(), /wsk_|wpk_/, 'keys are printed once')
  assert.equal(
    (await call(second.origin, `GET /v1/collections/${id}`, { key: publishable })).status,
    200,
    'data and keys are kept',
  )
  const replay = await call(second.origin, 'POST /v1/tenant/keys', order)
  assert.deepEqual([replay.text, replay.headers['idempotency-status']], [before.text, 'replayed'], 'and the master key')
  const operator = await call(second.origin, 'POST /v1/tenants', {
    headers: { 'x-admin-token': operatorToken },
    body: { name: 'x' },
  })
  assert.equal(operator.status, 201, 'and the operator token')

  const rival = runAtrium(['start'], { ATRIUM_DATA_DIR: dataDir, PORT: String(await freePort()) })
  assert.equal(await rival.ended(10_000), 1)
  assert.match(rival.output(), /^atrium: .*is in use by another running atrium.*\n$/, 'two do not share a data folder')

  second.kill('SIGKILL')
  await second.ended(5_000)
  const third = await startEmbedded(t, dataDir, port)
  assert.equal((await call(third.origin, `GET /v1/collections/${id}`, { key: publishable })).status, 200, 'kill -9 loses nothing')
})

test('a signal ends a start that waits for a migration, within ten seconds', async (t) => {
  const env = { ...(await emptyDatabase(t)), ATRIUM_MIGRATE: 'off' }
  const run = runAtrium(['start'], env)
  t.after(() => run.kill('SIGKILL'))
  for (let waitedMs = 0; !run.output().includes('Waiting for it'); waitedMs += 10) {
    assert.ok(waitedMs < 20_000, run.output())
    await delay(10)
  }
  run.kill()
  assert.equal(await run.ended(10_000), 0, run.output())
})

test('a signal during the start ends it together with its PostgreSQL', async (t) => {
  const dataDir = await dataFolder(t)
  const run = runAtrium(['start'], { ATRIUM_DATA_DIR: dataDir, PORT: String(await freePort()) })
  atEnd(t, async () => run.kill('SIGKILL'))
  const lock = join(dataDir, 'postgres', 'postmaster.pid')
  for (let waitedMs = 0; !existsSync(lock); waitedMs += 10) {
    assert.ok(waitedMs < 20_000, run.output())
    await delay(10)
  }
  run.kill()
  assert.equal(await run.ended(15_000), 0, run.output())
  assert.ok(!existsSync(lock), 'PostgreSQL has ended')
})
