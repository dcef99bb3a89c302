import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { freePort } from '../support/atrium-process.ts'
import { queryDatabase } from '../support/query-database.ts'
import { runAtrium, type AtriumRun } from '../support/run-atrium.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase({ template: 'template0' })
})
after(() => database?.drop())

async function migrate(...args: string[]): Promise<{ code: number | null | undefined; output: string }> {
  const command = runAtrium(['migrate', ...args], { DATABASE_URL: database.url })
  return { code: await command.ended(60_000), output: command.output() }
}

async function untilSaid(run: AtriumRun, words: string): Promise<void> {
  for (const deadline = Date.now() + 60_000; !run.output().includes(words); await delay(20))
    assert.ok(Date.now() < deadline, run.output())
}

test('what is pending is listed and not applied; a process that may not migrate waits until `atrium migrate` has', async (t) => {
  const status = await migrate('--status')
  assert.equal(status.code, 1)
  assert.match(status.output, /^pending: migration 0001-foundation\n/)
  assert.match(status.output, /\npending: SQL function add-counted-items\n/)

  const port = await freePort()
  const api = runAtrium(['api'], {
    DATABASE_URL: database.url,
    PORT: String(port),
    ATRIUM_MIGRATE: 'off',
    ATRIUM_ADMIN_TOKEN: 'test-operator-token-0123456789',
    ATRIUM_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  })
  t.after(async () => {
    api.kill()
    assert.equal(await api.ended(12_000), 0)
  })
  await untilSaid(api, 'Waiting')
  assert.match(
    api.output(),
    /^atrium: the database does not have migration \d{4}-\S+ yet, .*: run atrium migrate\. Waiting for it\.\n$/,
  )

  const migrated = await migrate()
  assert.equal(migrated.code, 0, migrated.output)
  assert.match(
    migrated.output,
    /^migration 0001-foundation\n(.*\n)*The database is up to date: \d+ migrations and \d+ SQL functions applied\.\n$/,
  )
  await untilSaid(api, 'Server listening')
  assert.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).status, 200)
  assert.deepEqual(await migrate('--status'), { code: 0, output: 'The database is up to date.\n' })
  assert.deepEqual(await migrate(), { code: 0, output: 'The database is up to date; there was nothing to do.\n' })
})

test('a failure is one line', async () => {
  await queryDatabase(database.url, `update schema_migration_checksum set sha256 = 'edited' where name = '0001-foundation'`)
  const edited = await migrate()
  assert.equal(edited.code, 1)
  assert.match(edited.output, /^atrium: Migration 0001-foundation was edited after it was applied .*\n$/)
  const wrong = await migrate('--lock-wait', 'long')
  assert.equal(wrong.code, 1)
  assert.match(wrong.output, /'long' is invalid. It must be a whole number/)
})

test('without DATABASE_URL, it says that it means the database of the data folder', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-migrate-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const dataDir = join(folder, 'data')
  for (const [args, done] of [
    [['migrate'], /\nThe database is up to date: \d+ migrations and \d+ SQL functions applied\.\n$/],
    [['migrate', '--status'], /\nThe database is up to date\.\n$/],
  ] as const) {
    const command = runAtrium([...args], { ATRIUM_DATA_DIR: dataDir })
    assert.equal(await command.ended(60_000), 0, command.output())
    assert.ok(command.output().includes(`DATABASE_URL is not set: this is the database in ${dataDir} (ATRIUM_DATA_DIR).\n`))
    assert.match(command.output(), done)
  }
})
