import assert from 'node:assert/strict'
import { createCipheriv, createSecretKey, hkdfSync } from 'node:crypto'
import { after, before, test } from 'node:test'
import { statement } from '#db/database.ts'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'
import { reseal } from './reseal.ts'
import { Vault } from './vault.ts'

const [oldKey, newKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
const [old, both] = [new Vault([oldKey]), new Vault([newKey, oldKey])]
const secret = Buffer.from('[["ada@harbour.example","listed"]]')

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

const insert = statement<never>(
  'test-insert-sealed-items',
  `insert into items (tenant_id, collection_id, id, seq, type, content, access_list)
   select $1, $2, 'itm_' || n, n, 'message', '1', value from unnest($3::bytea[]) with ordinality as u (value, n)`,
)
const list = statement<{ id: string; sealed: Buffer }>(
  'test-list-sealed-items',
  `select id, access_list as sealed from items where tenant_id = $1 order by seq`,
)

/** A tenant with an item for each of the sealed values. */
async function plant(
  count: number,
  seal: (place: { tenant: string; table: 'items'; column: 'access_list'; row: string }) => Buffer,
) {
  const { id: tenant, publishableKey: key } = await api.makeTenant()
  const { id: collection } = (await send(api, 'POST', '/collections', { key, body: {} })).body.data
  const values = Array.from({ length: count }, (_, n) =>
    seal({ tenant, table: 'items', column: 'access_list', row: `itm_${n + 1}` }),
  )
  await api.ctx.db.query(insert, [tenant, collection, values])
  return tenant
}

async function opened(vault: Vault, tenant: string): Promise<number> {
  const rows = await api.ctx.db.query(list, [tenant])
  return rows.filter(({ id, sealed }) => {
    try {
      return vault.open(sealed, { tenant, table: 'items', column: 'access_list', row: id }).equals(secret)
    } catch {
      return false
    }
  }).length
}

test('values that do not open hold up no others, however many there are, and are told', async () => {
  const damaged = await plant(600, (place) => old.seal(secret, { ...place, row: 'elsewhere' }))
  const sound = await plant(1_100, (place) => old.seal(secret, place))
  const { resealed, keys } = await reseal(api.ctx.db, both)
  assert.equal(resealed, 1_100)
  assert.deepEqual([await opened(new Vault([newKey]), sound), await opened(old, sound)], [1_100, 0])
  assert.deepEqual(
    keys.map(({ values, configured }) => [values, configured]),
    [
      [1_100, true],
      [600, true],
    ],
  )
  assert.equal((await reseal(api.ctx.db, both)).resealed, 0)
  assert.equal(await opened(old, damaged), 0)
})

test('a value that is set while it is sealed anew stays as it was set', async () => {
  const tenant = await plant(1, (place) => old.seal(Buffer.from('before'), place))
  const place = { tenant, table: 'items', column: 'access_list', row: 'itm_1' } as const
  const set = statement<never>('test-set-sealed-item', 'update items set access_list = $2 where tenant_id = $1')
  const { db } = api.ctx
  // Between what was read and what is written.
  const late: typeof db = {
    ...db,
    query: async (stmt, values) => {
      if (stmt.name === 'reseal-update-items-access_list') await db.query(set, [tenant, old.seal(secret, place)])
      return db.query(stmt, values)
    },
  }
  assert.equal((await reseal(late, both)).resealed, 0)
  assert.equal(await opened(old, tenant), 1)
  await reseal(db, both)
  assert.equal(await opened(new Vault([newKey]), tenant), 1)
})

test('what was sealed before there were envelopes opens, and gets one', async () => {
  const rowKey = createSecretKey(Buffer.from(hkdfSync('sha256', newKey, Buffer.alloc(0), 'atrium/vault/row/v1', 32)))
  const tenant = await plant(1, ({ tenant: owner, table, column, row }) => {
    const nonce = Buffer.alloc(12, 3)
    const cipher = createCipheriv('aes-256-gcm', rowKey, nonce, { authTagLength: 16 })
    cipher.setAAD(Buffer.from(JSON.stringify([owner, table, column, row])))
    const text = cipher.update(secret)
    return Buffer.concat([Buffer.from([1]), both.keyIds[0], nonce, text, cipher.final(), cipher.getAuthTag()])
  })
  assert.equal(await opened(both, tenant), 1)
  assert.equal((await reseal(api.ctx.db, both)).resealed, 1)
  const [row] = await api.ctx.db.query(list, [tenant])
  assert.equal(row!.sealed[0], 2)
  assert.equal(await opened(both, tenant), 1)
})
