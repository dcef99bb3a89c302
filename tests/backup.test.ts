import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { copyFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { openClientSealedRoom } from '../packages/client/src/client-sealed-room.ts'
import { generateDevicePairs, openListedRoom, roomDeviceOf } from '../packages/client/src/listed-room.ts'
import { newRoomSecret } from '../packages/client/src/new-room-secret.ts'
import { backupTables } from '../packages/server/src/features/backup/backup-tables.ts'
import { openStream } from '../packages/server/testing/read-stream.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { adminToken, startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { askGood, call, makeTenant, type Answer, type TestTenant } from './support/call-api.ts'
import { buyLicense, grantCoupon } from './support/credits.ts'
import { fundIssuer } from './support/fund-issuer.ts'
import { queryDatabase } from './support/query-database.ts'
import { runAtrium } from './support/run-atrium.ts'
import { dot, uploadFile } from './support/upload-file.ts'

const masterKey = Buffer.alloc(32, 7).toString('base64')
const otherKey = Buffer.alloc(32, 8).toString('base64')

let folder: string
let source: TestDatabase
let atrium: AtriumProcess
let tenant: TestTenant
let collection: { id: string; admin_token: string }
let license: string
let lastEventId: string
const room = { room: 'harbour', mk: randomBytes(32).toString('base64url') }
const open: (() => Promise<unknown>)[] = []

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atrium-backup-'))
  source = await createTestDatabase()
  atrium = await startAtrium({ databaseUrl: source.url, space: true, env: { ATRIUM_DATA_DIR: join(folder, 'data') } })
  const { origin } = atrium
  tenant = await makeTenant(origin)
  const key = tenant.publishable
  collection = (await askGood(origin, 'POST /v1/collections', { key, body: {} })).data
  const path = `/v1/collections/${collection.id}` as const
  const stream = await openStream(`${origin}/v1`, '/events/stream', { key: tenant.secret })
  lastEventId = (await stream.untilCount(1)).id
  stream.close()
  for (const text of ['tab\there', 'back\\slash', 'line\nbreak', '\\N', 'emoji 🙂'])
    await askGood(origin, `POST ${path}/items`, { key, body: { type: 'message', content: { text } } })
  const place = { origin, key, collection: collection.id, token: collection.admin_token }
  await uploadFile(place, 'image/png', dot, 'image')
  await fundIssuer(origin, tenant.secret, 500)
  await grantCoupon(origin, tenant.secret, 20)
  license = await buyLicense(origin, tenant.secret, 7)
  await askGood(origin, 'PUT /v1/tenant/provider-keys', { key: tenant.secret, body: { openai: 'sk-0123456789abcdef' } })
  for (const text of ['one', 'two', 'three'])
    await askGood(atrium.spacesOrigin, 'POST /space', { body: { op: 'turn', ...room, message: { text } } })
  const space = { spaceUrl: `${atrium.spacesOrigin}/space`, audience: atrium.spacesOrigin }
  const device = await roomDeviceOf(await generateDevicePairs())
  for (const sealed of [
    openClientSealedRoom({ ...space, ...newRoomSecret() }),
    openListedRoom({ ...space, room: newRoomSecret().room, device }),
  ]) {
    await sealed.make()
    await sealed.say('Only we read this.')
  }
})
after(async () => {
  await atrium?.end('SIGKILL')
  for (const close of open) await close()
  await source?.drop()
  await rm(folder, { recursive: true, force: true })
})

interface Ran {
  code: number | null | undefined
  output: string
}

async function run(args: string[], env: Record<string, string>): Promise<Ran> {
  const command = runAtrium(args, { ATRIUM_MASTER_KEY: masterKey, ...env })
  return { code: await command.ended(60_000), output: command.output() }
}

const backUp = (file: string, ...args: string[]) =>
  run(['backup', file, ...args], { DATABASE_URL: source.url, ATRIUM_DATA_DIR: join(folder, 'data') })

