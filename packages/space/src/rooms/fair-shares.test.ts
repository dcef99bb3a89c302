import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairShares } from './fair-shares.ts'

const shares = (total = 2_000) => new FairShares({ total, most: { address: 100, network: 400, room: 500 } })
const nobody = () => assert.fail('a place was taken away')

/** Takes all it gets; says how many places it has in the end. */
function greedy(held: FairShares, address: string, { network, room }: { network?: string; room?: string } = {}): () => number {
  let has = 0
  for (let n = 0; n < 200; n++) {
    if (held.take({ address, network, room: room ?? `${address} ${n}` }, () => has--)) has++
  }
  return () => has
}

test('alone, an address gets its whole number', () => assert.equal(greedy(shares(), 'a')(), 100))

test('however many addresses take all they get, each new one gets a place, and all get about the same', () => {
  for (const addresses of [20, 200, 1_000]) {
    const held = shares()
    const got = Array.from({ length: addresses }, (_, i) => greedy(held, `a${i}`))
    const has = got.map((count) => count())
    const fair = 2_000 / addresses
    assert.ok(Math.min(...has) >= Math.min(100, fair) - 2 && Math.min(...has) >= 1, `${addresses}: ${Math.min(...has)}`)
    assert.ok(Math.max(...has) <= Math.min(100, fair) + 2, `${addresses}: ${Math.max(...has)}`)
    assert.ok(held.taken <= 2_000)
    assert.ok(held.take({ address: 'new', network: undefined, room: 'r' }, nobody))
  }
})

test('nobody takes from who has as many', () => {
  const held = shares(10)
  for (let i = 0; i < 5; i++) for (let n = 0; n < 2; n++) held.take({ address: `a${i}`, network: undefined, room: 'r' }, nobody)
  for (let i = 0; i < 5; i++) assert.equal(held.take({ address: `a${i}`, network: undefined, room: 'r' }, nobody), undefined)
})

test('the addresses of one IPv6 network share', () => {
  const held = shares()
  const got = Array.from({ length: 50 }, (_, i) => greedy(held, `a${i}`, { network: 'n' }))
  assert.equal(
    got.reduce((sum, count) => sum + count(), 0),
    400,
  )
  assert.equal(greedy(held, 'b', { network: 'm' })(), 100)
})

test('one room leaves room for others', () => {
  const held = shares()
  const got = Array.from({ length: 200 }, (_, i) => greedy(held, `a${i}`, { room: 'r' }))
  assert.equal(
    got.reduce((sum, count) => sum + count(), 0),
    500,
  )
  assert.equal(greedy(held, 'b')(), 100)
})

test('what is released can be taken again, and releasing twice is once', () => {
  const held = shares()
  const release = held.take({ address: 'a', network: undefined, room: 'r' }, nobody)!
  release()
  release()
  assert.equal(held.taken, 0)
  assert.equal(greedy(held, 'a')(), 100)
})
