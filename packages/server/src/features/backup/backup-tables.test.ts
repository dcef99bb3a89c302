import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { migrationsFolder } from '#db/migration-files.ts'
import { backupTables } from './backup-tables.ts'

test('every table is declared: whether a restore brings it back', async () => {
  const schema = await readFile(join(migrationsFolder, 'schema.sql'), 'utf8')
  const tables = [...schema.matchAll(/^create table (\w+) \(/gm)].map(([, name]) => name)
  assert.deepEqual(tables.toSorted(), Object.keys(backupTables).toSorted())
})
