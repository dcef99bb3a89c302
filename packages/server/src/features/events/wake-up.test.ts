import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deliveriesOnly, tenantsOf, wakeUpOf } from './store.ts'

test('a wake-up names up to 50 tenants, each once; one without names means that any tenant may have events', () => {
  const ids = Array.from({ length: 51 }, (_, n) => `ten_${n}`)
  assert.deepEqual(tenantsOf(wakeUpOf(['ten_1', 'ten_2', 'ten_1'])), ['ten_1', 'ten_2'])
  assert.deepEqual(tenantsOf(wakeUpOf(ids.slice(0, 50))), ids.slice(0, 50))
  assert.equal(tenantsOf(wakeUpOf(ids)), undefined)
  assert.equal(tenantsOf(''), undefined)
  assert.deepEqual(tenantsOf(deliveriesOnly), [])
})
