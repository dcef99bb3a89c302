import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { createTestDatabase } from '../../server/testing/test-database.ts'
import { hashText, Shards } from './shards.ts'

test('a text has the hash that PostgreSQL gives it', async () => {
  const texts = Array.from({ length: 300 }, (_, n) => 'roomß灯🌙'.repeat(20).slice(n % 40, (n % 40) + (n % 60)) + String(n % 7))
  texts.push('', 'a', 'x'.repeat(11), 'x'.repeat(12), 'x'.repeat(13), 'ten_4fRzK0vXcB1mQwErTy7uPa', '\u{10ffff}')
  const wellFormed = texts.filter((text) => text.isWellFormed())
  const database = await createTestDatabase()
  const client = new pg.Client({ connectionString: database.url })
  try {
    await client.connect()
    const { rows } = await client.query<{ hash: number }>(
      'select hashtext(t collate "C") as hash from unnest($1::text[]) with ordinality as u (t, n) order by n',
      [wellFormed],
    )
    assert.deepEqual(
      wellFormed.map(hashText),
      rows.map(({ hash }) => hash),
    )
  } finally {
    await client.end()
    await database.drop()
  }
})

test('each text belongs to the shard whose range has its hash', () => {
  const shards = new Shards([0, -2147483648, 1073741824, -1073741824])
  assert.equal(shards.count, 4)
  // 1075015857, -68821088 and 1903644986
  assert.deepEqual(
    ['a', 'b', 'c'].map((text) => shards.shardOf(text)),
    [3, 1, 3],
  )
})

test('without ranges there is one shard', () => {
  assert.equal(new Shards().count, 1)
  assert.equal(new Shards().shardOf('a'), 0)
})
