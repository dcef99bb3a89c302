import { test } from 'node:test'
import assert from 'node:assert/strict'
import { StartError } from '#errors/start-error.ts'
import { readConfig } from './config.ts'
import { readEnv } from './env.ts'

test('egress is public unless ATRIUM_EGRESS says loopback, which production refuses, each with one line naming the variable', () => {
  const egressOf = (env: NodeJS.ProcessEnv) => readConfig(readEnv(env)).egress
  assert.equal(egressOf({}), 'public')
  assert.equal(egressOf({ NODE_ENV: 'production' }), 'public')
  assert.equal(egressOf({ ATRIUM_EGRESS: 'public' }), 'public')
  assert.equal(egressOf({ ATRIUM_EGRESS: 'loopback' }), 'loopback')
  for (const env of [
    { ATRIUM_EGRESS: 'any' },
    { ATRIUM_EGRESS: 'Loopback' },
    { ATRIUM_EGRESS: 'loopback', NODE_ENV: 'production' },
  ]) {
    assert.throws(
      () => egressOf(env),
      (error) => error instanceof StartError && /^ATRIUM_EGRESS[^\n]*$/.test(error.message),
    )
  }
})
