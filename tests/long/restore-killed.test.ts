import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { Client } from 'pg'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { startAtrium } from '../support/atrium-process.ts'
import { askGood, makeTenant } from '../support/call-api.ts'
import { until } from '../support/embedded-installation.ts'
import { feedPipe } from '../support/feed-pipe.ts'
import { queryDatabase } from '../support/query-database.ts'
import { runAtrium, type AtriumRun } from '../support/run-atrium.ts'
import { dot, uploadFile } from '../support/upload-file.ts'

const masterKey = Buffer.alloc(32, 7).toString('base64')

let folder: string
let archive: Buffer
let target: TestDatabase
let env: Record<string, string>
let running: AtriumRun | undefined
let pipe: ReturnType<typeof feedPipe> | undefined

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atrium-killed-'))
  const source = await createTestDatabase()
  const data = { ATRIUM_DATA_DIR: join(folder, 'data') }
  const atrium = await startAtrium({ databaseUrl: source.url, env: data })
  const tenant = await makeTenant(atrium.origin)
  const key = tenant.publishable
  const { id, admin_token: token } = (await askGood(atrium.origin, 'POST /v1/collections', { key, body: {} })).data
  await askGood(atrium.origin, `POST /v1/collections/${id}/items`, { key, body: { type: 'message', content: { text: 'one' } } })
  await uploadFile({ origin: atrium.origin, key, collection: id, token }, 'image/png', dot, 'image')
  await atrium.end()
  const file = join(folder, 'archive.tar')
  const backup = runAtrium(['backup', file], { ...data, DATABASE_URL: source.url, ATRIUM_MASTER_KEY: masterKey })
  assert.equal(await backup.ended(60_000), 0, backup.output())
  archive = await readFile(file)
  await source.drop()
})
after(() => rm(folder, { recursive: true, force: true }))
beforeEach(async () => {
  target = await createTestDatabase({ template: 'template0' })
  env = { DATABASE_URL: target.url, ATRIUM_MASTER_KEY: masterKey, ATRIUM_DATA_DIR: await mkdtemp(join(folder, 'restored-')) }
})
afterEach(async () => {
  running?.kill('SIGKILL')
  pipe?.kill()
  await target.drop()
})

/** A restore that reads the first bytes of the archive, and waits for the others. */
async function restoreUpTo(bytes: number): Promise<AtriumRun> {
  const path = join(await mkdtemp(join(folder, 'pipe-')), 'archive.tar')
  pipe = feedPipe(path)
  running = runAtrium(['restore', path], env)
  pipe.feed.write(archive.subarray(0, bytes))
  return running
}

const sees = async (sql: string) => (await queryDatabase(target.url, sql).catch(() => [])).length > 0
const placeOf = (name: string) => archive.indexOf(name)

async function killed(run: AtriumRun): Promise<void> {
  run.kill('SIGKILL')
  assert.equal(await run.ended(10_000), null)
}

async function refusesThenRestores(): Promise<void> {
  // PostgreSQL notices only after a moment that the process is gone; until then the restore counts as running.
  const locks = `select from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`
  await until(async () => !(await sees(locks)), 'the session of the restore has ended', 10_000)
  for (const args of [['migrate'], ['start'], ['backup', join(folder, 'other.tar')]]) {
    const run = runAtrium(args, env)
    assert.equal(await run.ended(30_000), 1, run.output())
    assert.match(run.output(), /^atrium: a backup was restored into this database only in part: run atrium restore again/m)
  }
  const again = runAtrium(['restore', join(folder, 'archive.tar'), '--verify'], env)
  assert.equal(await again.ended(90_000), 0, again.output())
  assert.match(again.output(), /✓ all 1 stored artifacts have their file/)
  assert.ok(await sees('select from items'))
}

test('killed while rows load', async () => {
  const run = await restoreUpTo(placeOf('tables/room'))
  const loads = `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state like 'idle in tr%'
    and exists (select from pg_locks l where l.pid = pg_stat_activity.pid and l.mode = 'AccessExclusiveLock')`
  await until(() => sees(loads), 'rows load', 60_000)
  await killed(run)
  await refusesThenRestores()
})

test('killed while a file is stored', async () => {
  const run = await restoreUpTo(placeOf('blobs/ten_') + 512 + 10)
  await until(() => sees('select from items'), 'the rows are committed', 60_000)
  await killed(run)
  await refusesThenRestores()
})

test('killed after the load, before the mark is removed', async () => {
  const run = await restoreUpTo(placeOf('manifest.json'))
  await until(() => sees('select from items'), 'the rows are committed', 60_000)
  const client = new Client({ connectionString: target.url })
  await client.connect()
  try {
    // The row that the restore writes at its end waits for this one.
    await client.query('begin; insert into restores (snapshot_at) values (now())')
    pipe!.feed.end(archive.subarray(placeOf('manifest.json')))
    const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'insert into restores%'`
    await until(() => sees(waits), 'the restore is at its end', 60_000)
    await killed(run)
  } finally {
    await client.end()
  }
  await refusesThenRestores()
})

test('a second restore and a server are refused while one runs, which then succeeds', async () => {
  const run = await restoreUpTo(placeOf('blobs/ten_') + 512 + 10)
  await until(() => sees('select from items'), 'the rows are committed', 60_000)
  const second = runAtrium(['restore', join(folder, 'archive.tar')], env)
  assert.equal(await second.ended(60_000), 1, second.output())
  assert.match(second.output(), /^atrium: another restore writes into this database: wait until it has ended, or end it\n$/m)
  const server = runAtrium(['start'], env)
  assert.equal(await server.ended(30_000), 1, server.output())
  assert.match(server.output(), /^atrium: atrium restore is writing into this database/m)
  pipe!.feed.end(archive.subarray(placeOf('blobs/ten_') + 512 + 10))
  assert.equal(await run.ended(60_000), 0, run.output())
})
