import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { openDatabase, type Database } from '#db/database.ts'
import { openTenant } from '#features/tenants/open-tenant.ts'
import { createTestDatabase, type TestDatabase } from '#testing/test-database.ts'
import { checkMasterKey, holdsSealedValues, WrongMasterKeyError } from './check-master-key.ts'
import { reseal } from './reseal.ts'
import { Vault } from './vault.ts'

const [old, fresh, foreign] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer]

let database: TestDatabase | undefined
let db: Database
const close = async () => {
  await db?.close()
  await database?.drop()
}
beforeEach(async () => {
  await close()
  database = await createTestDatabase()
  db = openDatabase({ url: database.url, maxConnections: 5, onConnectionError: () => undefined })
})
after(close)

const check = (...keys: [Buffer, ...Buffer[]]) => checkMasterKey(db, new Vault(keys))
const refuses = (...keys: [Buffer, ...Buffer[]]) => assert.rejects(check(...keys), WrongMasterKeyError)

/** A provider's key, sealed as an earlier release would have. */
async function sealSomething(key: Buffer): Promise<void> {
  const { tenant } = await db.transaction((tx) => openTenant(tx, { name: 'Sealed', email: null, roles: null }))
  const place = { table: 'provider_keys', column: 'key_sealed', tenant: tenant.id, row: 'openai' } as const
  const sealed = new Vault([key]).seal(Buffer.from('sk-0123456789'), place)
  await db.pool.query(`insert into provider_keys (tenant_id, provider, hint, key_sealed) values ($1, 'openai', '…', $2)`, [
    tenant.id,
    sealed,
  ])
}

test('the first key is remembered; another one is refused, and any of several will do', async () => {
  assert.equal(await holdsSealedValues(db), false)
  await check(old)
  assert.equal(await holdsSealedValues(db), true)
  await check(old)
  await refuses(fresh)
  await check(fresh, old)
  await check(old, fresh)
  await refuses(fresh, foreign)
})

test('reseal moves it: until then the old key is asked for, and after that it is not', async () => {
  await check(old)
  await sealSomething(old)
  await reseal(db, new Vault([fresh, old]))
  await check(fresh)
  await refuses(old)
})

test('a database without a check value is judged by what it has sealed', async () => {
  await sealSomething(old)
  assert.equal(await holdsSealedValues(db), true)
  await refuses(fresh)
  await check(old)
  await refuses(fresh)
})

test('values that were lost before there was a check do not keep the key of the others from being taken', async () => {
  await sealSomething(foreign)
  await sealSomething(old)
  await check(old)
})

test('a value with the id of a key that is not sealed under it proves nothing', async () => {
  await sealSomething(foreign)
  const [id] = new Vault([old]).keyIds
  await db.pool.query('update provider_keys set key_sealed = overlay(key_sealed placing $1 from 2)', [id])
  await refuses(old)
})

test('of twenty that come at once with two keys to a new database, those with one of them are taken', async () => {
  const tried = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => check(i % 2 === 0 ? old : fresh)))
  const taken = tried.map(({ status }) => status === 'fulfilled')
  assert.equal(taken.filter(Boolean).length, 10)
  assert.equal(new Set(taken.filter((_, i) => i % 2 === 0)).size, 1)
})
