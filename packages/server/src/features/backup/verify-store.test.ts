import assert from 'node:assert/strict'
import { before, after, test } from 'node:test'
import { listSealedValues as listForReseal } from '#crypto/vault/reseal-store.ts'
import { sealedColumns } from '#crypto/vault/sealed-columns.ts'
import { rangeBlocks } from '#db/block-ranges.ts'
import { type Db, statement } from '#db/database.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'
import { listSealedValues } from './verify-store.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

const count = 6_000
const [oldId, newId] = [Buffer.alloc(4, 7), Buffer.alloc(4, 8)]
const insert = statement<never>(
  'test-insert-provider-keys',
  // Version 2 under the old key, and about five rows a block.
  `insert into provider_keys (tenant_id, provider, key_sealed, hint)
   select $1, 'p' || n, '\\x02'::bytea || $2 || decode(repeat('5a', 1500), 'hex'), 'hint' from generate_series(1, $3::integer) as n`,
)

/** A database that notes how many blocks of the table each statement reads. */
function watch(db: TestApi['ctx']['db'], prefix: string) {
  const blocksRead: number[] = []
  const query: Db['query'] = async (stmt, values) => {
    if (stmt.name.startsWith(prefix)) {
      const { rows } = await db.pool.query<any>(`explain (analyze, buffers, format json) ${stmt.text}`, [...values])
      const plan = rows[0]['QUERY PLAN'][0].Plan
      blocksRead.push(plan['Shared Hit Blocks'] + plan['Shared Read Blocks'])
    }
    return db.query(stmt, values)
  }
  return { blocksRead, watched: { ...db, query } }
}

test('who reads all sealed values reads each of them once, and a part of the table for each page', async () => {
  const { db } = api.ctx
  const { id: tenant } = await api.makeTenant()
  await db.query(insert, [tenant, oldId, count])
  const { rows } = await db.pool.query<any>(`select pg_relation_size('provider_keys')::integer / 8192 as blocks`)
  assert.ok(rows[0].blocks > 4 * rangeBlocks)
  const names = new Set<string>()
  const verifying = watch(db, 'verify-sealed-provider_keys')
  let seen = 0
  for await (const { column, row } of listSealedValues(verifying.watched)) {
    if (column.table !== 'provider_keys') continue
    names.add(row)
    seen++
  }
  assert.deepEqual([seen, names.size], [count, count])

  const resealing = watch(db, 'reseal-list-provider_keys')
  const column = sealedColumns.find(({ table }) => table === 'provider_keys')!
  const keys = { keyIds: [newId, oldId], current: newId, limit: 500 }
  const listed: string[] = []
  for await (const page of listForReseal(resealing.watched, column, keys)) listed.push(...page.map(({ row }) => row))
  assert.deepEqual([listed.length, new Set(listed).size], [count, count])

  for (const { blocksRead } of [verifying, resealing]) {
    assert.ok(blocksRead.length > 4)
    // And some of the catalogue.
    assert.ok(Math.max(...blocksRead) < rangeBlocks + 50, blocksRead.join())
  }
})
