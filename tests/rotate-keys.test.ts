import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { cacheMs, PlatformKeys } from '../packages/server/src/features/platform-keys/platform-keys.ts'
import { announceKey, activateKey } from '../packages/server/src/features/platform-keys/rotate-key.ts'
import { makePlatformKey } from '../packages/server/src/features/platform-keys/platform-keys.ts'
import { announcedForMs } from '../packages/server/src/processes/rotate-key.ts'
import { openLogKeys } from '../packages/server/src/features/transparency-log/log-keys.ts'
import { startTestApi, type TestApi } from '../packages/server/testing/test-api.ts'
import { runAtrium } from './support/run-atrium.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

const masterKey = Buffer.alloc(32, 7).toString('base64')
async function rotate(use: string, key = masterKey) {
  const command = runAtrium(['keys', 'rotate', use, '--at-once'], { DATABASE_URL: api.databaseUrl, ATRIUM_MASTER_KEY: key })
  return { code: await command.ended(60_000), output: command.output() }
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
  const between = keysOf('quotes')
  assert.equal((await between.current()).kid, old)
  assert.deepEqual(new Set(await kids(between)), new Set([old, id]))
  const both = await Promise.allSettled([activateKey(db, 'quotes', id), activateKey(db, 'quotes', id)])
  assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
  assert.equal((await keysOf('quotes').current()).kid, id)
  const { rows } = await db.pool.query(
    "select count(*)::int as living from platform_keys where purpose = 'quotes' and retired_at is null",
  )
  assert.equal(rows[0]!.living, 1)
})

test('the log signs with the old and the new key', async () => {
  const { db, vault } = api.ctx
  await openLogKeys(db, vault, 'atrium.example.com/log')
  assert.equal((await rotate('transparency_log')).code, 0)
  assert.equal((await openLogKeys(db, vault, 'atrium.example.com/log')).length, 2)
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
