import assert from 'node:assert/strict'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { skipWithoutRadosgw, startRadosgw } from '../../packages/server/testing/radosgw/start-radosgw.ts'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { freePort, startAtrium } from '../support/atrium-process.ts'
import { askGood, call, makeTenant } from '../support/call-api.ts'
import { install, until } from '../support/embedded-installation.ts'
import { feedPipe } from '../support/feed-pipe.ts'
import { startPostgresProxy } from '../support/postgres-proxy.ts'
import { queryDatabase } from '../support/query-database.ts'
import { runAtrium, type AtriumRun } from '../support/run-atrium.ts'
import { dot, uploadFile } from '../support/upload-file.ts'

let folder: string
let database: TestDatabase
before(async () => {
  folder = await openFolder(join(tmpdir(), 'atrium-beside-'))
  database = await createTestDatabase()
})
after(async () => {
  await database?.drop()
  await rm(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 })
})

/** A temporary folder that PostgreSQL's own user can pass through. */
async function openFolder(prefix: string): Promise<string> {
  const path = await mkdtemp(prefix)
  await chmod(path, 0o711)
  return path
}

const envOf = (url: string) => ({ DATABASE_URL: url, ATRIUM_DATA_DIR: join(folder, 'data') })
const untilSaid = (run: AtriumRun, words: RegExp) =>
  until(
    async () => {
      const code = await run.ended(0)
      if (words.test(run.output())) return true
      assert.equal(code, undefined, run.output())
      return false
    },
    `${words}`,
    30_000,
  )

/** Holds a lock on a table, as a long transaction of somebody else does. Returns what ends it. */
async function lockTable(t: TestContext, text: string): Promise<() => Promise<unknown>> {
  const client = new Client({ connectionString: database.url })
  await client.connect()
  t.after(() => client.end())
  await client.query(`begin; lock table ${text}`)
  return () => client.query('commit')
}

/** The query names the database: `pg_locks` has the locks of every database of the server. */
const untilSomebodyWaits = () =>
  until(
    async () =>
      (
        await queryDatabase(
          database.url,
          'select from pg_locks l join pg_database d on d.oid = l.database where not granted and datname = current_database()',
        )
      ).length > 0,
    'it waits for the lock',
    30_000,
  )

async function succeeded(run: AtriumRun): Promise<void> {
  assert.equal(await run.ended(60_000), 0, run.output())
}

/** Makes a SQL function pending, so that `atrium migrate` has work. */
const makePending = () => queryDatabase(database.url, `delete from schema_function where name = 'add-counted-items'`)

test('a backup waits for a migration that runs, says so, and is complete', async (t) => {
  await makePending()
  const unlock = await lockTable(t, 'schema_function in share mode')
  const migration = runAtrium(['migrate'], envOf(database.url))
  await untilSomebodyWaits()
  const backup = runAtrium(['backup', join(folder, 'after-migration.tar')], envOf(database.url))
  await untilSaid(backup, /another process migrates this database \(PostgreSQL process \d+\); waiting for it\n/)
  assert.doesNotMatch(backup.output(), /Snapshot/)
  await unlock()
  await succeeded(migration)
  await succeeded(backup)
})

test('a migration waits until a backup has read the tables, and says so', async (t) => {
  const unlock = await lockTable(t, 'tenants in access exclusive mode')
  const backup = runAtrium(['backup', join(folder, 'before-migration.tar')], envOf(database.url))
  await untilSaid(backup, /Snapshot/)
  await untilSomebodyWaits()
  await makePending()
  const migration = runAtrium(['migrate'], envOf(database.url))
  await untilSaid(migration, /a backup reads the tables of this database \(PostgreSQL process \d+\); waiting until it has read/)
  await unlock()
  await succeeded(backup)
  await succeeded(migration)
  assert.match(migration.output(), /0 migrations and 1 SQL functions applied/)
})

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  test(`a backup that ${signal} ends leaves no file, holds no stored file back, and another one begins at once`, async (t) => {
    const unlock = await lockTable(t, 'tenants in access exclusive mode')
    const own = await openFolder(join(folder, 'stopped-'))
    const file = join(own, 'archive.tar')
    const backup = runAtrium(['backup', file], envOf(database.url))
    t.after(() => backup.kill('SIGKILL'))
    await untilSaid(backup, /Snapshot/)
    await untilSomebodyWaits()
    backup.kill(signal)
    assert.equal(await backup.ended(10_000), 1, backup.output())
    assert.match(backup.output(), /\natrium: the backup was stopped\n$/)
    assert.deepEqual(await readdir(own), [])
    assert.deepEqual(await queryDatabase(database.url, 'select id from blob_deletion_holds'), [])
    await unlock()
    await succeeded(runAtrium(['backup', file], envOf(database.url)))
    assert.deepEqual(await readdir(own), ['archive.tar'])
  })