async function emptyDatabase(): Promise<{ DATABASE_URL: string; ATRIUM_DATA_DIR: string }> {
  const database = await createTestDatabase({ template: 'template0' })
  open.push(() => database.drop())
  return { DATABASE_URL: database.url, ATRIUM_DATA_DIR: await mkdtemp(join(folder, 'restored-')) }
}

/** Every row of every table that a restore brings back. */
async function contentOf(url: string, schema = 'public'): Promise<Record<string, string[]>> {
  const tables = await queryDatabase<{ name: string }>(
    url,
    `select tablename as name from pg_tables where schemaname = '${schema}' order by 1`,
  )
  const content: Record<string, string[]> = {}
  for (const { name } of tables.filter((table) => backupTables[table.name] === 'restored'))
    content[name] = (await queryDatabase<{ row: string }>(url, `select t::text as row from ${name} t order by 1`)).map(
      ({ row }) => row,
    )
  return content
}

describe('an archive', { concurrency: 1 }, () => {
  const file = () => join(folder, 'archive.tar')
  let restored: { DATABASE_URL: string; ATRIUM_DATA_DIR: string }

  test('is written while the server runs, private, and without the master key', async () => {
    const { code, output } = await backUp(file())
    assert.equal(code, 0, output)
    assert.match(
      output,
      /^Snapshot: \d{4}-\S+Z\. .*\nKeep these apart .*\n- master key [0-9a-f]{8}\n- signing key of Space [\w-]{43}, from .*space-signing-key\n.*\nDone: \d+ rows in \d+ tables, [1-9]\d* stored files? with \d+ bytes\.\n$/,
    )
    assert.equal((await stat(file())).mode & 0o777, 0o600)
    const bytes = await readFile(file())
    for (const secret of [masterKey, 'sk-0123456789abcdef']) assert.ok(!bytes.includes(secret))
    // What a process keeps in memory for a while, such as usage, is written when it ends.
    assert.equal(await atrium.end(), 0)
    await rm(file())
    assert.equal((await backUp(file())).code, 0)
    const again = await backUp(file())
    assert.deepEqual([again.code, again.output], [1, `atrium: ${file()} exists already: choose another name\n`])
  })

  test(
    'that standard output does not take is an error in one line',
    { skip: process.platform !== 'linux' && 'needs /dev/full' },
    async () => {
      const full = openSync('/dev/full', 'w')
      const env = { ATRIUM_MASTER_KEY: masterKey, DATABASE_URL: source.url, ATRIUM_DATA_DIR: join(folder, 'data') }
      const command = runAtrium(['backup', '-'], env, full)
      closeSync(full)
      assert.equal(await command.ended(60_000), 1)
      assert.match(command.output().split('\n').at(-2) ?? '', /^atrium: standard output cannot be written: ENOSPC/)
      assert.deepEqual(await queryDatabase(source.url, 'select id from blob_deletion_holds'), [], 'stored files can be deleted')
    },
  )

  test('is restored with every row, and proved', async () => {
    restored = await emptyDatabase()
    const { code, output } = await run(['restore', file(), '--verify'], restored)
    assert.equal(code, 0, output)
    assert.match(output, /^The archive does not contain these:\n✓ master key [0-9a-f]{8}: ATRIUM_MASTER_KEY has it\n/)
    assert.match(output, /\n- signing key of Space [\w-]{43}: it is not here; before Space starts, set .*space-signing-key\n/)
    assert.match(output, /\n- admin token: set ATRIUM_ADMIN_TOKEN/)
    assert.match(output, /✓ the books balance: \d+ transfers/)
    assert.match(output, /✓ the chain of every room holds: 3 rooms with 8 lines/)
    assert.match(output, /✓ the master key opens all [1-9]\d* sealed values/)
    assert.match(output, /✓ all 1 stored artifacts have their file/)
    assert.match(output, /The window is from \d{4}-\S+Z to now/)
    assert.deepEqual(await contentOf(restored.DATABASE_URL), await contentOf(source.url))
  })

  test('is served with public reads alone until the operator confirms the window', async (t) => {
    const env = { ATRIUM_DATA_DIR: restored.ATRIUM_DATA_DIR }
    const again = await startAtrium({ databaseUrl: restored.DATABASE_URL, space: true, env })
    t.after(() => again.end())
    const { origin } = again
    const [key, token, path] = [tenant.publishable, collection.admin_token, `/v1/collections/${collection.id}` as const]
    const turn = { op: 'turn', ...room, message: { text: 'four' } }
    const closed: [string, Promise<Answer>][] = [
      ['secret key', call(origin, 'GET /v1/tenant', { key: tenant.secret })],
      ['owner token', call(origin, `GET ${path}/items`, { key, token })],
      ['write', call(origin, `POST ${path}/items`, { key, body: { type: 'message', content: {} } })],
      ['redemption', call(origin, 'POST /v1/wallets/redeem', { key, body: { license_key: license } })],
      ['room', call(again.spacesOrigin, 'POST /space', { body: turn })],
    ]
    for (const [what, answer] of closed) {
      const { status, headers, text } = await answer
      assert.deepEqual([status, headers['retry-after']], [503, '60'], `${what}: ${text}`)
      assert.match(text, /restore_unconfirmed/, what)
    }
    assert.equal((await call(origin, `GET ${path}`, { key })).status, 200, 'a public read')
    assert.equal((await call(origin, `GET ${path}/render`)).status, 200, 'the share page')
    assert.equal((await call(origin, 'GET /v1/tenants', { operator: true })).status, 200, "the operator's call")
    assert.equal((await call(origin, 'GET /readyz')).status, 200)

    const backup = await run(['backup', join(restored.ATRIUM_DATA_DIR, 'early.tar')], restored)
    assert.equal(backup.code, 1)
    assert.match(backup.output, /^atrium: this database was restored .* "atrium restore --confirm-window" before a backup\n$/)
    const confirm = () => run(['restore', '--confirm-window'], restored)
    const confirmed = await confirm()
    assert.equal(confirmed.code, 0, confirmed.output)
    assert.match(
      confirmed.output,
      /^Confirmed: the window from \d{4}-\S+Z to \d{4}-\S+Z\. All calls are answered again, and jobs run\.\n$/,
    )
    assert.deepEqual(await confirm(), { code: 1, output: 'atrium: there is no restore to confirm\n' })
    const isOpen = async () =>
      (await call(origin, 'GET /v1/tenant', { key: tenant.secret })).status === 200 &&
      (await call(again.spacesOrigin, 'POST /space', { body: turn })).status === 200
    for (const deadline = Date.now() + 20_000; !(await isOpen()); await delay(50)) assert.ok(Date.now() < deadline)
    assert.equal((await askGood(origin, `GET ${path}/items`, { key, token })).data.items.length, 5)
    await askGood(origin, 'POST /v1/wallets/redeem', { key, body: { license_key: license } })
    const stream = await openStream(`${origin}/v1`, '/events/stream', { key: tenant.secret, lastEventId })
    t.after(() => stream.close())
    assert.equal((await stream.untilCount(1)).event, 'reset')
  })

  test('is not restored over anything', async () => {
    const { code, output } = await run(['restore', file()], { ...restored, ATRIUM_DATA_DIR: join(folder, 'data') })
    assert.equal(code, 1)
    assert.match(output, /^atrium: a restore needs an empty database/m)
  })

  test('has the tables of an installation in a schema of its own, and is not restored over it', async () => {
    const own = await emptyDatabase()
    const name = new URL(own.DATABASE_URL).pathname.slice(1)
    await queryDatabase(own.DATABASE_URL, 'create schema "Own"')
    await queryDatabase(own.DATABASE_URL, `alter database ${name} set search_path = "Own", public`)
    const first = await run(['restore', file(), '--verify'], own)
    assert.equal(first.code, 0, first.output)
    assert.deepEqual(await contentOf(own.DATABASE_URL, 'Own'), await contentOf(source.url))
    const again = await run(['restore', file()], { ...own, ATRIUM_DATA_DIR: await mkdtemp(join(folder, 'again-')) })
    assert.equal(again.code, 1)
    assert.match(again.output, /^atrium: a restore needs an empty database/m)
    assert.equal((await run(['restore', '--confirm-window'], own)).code, 0)
    const copy = join(folder, 'own-schema.tar')
    const made = await run(['backup', copy], own)
    assert.equal(made.code, 0, made.output)
    const elsewhere = await emptyDatabase()
    const moved = await run(['restore', copy, '--verify'], elsewhere)
    assert.equal(moved.code, 0, moved.output)
    assert.deepEqual(await contentOf(elsewhere.DATABASE_URL), await contentOf(source.url))
  })

  test('is refused with another master key, or without one, before anything is written', async () => {
    const empty = await emptyDatabase()
    const cases = [
      [
        otherKey,
        /^atrium: ATRIUM_MASTER_KEY: the archive needs the master key [0-9a-f]{8}, but the configured keys are [0-9a-f]{8} /m,
      ],
      ['', /^atrium: ATRIUM_MASTER_KEY: the archive needs the master key [0-9a-f]{8}, but no key is configured\. .*master-key/m],
    ] as const
    for (const [key, problem] of cases) {
      const { code, output } = await run(['restore', file()], { ...empty, ATRIUM_MASTER_KEY: key })
      assert.equal(code, 1)
      assert.match(output, problem)
    }
    assert.deepEqual(await contentOf(empty.DATABASE_URL), {})
    assert.deepEqual(await readdir(empty.ATRIUM_DATA_DIR), [])
  })

  test('is refused with another signing key of Space, before anything is written, and names the one that it needs', async () => {
    const empty = await emptyDatabase()
    const own = join(empty.ATRIUM_DATA_DIR, 'space-signing-key')
    const pem = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' })
    await writeFile(own, pem())
    const refused = await run(['restore', file()], empty)
    assert.equal(refused.code, 1)
    assert.match(refused.output, /^✓ master key .*\n✗ signing key of Space [\w-]{43}: .*\n- admin token/m)
    assert.match(refused.output, /^atrium: .*space-signing-key: .* signing key of Space [\w-]{43}, but this one is [\w-]{43}\. /m)
    await writeFile(own, 'no key')
    const damaged = await run(['restore', file()], empty)
    assert.deepEqual([damaged.code, /must be the private key of an EC P-256 pair/.test(damaged.output)], [1, true])
    assert.deepEqual(await contentOf(empty.DATABASE_URL), {})
    await copyFile(join(folder, 'data', 'space-signing-key'), own)
    const { code, output } = await run(['restore', file(), '--no-blobs'], empty)
    assert.equal(code, 0, output)
    assert.match(output, /\n✓ signing key of Space [\w-]{43}: .*space-signing-key has it\n/)
  })

  test('that was cut or changed is refused; nothing starts on what is there, and the next restore begins anew', async () => {
    const bytes = await readFile(file())
    const damaged = join(folder, 'damaged.tar')
    const empty = await emptyDatabase()
    const cut = bytes.subarray(0, bytes.length - 2_000)
    const changed = Buffer.from(bytes)
    // In the blob, behind its header.
    changed[bytes.indexOf('blobs/ten_') + 512 + 40]! ^= 1
    for (const [content, problem] of [
      [cut, /the archive is damaged: .*(early|manifest)/],
      [changed, /the archive is damaged: the stored files before blob-lists\/000001.ndjson/],
    ] as const) {
      await writeFile(damaged, content)
      const { code, output } = await run(['restore', damaged], empty)
      assert.equal(code, 1)
      assert.match(output, problem)
    }
    const start = await run(['migrate'], empty)
    assert.equal(start.code, 1)
    assert.match(start.output, /^atrium: a backup was restored into this database only in part: run atrium restore again/)
    const { code, output } = await run(['restore', file(), '--verify'], empty)
    assert.equal(code, 0, output)
    assert.deepEqual(await contentOf(empty.DATABASE_URL), await contentOf(source.url))
  })

  test('that is encrypted opens with its identity alone', async () => {
    const identity = await generateX25519Identity()
    await writeFile(join(folder, 'identity'), `# comment\n${identity}\n`)
    await writeFile(join(folder, 'other'), `${await generateX25519Identity()}\n`)
    const encrypted = join(folder, 'archive.tar.age')
    const made = await backUp(encrypted, '--no-blobs', '--recipient', await identityToRecipient(identity))
    assert.equal(made.code, 0, made.output)
    assert.ok(!(await readFile(encrypted)).includes('ustar'))
    const empty = await emptyDatabase()
    const none = await run(['restore', encrypted], empty)
    assert.match(none.output, /^atrium: the archive is encrypted: name the file/)
    const wrong = await run(['restore', encrypted, '--identity', join(folder, 'other')], empty)
    assert.match(wrong.output, /^atrium: the archive cannot be decrypted with this identity/)
    const { code, output } = await run(['restore', encrypted, '--identity', join(folder, 'identity')], empty)
    assert.equal(code, 0, output)
    assert.deepEqual(await contentOf(empty.DATABASE_URL), await contentOf(source.url))
  })
})

