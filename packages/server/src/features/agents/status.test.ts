import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canLaunch, setByOperator, setByOwner, type AgentStatus, type AgentStatusName } from './status.ts'

const owners = ['draft', 'active', 'private'] as const
const holds = ['suspended', 'pending'] as const
const free = (status: (typeof owners)[number]): AgentStatus => ({ status, statusBefore: null })

test('the owner moves freely between draft, active and private', () => {
  for (const from of owners) for (const to of owners) assert.deepEqual(setByOwner(free(from), to), free(to))
})

test('the owner cannot change the status of an agent that an operator holds', () => {
  for (const status of holds) for (const to of owners) assert.equal(setByOwner({ status, statusBefore: 'active' }, to), undefined)
})

test("lifting restores the owner's status, whatever the operator set in between", () => {
  for (const from of owners) {
    for (const first of holds) {
      const held = setByOperator(free(from), first)
      assert.deepEqual(held, { status: first, statusBefore: from })
      for (const second of holds) assert.deepEqual(setByOperator(setByOperator(held, second), 'lifted'), free(from))
    }
  }
})

test('lifting an agent that no operator holds changes nothing', () => {
  for (const from of owners) assert.deepEqual(setByOperator(free(from), 'lifted'), free(from))
})

test('every tenant launches an active agent, its owner also a private one, and no tenant any other', () => {
  const launchers = (status: AgentStatusName) =>
    ['ten_own', 'ten_other'].filter((caller) => canLaunch({ tenantId: 'ten_own', status }, caller))
  assert.deepEqual(launchers('active'), ['ten_own', 'ten_other'])
  assert.deepEqual(launchers('private'), ['ten_own'])
  for (const status of ['draft', ...holds] as const) assert.deepEqual(launchers(status), [])
})