test('a second SIGINT ends a backup at once, also while the database does not answer, and leaves no file', async (t) => {
  const proxy = await startPostgresProxy(database.url)
  t.after(() => proxy.close())
  await lockTable(t, 'tenants in access exclusive mode')
  const own = await openFolder(join(folder, 'twice-'))
  const backup = runAtrium(['backup', join(own, 'archive.tar')], envOf(proxy.url))
  t.after(() => backup.kill('SIGKILL'))
  await untilSaid(backup, /Snapshot/)
  await untilSomebodyWaits()
  proxy.freeze()
  backup.kill('SIGINT')
  assert.equal(await backup.ended(1_000), undefined, 'it waits for the database')
  assert.match((await readdir(own)).join(), /^\.archive\.tar\.[0-9a-f]{8}\.partial$/)
  backup.kill('SIGINT')
  assert.equal(await backup.ended(10_000), null, 'the signal ends it')
  assert.deepEqual(await readdir(own), [])
})

test('of two backups to one file at once, one is whole, and the other fails and leaves nothing', async (t) => {
  const unlock = await lockTable(t, 'tenants in access exclusive mode')
  const own = await openFolder(join(folder, 'both-'))
  const file = join(own, 'archive.tar')
  const both = [1, 2].map(() => runAtrium(['backup', file], envOf(database.url)))
  t.after(() => both.forEach((one) => one.kill('SIGKILL')))
  for (const one of both) await untilSaid(one, /Snapshot/)
  await until(async () => (await readdir(own)).length === 2, 'each writes a file of its own', 30_000)
  await unlock()
  const codes = await Promise.all(both.map((one) => one.ended(60_000)))
  assert.deepEqual(codes.toSorted(), [0, 1], both.map((one) => one.output()).join('\n'))
  assert.match(both[codes.indexOf(1)]!.output(), /^atrium: .*archive\.tar exists already: choose another name$/m)
  assert.match(both[codes.indexOf(0)]!.output(), /^Done: /m)
  assert.deepEqual(await readdir(own), ['archive.tar'])
  const empty = await createTestDatabase({ template: 'template0' })
  t.after(() => empty.drop())
  const restored = runAtrium(['restore', file], {
    ...envOf(empty.url),
    ATRIUM_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  })
  await succeeded(restored)
})

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  test(`a migration that ${signal} ends says what is left, and the next one continues`, async (t) => {
    await makePending()
    const unlock = await lockTable(t, 'schema_function in share mode')
    const migration = runAtrium(['migrate'], envOf(database.url))
    t.after(() => migration.kill('SIGKILL'))
    await untilSomebodyWaits()
    migration.kill(signal)
    assert.equal(await migration.ended(10_000), null, 'the signal ends it')
    assert.match(migration.output(), /^atrium: stopped\. What was applied stays applied; run atrium migrate again to continue\n$/)
    await unlock()
    await succeeded(runAtrium(['migrate'], envOf(database.url)))
  })

