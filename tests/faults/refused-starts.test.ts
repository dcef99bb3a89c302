import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { createTestDatabase, urlOfDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { queryDatabase } from '../support/query-database.ts'
import { runAtrium } from '../support/run-atrium.ts'
import { atEnd, emptyDatabase, goodEnv, goodSettings } from '../support/start-settings.ts'

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

  test('a search path without a schema', async (t) => {
    const env = await emptyDatabase(t)
    const name = new URL(env['DATABASE_URL']!).pathname.slice(1)
    await queryDatabase(env['DATABASE_URL']!, `alter database ${name} set search_path = nowhere`)
    await assertRefuses(t, env, /DATABASE_URL: the database cannot be used: no schema has been selected/)
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
