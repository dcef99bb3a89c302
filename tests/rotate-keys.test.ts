import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { hashLeaf } from '@atrium/log/merkle'
import { parseNote } from '@atrium/log/note'
import type { Database, Tx } from '../packages/server/src/db/database.ts'
import { cacheMs, PlatformKeys } from '../packages/server/src/features/platform-keys/platform-keys.ts'
import { announceKey, activateKey } from '../packages/server/src/features/platform-keys/rotate-key.ts'
import { insertKey, listPublishedKeys } from '../packages/server/src/features/platform-keys/store.ts'
import { makePlatformKey } from '../packages/server/src/features/platform-keys/platform-keys.ts'
import { announcedForMs } from '../packages/server/src/processes/rotate-key.ts'
import { integrateLeaves } from '../packages/server/src/features/transparency-log/integrate.ts'
import { openLogKeys } from '../packages/server/src/features/transparency-log/log-keys.ts'
import { logOrigin, publishCheckpoint } from '../packages/server/src/features/transparency-log/publish.ts'
import { queueLeaves } from '../packages/server/src/features/transparency-log/store.ts'
import { startTestApi, type TestApi } from '../packages/server/testing/test-api.ts'
import { runAtrium, type AtriumRun } from './support/run-atrium.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

const masterKey = Buffer.alloc(32, 7).toString('base64')
const runRotation = (use: string, args: string[] = [], key = masterKey) =>
  runAtrium(['keys', 'rotate', use, ...args], { DATABASE_URL: api.databaseUrl, ATRIUM_MASTER_KEY: key })
async function rotate(use: string, key = masterKey) {
  const command = runRotation(use, ['--at-once'], key)
  return { code: await command.ended(60_000), output: command.output() }
}
async function firstLine(command: AtriumRun): Promise<string> {
  while (!command.output().includes('\n')) assert.equal(await command.ended(50), undefined, command.output())
  return command.output().split('\n', 1)[0]!
}
/** As a process sees them that has just started. */
const keysOf = (purpose: 'receipts' | 'quotes') => new PlatformKeys({ db: api.ctx.db, vault: api.ctx.vault, purpose })
const kids = async (keys: PlatformKeys) => (await keys.published()).map(({ kid }) => kid)

