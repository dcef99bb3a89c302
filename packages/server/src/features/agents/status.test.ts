import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mayLaunch, setByOperator, setByOwner, type AgentStatus, type Standing } from './status.ts'

const owners = ['draft', 'active', 'private'] as const
const holds = ['suspended', 'pending'] as const
const free = (status: (typeof owners)[number]): Standing => ({ status, statusBefore: null })

test('the owner goes freely between draft, active and private', () => {
  for (const from of owners) for (const to of owners) assert.deepEqual(setByOwner(free(from), to), free(to))
})

test('the owner moves nothing that an operator holds', () => {
  for (const status of holds) for (const to of owners) assert.equal(setByOwner({ status, statusBefore: 'active' }, to), undefined)
})

test('lifting brings back what the owner had set, whatever the operator did in between', () => {
  for (const from of owners) {
    for (const first of holds) {
      const held = setByOperator(free(from), first)
      assert.deepEqual(held, { status: first, statusBefore: from })
      for (const second of holds) assert.deepEqual(setByOperator(setByOperator(held, second), 'lifted'), free(from))
    }
  }
})

test('lifting what nobody holds changes nothing', () => {
  for (const from of owners) assert.deepEqual(setByOperator(free(from), 'lifted'), free(from))
})

test('others launch what is active, the owner also what is private, and nobody anything else', () => {
  const launchers = (status: AgentStatus) =>
    ['ten_own', 'ten_other'].filter((caller) => mayLaunch({ tenantId: 'ten_own', status }, caller))
  assert.deepEqual(launchers('active'), ['ten_own', 'ten_other'])
  assert.deepEqual(launchers('private'), ['ten_own'])
  for (const status of ['draft', ...holds] as const) assert.deepEqual(launchers(status), [])
})
