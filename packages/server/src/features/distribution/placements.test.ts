import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Client } from 'pg'
import { migrationsFolder } from '#db/migration-files.ts'
import { createTestDatabase, type TestDatabase } from '#testing/test-database.ts'
import { groups, placements, type Placement } from './placements.ts'

let database: TestDatabase
let client: Client
before(async () => {
  database = await createTestDatabase()
  client = new Client({ connectionString: database.url })
  await client.connect()
})
after(async () => {
  await client?.end()
  await database?.drop()
})

const spread = new Map(
  Object.entries<Placement>(placements).flatMap(([table, placement]) =>
    placement.where === 'spread' ? [[table, placement] as const] : [],
  ),
)

test('every table is declared: where its rows are on Citus', async () => {
  const schema = await readFile(join(migrationsFolder, 'schema.sql'), 'utf8')
  // A partition is where its table is.
  const tables = [...schema.matchAll(/^create table (\w+) \(/gm)].map(([, name]) => name)
  assert.deepEqual(tables.toSorted(), Object.keys(placements).toSorted())
})

test('a table is spread by a text that it always has, in an order that does not depend on the machine', async () => {
  for (const [table, { by }] of spread) {
    const { rows } = await client.query(
      `select format_type(atttypid, null) as type, attnotnull as required, c.collname as collation
         from pg_attribute a join pg_collation c on c.oid = a.attcollation where attrelid = $1::regclass and attname = $2`,
      [table, by.column],
    )
    assert.deepEqual(rows, [{ type: 'text', required: true, collation: 'C' }], `${table}.${by.column}`)
  }
})

test('what is unique in a spread table is unique in a shard: each unique index has the column', async () => {
  const { rows } = await client.query<{ table: string; index: string; columns: string[] }>(
    `select c.relname as table, i.indexrelid::regclass::text as index, array_agg(a.attname::text) as columns
       from pg_index i join pg_class c on c.oid = i.indrelid
       join pg_attribute a on a.attrelid = c.oid and a.attnum = any (i.indkey)
      where i.indisunique and c.relnamespace = 'public'::regnamespace group by 1, 2`,
  )
  for (const { table, index, columns: has } of rows) {
    const column = spread.get(table)?.by.column
    if (column !== undefined) assert.ok(has.includes(column), `${index} does not have ${column}`)
  }
})

test('a foreign key of a spread table stays in its group and has the column on both sides', async () => {
  const { rows } = await client.query<{ table: string; target: string; name: string; from: string[]; to: string[] }>(
    `select k.conrelid::regclass::text as table, k.confrelid::regclass::text as target, k.conname as name,
       array(select attname::text from unnest(k.conkey) with ordinality as u (n, i)
             join pg_attribute on attrelid = k.conrelid and attnum = u.n order by i) as "from",
       array(select attname::text from unnest(k.confkey) with ordinality as u (n, i)
             join pg_attribute on attrelid = k.confrelid and attnum = u.n order by i) as "to"
       from pg_constraint k where contype = 'f'`,
  )
  for (const { table, target, name, from, to } of rows) {
    const [placement, other] = [spread.get(table), spread.get(target)]
    if (!placement && !other) continue
    assert.equal(placement?.by.group, other?.by.group, `${name} leaves the group`)
    assert.equal(from.indexOf(placement!.by.column), to.indexOf(other!.by.column), name)
    assert.ok(from.includes(placement!.by.column), name)
  }
})

test('each trigger of a spread table is declared, with what does its work on Citus', async () => {
  const { rows } = await client.query<{ table: string; name: string }>(
    `select tgrelid::regclass::text as table, tgname::text as name from pg_trigger where not tgisinternal`,
  )
  const declared = [...spread].flatMap(([table, { replaces }]) =>
    Object.keys(replaces?.triggers ?? {}).map((name) => `${table}.${name}`),
  )
  const found = rows.filter(({ table }) => spread.has(table)).map(({ table, name }) => `${table}.${name}`)
  assert.deepEqual(found.toSorted(), declared.toSorted())
})

test('each function that runs on the node of a shard is declared, and notifies nobody there', async () => {
  const { rows } = await client.query<{ name: string; body: string }>(
    `select proname::text as name, prosrc as body from pg_proc where pronamespace = 'public'::regnamespace and 'shard_' = any (proargnames)`,
  )
  const declared = Object.values(groups).flatMap(({ functions }) => functions)
  assert.deepEqual(rows.map(({ name }) => name).toSorted(), declared.toSorted())
  for (const { name, body } of rows) assert.doesNotMatch(body, /\bnotify\b|pg_notify/i, name)
})