test('an installation moves from the embedded database and the disk to PostgreSQL and a bucket', async (t) => {
  const old = await install(t)
  const server = await old.start(['--no-space'])
  const tenant = await makeTenant(old.origin)
  const key = tenant.publishable
  const { id: collection, admin_token: token } = (await askGood(old.origin, 'POST /v1/collections', { key, body: {} })).data
  const path = `/v1/collections/${collection}` as const
  await askGood(old.origin, `POST ${path}/items`, { key, body: { type: 'message', content: { text: 'moved' } } })
  const picture = await uploadFile({ origin: old.origin, key, collection, token }, 'image/png', dot, 'image')
  const archive = join(folder, 'embedded.tar')
  const own = { ATRIUM_DATA_DIR: old.dataDir }
  await succeeded(runAtrium(['backup', archive], own))
  server.kill()
  assert.equal(await server.ended(30_000), 0, server.output())
  const masterKey = (await readFile(join(old.dataDir, 'master-key'), 'utf8')).trim()

  await t.test('while a restore runs, every command on that data folder or database says so', async (t) => {
    const running = { ATRIUM_DATA_DIR: await openFolder(join(folder, 'running-')), ATRIUM_MASTER_KEY: masterKey }
    const { restore, finish } = await restoreHalf(t, archive, running)
    const ports = { PORT: String(await freePort()), SPACE_PORT: String(await freePort()) }
    for (const args of [['start'], ['migrate'], ['backup', join(folder, 'none.tar')]]) {
      const other = runAtrium(args, { ...running, ...ports })
      assert.equal(await other.ended(30_000), 1, other.output())
      assert.match(
        other.output(),
        /^atrium: atrium restore is writing into this database \(PostgreSQL process \d+\): wait until/m,
      )
    }
    finish()
    await succeeded(restore)
  })

  await t.test('a restore that SIGINT ends says what is left, and can be repeated', async (t) => {
    const env = { ATRIUM_DATA_DIR: await openFolder(join(folder, 'repeated-')), ATRIUM_MASTER_KEY: masterKey }
    const { restore } = await restoreHalf(t, archive, env)
    restore.kill('SIGINT')
    assert.equal(await restore.ended(10_000), null, 'the signal ends it')
    assert.match(restore.output(), /^atrium: stopped\. atrium start refuses a database that was restored only in part; .*\n$/m)
    const server = runAtrium(['start', '--no-space'], { ...env, PORT: String(await freePort()) })
    assert.equal(await server.ended(30_000), 1, server.output())
    assert.match(server.output(), /^atrium: a backup was restored into this database only in part: run atrium restore again/m)
    await succeeded(runAtrium(['restore', archive], env))
  })

  const target = await createTestDatabase({ template: 'template0' })
  t.after(() => target.drop())
  const env = {
    ATRIUM_DATA_DIR: await openFolder(join(folder, 'moved-')),
    ATRIUM_MASTER_KEY: masterKey,
    ...(await openBucket(t)),
  }
  const restore = runAtrium(['restore', archive, '--verify'], { ...env, DATABASE_URL: target.url })
  await succeeded(restore)
  assert.match(restore.output(), /✓ all 1 stored artifacts have their file/)
  await succeeded(runAtrium(['restore', '--confirm-window'], { ...env, DATABASE_URL: target.url }))
  const moved = await startAtrium({ databaseUrl: target.url, env })
  t.after(() => moved.end())
  const { items } = (await askGood(moved.origin, `GET ${path}/items`, { key, token })).data
  assert.equal(items.length, 1)
  const file = await call(moved.origin, `GET /v1/media/${picture.id}`, { key, token })
  assert.equal(file.status, 200, file.text)
})

/** A restore that has read half of the archive, and waits for the rest. */
async function restoreHalf(t: TestContext, archive: string, env: Record<string, string>) {
  const pipe = join(await openFolder(join(folder, 'pipe-')), 'archive.tar')
  const { feed, kill } = feedPipe(pipe)
  t.after(kill)
  const restore = runAtrium(['restore', pipe], env)
  t.after(() => restore.kill('SIGKILL'))
  const bytes = await readFile(archive)
  feed.write(bytes.subarray(0, bytes.length / 2))
  await untilSaid(restore, /Restoring the snapshot/)
  return { restore, finish: () => feed.end(bytes.subarray(bytes.length / 2)) }
}

/** The variables of an empty bucket. Without an S3 server on this machine, the files move to another folder. */
async function openBucket(t: TestContext): Promise<Record<string, string>> {
  if (skipWithoutRadosgw !== false) {
    t.diagnostic(`moved to a folder: ${skipWithoutRadosgw}`)
    return {}
  }
  const store = await startRadosgw()
  t.after(() => store.stop())
  return {
    ATRIUM_BLOBS: 's3',
    S3_ENDPOINT: store.endpoint,
    S3_BUCKET: store.bucket,
    S3_REGION: store.region,
    S3_ACCESS_KEY_ID: store.accessKeyId,
    S3_SECRET_ACCESS_KEY: store.secretAccessKey,
  }
}
