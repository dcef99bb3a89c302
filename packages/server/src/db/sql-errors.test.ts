import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionLost } from '@atrium/traffic/database-errors'
import { ApiError } from '#errors/api-error.ts'
import { isPassing } from './is-passing.ts'
import { apiErrorOfSql } from './sql-errors.ts'

const withCode = (code: string, message = 'failed') => Object.assign(new Error(message), { code })

test('a database that is unreachable, full, shutting down or slow is 503, and the failure counts as temporary', () => {
  const network = [
    'ECONNREFUSED',
    'ECONNRESET',
    'ECONNABORTED',
    'EPIPE',
    'ETIMEDOUT',
    'ENOTFOUND',
    'EAGAIN',
    'EAI_AGAIN',
    'ENETUNREACH',
  ]
  const states = ['08006', '53100', '58030', '53300', '57P01', '57P02', '57P03', '57014', '40001', '40P01', '55P03', '25006']
  for (const error of [...[...network, ...states].map((code) => withCode(code)), new ConnectionLost('no answer in time')]) {
    assert.equal(apiErrorOfSql(error)?.code, 'unavailable', JSON.stringify(error))
    assert.equal(isPassing(error), true)
  }
  assert.equal(isPassing(new ApiError('unavailable')), true)
})

test('a programming error is not temporary', () => {
  for (const error of [
    withCode('42703'),
    withCode('EPERM'),
    withCode('23514'),
    withCode('22P02'),
    new TypeError('x is undefined'),
    undefined,
  ]) {
    assert.equal(isPassing(error), false)
  }
  assert.equal(isPassing(new ApiError('not_found')), false)
})
