import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { StartError } from '#errors/start-error.ts'
import { DiskBlobs } from '#ports/blobs/disk-blobs.ts'
import { send } from '#testing/http.ts'
import { startTestApi } from '#testing/test-api.ts'
import { createTestDatabase, type TestDatabase } from '#testing/test-database.ts'
import { joinMembers, member, splitArchive, type Member } from '#testing/split-archive.ts'
import type { BackupHeader, BackupManifest } from './manifest.ts'
import { readBackup } from './read-backup.ts'
import { openConnection } from './snapshot-store.ts'
import { writeBackup } from './write-backup.ts'

let archive: Buffer
let members: Member[]
let target: TestDatabase
let folder: string
let blobs: DiskBlobs
let connection: Awaited<ReturnType<typeof openConnection>>

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atrium-hostile-backup-'))
  const diskOf = (name: string) =>
    new DiskBlobs({ folder: join(folder, name), publicUrl: 'http://localhost', urlKeys: [createSecretKey(Buffer.alloc(32))] })
  const api = await startTestApi()
  try {
    const { publishableKey: key } = await api.makeTenant()
    const { id } = (await send(api, 'POST', '/collections', { key, body: {} })).body.data
    for (const text of ['one', 'two', 'three'])
      await send(api, 'POST', `/collections/${id}/items`, { key, body: { type: 'message', content: { text } } })
    const source = diskOf('source')
    for (const name of ['a', 'b', 'c']) await source.write(`files/${name}`, Buffer.from(name.repeat(700)), { mime: 'text/plain' })
    const pieces: Buffer[] = []
    for await (const piece of writeBackup({ databaseUrl: api.databaseUrl, blobs: source })) pieces.push(piece)
    archive = Buffer.concat(pieces)
  } finally {
    await api.close()
  }
  members = await splitArchive(archive)
  target = await createTestDatabase()
  blobs = diskOf('target')
  connection = await openConnection(target.url)
})
after(async () => {
  await connection?.end()
  await target?.drop()
  await rm(folder, { recursive: true, force: true })
})

