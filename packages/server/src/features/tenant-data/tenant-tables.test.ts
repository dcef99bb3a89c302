import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { migrationsFolder } from '#db/migration-files.ts'
import { sealedColumns } from '#crypto/vault/sealed-columns.ts'
import { otherTables, tenantTables, type TenantTable } from './tenant-tables.ts'

const schema = await readFile(join(migrationsFolder, 'schema.sql'), 'utf8')

test('every table is declared: whether the deletion of a tenant removes it, or why it stays', () => {
  const tables = [...schema.matchAll(/^create table (\w+) \(/gm)].map(([, name]) => name)
  assert.deepEqual(tables.toSorted(), [...Object.keys(tenantTables), ...Object.keys(otherTables)].toSorted())
})

/** Opened or left out by the export itself. */
const opened = new Set(['items.access_list', 'artifacts.access_list'])
/** The chain of events, which each event carries. */
const readable = new Set(['events.hash', 'events.hash_before', 'event_heads.chain_hash'])

test('an export has no column with a hash, and none that is sealed, except for those that the tenant may read', () => {
  for (const [table, { export: exported }] of Object.entries<TenantTable>(tenantTables)) {
    if (!exported) continue
    const [, body = ''] = new RegExp(`^create table ${table} \\(([^;]*)\\)`, 'm').exec(schema) ?? []
    const hashes = [...body.matchAll(/^ {2}(\w*(?:hash|sealed|secret)\w*) bytea/gm)].map(([, column]) => column!)
    const sealed = sealedColumns.filter((one) => one.table === table).map(({ column }) => column as string)
    for (const column of new Set([...hashes, ...sealed]))
      if (!opened.has(`${table}.${column}`) && !readable.has(`${table}.${column}`))
        assert.ok(exported.except?.includes(column), `${table}.${column} is in the export`)
  }
})
