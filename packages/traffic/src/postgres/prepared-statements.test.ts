import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPassing } from '../database-errors.ts'
import { open } from './testing/fake-server.ts'

test('a named statement is parsed once, also when it is sent twice at once', async () => {
  const connection = await open()
  const query = { name: 'one', text: 'select $1::int as n', values: [1] }
  await Promise.all([connection.query(query), connection.query({ ...query, values: [2] })])
  const { rows } = await connection.query({ ...query, values: [3] })
  assert.deepEqual(rows, [{ n: '3' }])
  const { rows: prepared } = await connection.query(
    'select name, generic_plans + custom_plans as runs from pg_prepared_statements',
  )
  assert.deepEqual(prepared, [{ name: 'one', runs: '2' }])
  await assert.rejects(connection.query({ name: 'one', text: 'select 2' }), /two different statements have the name one/)
})

test('a named statement that the server refused can be sent again', async () => {
  const connection = await open()
  const query = { name: 'later', text: 'select n from later' }
  await assert.rejects(connection.query(query), { code: '42P01' })
  await connection.query('create temp table later as select 1 as n')
  assert.deepEqual((await connection.query(query)).rows, [{ n: '1' }])
  // It fails when it runs, not when it is parsed: the name stays.
  const divide = { name: 'divide', text: 'select 1 / $1::int as n' }
  await assert.rejects(connection.query({ ...divide, values: [0] }), { code: '22012' })
  assert.deepEqual((await connection.query({ ...divide, values: [1] })).rows, [{ n: '1' }])
})

test('of two at once, the first can be refused and the second accepted', async () => {
  const [connection, other] = [await open({ settings: { lock_timeout: 2_000 } }), await open()]
  await other.query('create table if not exists slow_to_parse (n int)')
  await other.query('begin; lock table slow_to_parse')
  const query = { name: 'slow', text: 'select n from slow_to_parse' }
  // The lock is free again before the second one waits as long.
  const [first, second] = [connection.query(query), connection.query(query)]
  await assert.rejects(first, { code: '55P03' })
  await other.query('rollback')
  assert.deepEqual((await second).rows, [])
  assert.deepEqual((await connection.query(query)).rows, [])
  assert.equal((await connection.query('select from pg_prepared_statements')).rowCount, 1)
  await other.query('drop table slow_to_parse')
})

test('a statement whose columns changed, or which is gone, fails as passing, and its connection is not used again', async () => {
  const changes = {
    '0A000': 'alter table kept add column m int',
    '26000': 'discard all',
  }
  for (const [code, change] of Object.entries(changes)) {
    const connection = await open()
    const query = { name: 'kept', text: 'select * from kept' }
    await connection.query('create table if not exists kept (n int)')
    await connection.query(query)
    assert.equal(connection.isIdle, true)
    await connection.query(change)
    await assert.rejects(connection.query(query), (error: { code: string }) => error.code === code && isPassing(error))
    assert.deepEqual([connection.isOpen, connection.isIdle], [true, false], code)
    await connection.query('drop table kept')
  }
  const connection = await open()
  const unsupported = connection.query('create table t (n int) partition by range (n) inherits (pg_class)')
  await assert.rejects(unsupported, (error: { code: string }) => !isPassing(error))
})