test('a rotated key of receipts stays published beside the new one that signs', async () => {
  const { kid: old } = await keysOf('receipts').current()
  const { code, output } = await rotate('receipts')
  assert.equal(code, 0, output)
  const keys = keysOf('receipts')
  const { kid } = await keys.current()
  assert.notEqual(kid, old)
  assert.ok(output.includes(kid), output)
  assert.deepEqual(new Set(await kids(keys)), new Set([kid, old]))
  await api.ctx.db.pool.query("update platform_keys set retired_at = now() - interval '2 years' where id = $1", [old])
  assert.equal((await kids(keysOf('receipts'))).length, 2, 'a receipt is verified for as long as anyone keeps it')
  const served = (await (await fetch(`${api.origin}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] }
  assert.ok(served.keys.some((key) => key.kid === kid) && served.keys.some((key) => key.kid === old))
})

test('no cache has a set without the next key when that key begins to sign', async () => {
  const { headers } = await fetch(`${api.origin}/.well-known/jwks.json`)
  const maxAgeSeconds = Number(/max-age=(\d+)/.exec(headers.get('cache-control')!)![1])
  // A process may still answer with the set that it read before.
  assert.ok(announcedForMs >= cacheMs + maxAgeSeconds * 1_000, `${announcedForMs} ms`)
})

test('a key is published before it signs, and an interrupted rotation continues with it', async () => {
  const { db, vault } = api.ctx
  const { kid: old } = await keysOf('quotes').current()
  const make = () => makePlatformKey(vault, 'quotes')
  const id = await announceKey(db, 'quotes', make)
  assert.equal(await announceKey(db, 'quotes', make), id)
  const statusOf = async (kid: string) => (await listPublishedKeys(db, 'quotes', false)).find((key) => key.id === kid)?.status
  assert.deepEqual([await statusOf(old), await statusOf(id)], ['active', 'announced'])
  const between = keysOf('quotes')
  assert.equal((await between.current()).kid, old)
  assert.deepEqual(new Set(await kids(between)), new Set([old, id]))
  const both = await Promise.allSettled([activateKey(db, 'quotes', id), activateKey(db, 'quotes', id)])
  assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
  assert.equal((await keysOf('quotes').current()).kid, id)
  assert.deepEqual([await statusOf(old), await statusOf(id)], ['retired', 'active'])
  const { rows } = await db.pool.query(
    "select count(*)::int as living from platform_keys where purpose = 'quotes' and retired_at is null",
  )
  assert.equal(rows[0]!.living, 1)
})

test('rotations that begin together announce one key, and make one', async (t) => {
  const { db, vault } = api.ctx
  const { kid: old } = await keysOf('receipts').current()
  const before = (await kids(keysOf('receipts'))).length
  let waiting = 0
  const both = Promise.withResolvers<void>()
  // Each has found no announced key before the other one stores its own.
  const make = async () => {
    if (++waiting === 2) both.resolve()
    await both.promise
    return makePlatformKey(vault, 'receipts')
  }
  const [id, other] = await Promise.all([announceKey(db, 'receipts', make), announceKey(db, 'receipts', make)])
  assert.equal(id, other)
  assert.equal((await kids(keysOf('receipts'))).length, before + 1)

  // Without --at-once, neither of them ends within the test: both wait with the same key.
  const commands = [runRotation('receipts'), runRotation('receipts')]
  t.after(() => commands.forEach((command) => command.kill('SIGKILL')))
  const lines = await Promise.all(commands.map(firstLine))
  for (const line of lines) assert.equal(line, `The key ${id} is published and does not sign yet.`)
  assert.equal((await keysOf('receipts').current()).kid, old)
  const { code, output } = await rotate('receipts')
  assert.equal(code, 0, output)
  assert.equal((await keysOf('receipts').current()).kid, id)
})

test('a process that makes the first key in the middle of a rotation does not end it: its key is retired', async () => {
  const { db, vault } = api.ctx
  await db.pool.query("delete from platform_keys where purpose = 'agent_tokens'")
  const id = await announceKey(db, 'agent_tokens', () => makePlatformKey(vault, 'agent_tokens'))
  const first = await makePlatformKey(vault, 'agent_tokens')
  let statements = 0
  // The key is made after the rotation looked for one to retire, and before it activates its own.
  const meanwhile: Database = Object.assign(Object.create(db) as Database, {
    transaction: <T>(run: (tx: Tx) => Promise<T>) =>
      db.transaction((tx) => {
        const query: Tx['query'] = async (statement, values) => {
          if (++statements === 2) await insertKey(db, 'agent_tokens', first)
          return tx.query(statement, values)
        }
        return run(Object.assign(Object.create(tx) as Tx, { query }))
      }),
  })
  await activateKey(meanwhile, 'agent_tokens', id)
  const keys = await listPublishedKeys(db, 'agent_tokens', false)
  assert.deepEqual(
    new Map(keys.map((key) => [key.id, key.status])),
    new Map([
      [id, 'active'],
      [first.id, 'retired'],
    ]),
  )
})

test('the log signs with the old and the new key, and not with one that is only announced', async () => {
  const { db, vault } = api.ctx
  const origin = logOrigin(api.ctx.config.publicUrl)
  await openLogKeys(db, vault, origin)
  const interrupted = runRotation('transparency_log')
  await firstLine(interrupted)
  interrupted.kill('SIGKILL')
  await interrupted.ended(10_000)
  await queueLeaves(db, [{ leafHash: hashLeaf(Buffer.from('{}')), entry: Buffer.from('{}') }])
  await integrateLeaves(db, 100)
  const served = async (path: string) => (await fetch(`${api.origin}/log/${path}`)).text()
  const signatures = async () => parseNote(await served('checkpoint')).signatures.length
  await publishCheckpoint(api.ctx)
  assert.equal(await signatures(), 1)
  assert.equal((await served('vkey')).trim().split('\n').length, 2, 'both are published')
  assert.equal((await rotate('transparency_log')).code, 0)
  await publishCheckpoint(api.ctx)
  assert.equal(await signatures(), 2)
})

test('an unknown use, or another master key, changes nothing', async () => {
  const before = (await api.ctx.db.pool.query('select id, retired_at from platform_keys order by id')).rows
  const unknown = await rotate('tenants')
  assert.equal(unknown.code, 1)
  assert.match(unknown.output, /^atrium: the use of a key is one of receipts, quotes, agent_tokens, transparency_log\n$/)
  const other = await rotate('receipts', Buffer.alloc(32, 8).toString('base64'))
  assert.equal(other.code, 1)
  assert.match(other.output, /^atrium: .*master key/)
  assert.deepEqual((await api.ctx.db.pool.query('select id, retired_at from platform_keys order by id')).rows, before)
})