/** Into a database that has the tables already: the reader empties them. */
async function load(pieces: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<void> {
  await readBackup(Readable.from(pieces) as AsyncIterable<Buffer>, { connection, blobs, prepare: async () => undefined })
}

async function refusal(pieces: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<string> {
  const error = await load(pieces).then(
    () => assert.fail('it was accepted'),
    (caught: unknown) => caught,
  )
  await connection.query('rollback')
  assert.ok(error instanceof StartError, String((error as Error).stack))
  assert.doesNotMatch(error.message, /\p{Cc}/u)
  assert.ok(error.message.length < 500, error.message)
  return error.message
}

const json = (name: string, value: unknown): Member => ({ name, data: Buffer.from(JSON.stringify(value)) })
const indexOf = (pattern: RegExp) => members.findIndex(({ name }) => pattern.test(name))
const replaced = (pattern: RegExp, ...by: Member[]) => {
  const at = indexOf(pattern)
  assert.notEqual(at, -1)
  return [joinMembers([...members.slice(0, at), ...by, ...members.slice(at + 1)])]
}
const headerWith = (change: (header: BackupHeader) => object) =>
  replaced(/^header/, json('header.json', change(JSON.parse(members[0]!.data.toString()) as BackupHeader)))
const manifestWith = (change: (manifest: BackupManifest) => object) =>
  replaced(/^manifest/, json('manifest.json', change(JSON.parse(members.at(-1)!.data.toString()) as BackupManifest)))
const insertedBefore = (pattern: RegExp, bytes: Buffer) => {
  const at = indexOf(pattern)
  return [joinMembers(members.slice(0, at)).subarray(0, -1_024), bytes, joinMembers(members.slice(at))]
}

test('an archive that was cut is refused wherever it was cut', async () => {
  for (let length = 0; length < archive.length - 1_024; length += 4_100)
    assert.match(await refusal([archive.subarray(0, length)]), /^(the archive is damaged: |this is not an archive of atrium)/)
  assert.equal((await connection.query('select from restores')).rows.length, 0)
  await load([archive])
})

test('if the disk lacks room for a stored file, the restore says so and does not call the archive damaged', async () => {
  const roomy = blobs
  blobs = new DiskBlobs({
    folder: join(folder, 'target'),
    publicUrl: 'http://localhost',
    urlKeys: [createSecretKey(Buffer.alloc(32))],
    minFreeBytes: 2 ** 60,
  })
  assert.equal(
    await refusal([archive]),
    `the restore failed: the data folder cannot be used: ${2 ** 40} MiB of its disk must stay free. Run it again`,
  )
  blobs = roomy
  await load([archive])
})

test('names that lead elsewhere, and entries that are no files, are refused, and nothing is written outside', async () => {
  for (const name of [
    'blobs/../../../evil',
    'blobs//evil',
    '/blobs/evil',
    'blobs/.evil',
    '../evil',
    'tables/../evil',
    'blobs/a\nb',
  ])
    await refusal(insertedBefore(/^blobs\//, member(name, Buffer.from('evil'))))
  for (const type of ['1', '2', '3', '5', '6', 'L', 'x', 'g', 'S', '\0'])
    assert.match(await refusal(insertedBefore(/^blobs\//, member('blobs/link', Buffer.alloc(0), { type }))), /entry of type/)
  assert.deepEqual((await readdir(folder)).toSorted(), ['source', 'target'])
})

test('members that come twice, too late or in another order are refused', async () => {
  for (const at of members.keys()) {
    const one = members[at]!
    await refusal([joinMembers([...members.slice(0, at + 1), one, ...members.slice(at + 1)])])
    if (one.name !== 'manifest.json') await refusal([joinMembers([...members.slice(0, at), ...members.slice(at + 1)])])
  }
  await refusal([joinMembers([...members, json('manifest.json', {})])])
  const blob = indexOf(/^blobs\/files\/a/)
  await refusal([joinMembers([...members.slice(0, blob), members[blob + 1]!, members[blob]!, ...members.slice(blob + 2)])])
})

test('a header that lies is refused before a statement has its names', async () => {
  const nothing = gzipSync('')
  const foreign = ['nothing', 'pg_class', 'schema_migration_checksum', 'restores', 'x"; drop table tenants; --', '__proto__']
  for (const table of foreign) {
    const more = (header: BackupHeader) => ({
      ...header,
      tables: Object.fromEntries([...Object.entries(header.tables), [table, ['a']]]),
    })
    assert.match(await refusal(headerWith(more)), /which its migrations do not make|wrong value/, table)
  }
  const tables = (header: BackupHeader, columns: string[]) => ({ ...header, tables: { ...header.tables, items: columns } })
  assert.match(await refusal(headerWith((header) => tables(header, ['id', 'evil']))), /column items\.evil/)
  assert.match(await refusal(headerWith((header) => tables(header, ['id']))), /all columns of items/)
  assert.match(await refusal(headerWith((header) => tables(header, ['id', 'id']))), /all columns of items/)
  assert.match(await refusal(headerWith((header) => ({ ...header, sequences: { evil: 1 } }))), /sequence evil/)
  for (const wrong of [
    { keys: null },
    { migrations: 'all' },
    { tables: [] },
    { tables: { 'a\nb': 5 } },
    { sequences: { ['a'.repeat(201)]: 1 } },
    { snapshot_at: '2026-99-99T00:00:00Z' },
    { blobs: 1 },
  ])
    assert.match(
      await refusal(headerWith((header) => ({ ...header, ...wrong }))),
      /not an archive of atrium backup: header\.json/,
    )
  for (const text of ['', 'null', '7', '[]', '{', '{"format":"atrium-backup/2"}'])
    assert.match(await refusal(replaced(/^header/, { name: 'header.json', data: Buffer.from(text) })), /not an archive/)
  await refusal(insertedBefore(/^tables\/items/, member('tables/evil/000001.copy.gz', nothing)))
  await refusal(insertedBefore(/^tables\/items/, member('tables/constructor/000001.copy.gz', nothing)))
})

test('what an archive has does not reach the terminal as control characters, or at any length', async () => {
  const evil = '\u001b]0;evil\u0007\u009b2J\n'
  const extra = (header: BackupHeader) => ({ ...header, tables: { ...header.tables, [evil]: ['a'] } })
  assert.match(await refusal(headerWith(extra)), /it has a table \?/)
  await refusal(headerWith((header) => ({ ...header, sequences: { [evil]: 1 } })))
  await refusal(headerWith((header) => ({ ...header, sequences: { [evil]: 'one' } })))
  await refusal(headerWith((header) => ({ ...header, format: evil.repeat(1_000) })))
  await refusal(replaced(/^tables\/items\//, { name: 'tables/items/000001.copy.gz', data: gzipSync(evil) }))
  // These are printed although nothing is wrong with them: as keys to bring, and as unknown migrations.
  assert.match(
    await refusal(headerWith(({ keys, ...header }) => ({ ...header, keys: { ...keys, master: [evil] } }))),
    /keys\/master/,
  )
  const migrations = [{ name: evil, sha256: '0' }]
  assert.match(await refusal(headerWith((header) => ({ ...header, migrations }))), /migrations\/0\/name/)
})

test('a manifest that lies is refused', async () => {
  const items = (change: object) => (manifest: BackupManifest) => ({
    ...manifest,
    tables: { ...manifest.tables, items: { ...manifest.tables['items'], ...change } },
  })
  for (const change of [{ rows: 2 }, { bytes: 1 }, { sha256: '0'.repeat(64) }])
    assert.match(await refusal(manifestWith(items(change))), /table items is not what the manifest says/)
  const files = (change: object) => (manifest: BackupManifest) => ({ ...manifest, blobs: { ...manifest.blobs, ...change } })
  for (const change of [{ count: 2 }, { bytes: 1 }, { sha256: '0'.repeat(64) }])
    assert.match(await refusal(manifestWith(files(change))), /stored files are not those/)
  await refusal(manifestWith((manifest) => ({ ...manifest, blobs: null })))
  await refusal(manifestWith((manifest) => ({ ...manifest, snapshot_at: '2020-01-01T00:00:00.000Z' })))
  await refusal(manifestWith((manifest) => ({ ...manifest, blobs: undefined })))
  await refusal(
    manifestWith((manifest) => ({
      ...manifest,
      tables: { ...manifest.tables, evil: { rows: 0, bytes: 0, sha256: '0'.repeat(64) } },
    })),
  )
  await refusal(manifestWith((manifest) => ({ ...manifest, tables: {} })))
})

test('rows that are not those of the columns are refused', async () => {
  const rows = (data: Buffer) => replaced(/^tables\/items\//, { name: 'tables/items/000001.copy.gz', data })
  for (const text of ['a\tb\n', '\\.\n', '\0\n', '\n'.repeat(9), '\xff\xfe'])
    await refusal(rows(gzipSync(Buffer.from(text, 'latin1'))))
  assert.match(await refusal(rows(Buffer.from('not gzip'))), /damaged/)
})

test('sizes that lie are refused in constant memory', async () => {
  const bomb = gzipSync(Buffer.alloc(256 * 1024 * 1024))
  const before = process.memoryUsage.rss()
  const zeros = Buffer.alloc(1024 * 1024)
  const gigabyte = function* (head: Buffer) {
    yield head.subarray(0, 512)
    for (let i = 0; i < 1_024; i++) yield zeros
  }
  const big = 1024 ** 3
  assert.match(await refusal(gigabyte(member('header.json', Buffer.alloc(0), { bytes: big }))), /too large/)
  const at = indexOf(/^tables\/items\//)
  const start = joinMembers(members.slice(0, at)).subarray(0, -1_024)
  const table = member('tables/items/000001.copy.gz', Buffer.alloc(0), { bytes: big })
  assert.match(
    await refusal(
      (function* () {
        yield start
        yield* gigabyte(table)
      })(),
    ),
    /too large/,
  )
  assert.match(await refusal(replaced(/^tables\/items\//, { name: 'tables/items/000001.copy.gz', data: bomb })), /damaged/)
  for (const bytes of [Number.MAX_SAFE_INTEGER, 8 ** 11, 1_024])
    await refusal([start, member('tables/items/000001.copy.gz', Buffer.alloc(0), { bytes })])
  const many = function* () {
    yield joinMembers(members.slice(0, indexOf(/^blobs\//))).subarray(0, -1_024)
    for (let i = 0; i < 100_000; i++) yield member(`blobs/many/${String(i).padStart(6, '0')}`, Buffer.alloc(0))
  }
  assert.match(await refusal(many()), /more stored files than a list has/)
  const grown = (process.memoryUsage.rss() - before) / 1024 ** 2
  assert.ok(grown < 400, `${grown} MiB`)
})
