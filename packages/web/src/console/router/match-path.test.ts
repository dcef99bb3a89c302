import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchPath } from './match-path.ts'

test('a path matches its own pattern alone, and its parameters are decoded', () => {
  assert.deepEqual(matchPath('/', '/'), {})
  assert.deepEqual(matchPath('/collections', '/collections'), {})
  assert.deepEqual(matchPath('/collections/:id', '/collections/col_1'), { id: 'col_1' })
  assert.deepEqual(matchPath('/webhooks/:endpoint/deliveries', '/webhooks/a%20b/deliveries'), { endpoint: 'a b' })
  assert.equal(matchPath('/collections', '/collections/col_1'), undefined)
  assert.equal(matchPath('/collections/:id', '/collections'), undefined)
  assert.equal(matchPath('/keys', '/agents'), undefined)
})

test('a path with an escape that was cut off is not an error', () => {
  assert.deepEqual(matchPath('/collections/:id', '/collections/%E4%B'), { id: '%E4%B' })
})