test('after a change of the master key, an archive needs the old key for stored answers only', async (t) => {
  const database = await createTestDatabase()
  const data = await mkdtemp(join(folder, 'changed-'))
  let server: AtriumProcess | undefined
  const start = async (keys: string) =>
    (server = await startAtrium({ databaseUrl: database.url, env: { ATRIUM_DATA_DIR: data, ATRIUM_MASTER_KEY: keys } }))
  t.after(async () => {
    await server?.end('SIGKILL')
    await database.drop()
  })
  const { origin } = await start(otherKey)
  const { publishable: key, secret } = await makeTenant(origin)
  const repeated = { key, body: {}, idempotencyKey: 'once' }
  await askGood(origin, 'POST /v1/collections', repeated)
  await askGood(origin, 'PUT /v1/tenant/provider-keys', { key: secret, body: { openai: 'sk-0123456789abcdef' } })
  assert.equal(await server!.end(), 0)
  const env = { DATABASE_URL: database.url, ATRIUM_DATA_DIR: data }
  const early = join(folder, 'half-changed.tar')
  await start(`${masterKey},${otherKey}`)
  await askGood(server!.origin, 'PUT /v1/tenant/provider-keys', { key: secret, body: { anthropic: 'sk-ant-0123456789' } })
  assert.equal((await run(['backup', early], env)).code, 0)
  const resealed = await run(['reseal'], { ...env, ATRIUM_PUBLIC_URL: server!.origin, ATRIUM_ADMIN_TOKEN: adminToken })
  assert.match(resealed.output, /Key 2/, resealed.output)
  assert.equal(await server!.end(), 0)

  const changed = join(folder, 'changed.tar')
  const made = await run(['backup', changed], env)
  assert.match(made.output, /\n- master key [0-9a-f]{8}\n- master key [0-9a-f]{8}, for a day: only stored answers /)
  const restored = await run(['restore', changed, '--verify'], await emptyDatabase())
  assert.equal(restored.code, 0, restored.output)
  assert.match(restored.output, /^✓ master key [0-9a-f]{8}: .*\n- master key [0-9a-f]{8}: it is not here; only stored answers /m)

  // The check value is still sealed under the old key.
  const refused = await run(['restore', early], await emptyDatabase())
  assert.match(refused.output, /^atrium: ATRIUM_MASTER_KEY: the archive needs the master key /m)
  const lost = await run(['restore', early], { ...(await emptyDatabase()), ATRIUM_MASTER_KEY: otherKey })
  assert.equal(lost.code, 0, lost.output)
  assert.match(lost.output, /\n✗ Values that are sealed under the master key [0-9a-f]{8} cannot be opened, .*\nThe window is /)
})
