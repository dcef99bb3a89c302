import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiErrorOfSql, sqlStateOf } from './sql-errors.ts'

const withCode = (code: string) => Object.assign(new Error('write'), { code })

for (const code of ['EPIPE', 'ECONNRESET', 'ENOENT', 'EAGAIN', '57P03', '57P01', '53100', '25006', '58030', '40001'])
  test(`${code}: unavailable, and worth another try`, () => {
    const error = apiErrorOfSql(withCode(code))
    assert.deepEqual([error?.code, error?.status, error?.retryAfterSeconds], ['unavailable', 503, 1])
  })

for (const code of ['42P01', '22P02', 'XX000', 'EPERM'])
  test(`${code}: a fault of ours`, () => assert.equal(apiErrorOfSql(withCode(code)), undefined))

test("the system's own codes are no SQLSTATE", () => {
  assert.equal(sqlStateOf(withCode('EPIPE')), undefined)
  assert.equal(sqlStateOf(withCode('XX000')), 'XX000')
})
