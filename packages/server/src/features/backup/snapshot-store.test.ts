import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
import { createTestDatabase } from '#testing/test-database.ts'
import { beginSnapshot, openConnection } from './snapshot-store.ts'

test('the snapshot of a backup outlasts the limits that an operator has set for the database', async (t) => {
  const database = await createTestDatabase({ template: 'template0' })
  t.after(() => database.drop())
  const admin = new Client({ connectionString: database.url })
  await admin.connect()
  const name = new URL(database.url).pathname.slice(1)
  // PostgreSQL 17 has transaction_timeout.
  const limits = "select name from pg_settings where name ~ '^(statement|transaction|idle_in_transaction_session)_timeout$'"
  for (const { name: limit } of (await admin.query(limits)).rows)
    await admin.query(`alter database ${name} set ${limit} = '200ms'`)
  await admin.end()
  const connection = await openConnection(database.url)
  t.after(() => connection.end())
  await beginSnapshot(connection)
  assert.equal((await connection.query("select 'whole' as snapshot from pg_sleep(0.4)")).rows[0]!['snapshot'], 'whole')
  await connection.query('commit')
})
