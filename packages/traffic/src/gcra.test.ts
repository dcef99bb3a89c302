import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gcra } from './gcra.ts'
import { LeaseCounter } from './lease-counter.ts'
import { MemoryRateLimiter } from './memory-rate-limiter.ts'
import { limitAddress, networkOf } from './client-address.ts'

const policy = { name: 'test', perSecond: 10, burst: 20 }

test('a burst passes, then the steady rate', () => {
  let now = 1_000_000
  const limiter = new MemoryRateLimiter({ now: () => now })
  const take = () => limiter.take([{ key: 'a', policy }]).allowed
  assert.equal(Array.from({ length: 30 }, take).filter(Boolean).length, 20)
  now += 1_000
  assert.equal(Array.from({ length: 30 }, take).filter(Boolean).length, 10)
  now += 99
  assert.equal(take(), false)
  now += 1
  assert.equal(take(), true)
})

test('remaining counts down to none, and a refusal tells how long to wait', () => {
  const limiter = new MemoryRateLimiter({ now: () => 0 })
  const remaining = Array.from({ length: 20 }, () => limiter.take([{ key: 'a', policy }]).remaining)
  assert.deepEqual(
    remaining,
    Array.from({ length: 20 }, (_, i) => 19 - i),
  )
  const refused = limiter.take([{ key: 'a', policy }])
  assert.equal(refused.allowed, false)
  assert.equal(Math.round(refused.resetMs), 100)
})

test('a request that one limit refuses counts against none', () => {
  const limiter = new MemoryRateLimiter({ now: () => 0 })
  const narrow = { name: 'narrow', perSecond: 1, burst: 1 }
  const both = [
    { key: 'wide', policy },
    { key: 'narrow', policy: narrow },
  ]
  assert.equal(limiter.take(both).allowed, true)
  for (let i = 0; i < 50; i++) assert.equal(limiter.take(both).policy, narrow)
  assert.equal(limiter.take([{ key: 'wide', policy }]).remaining, 18)
})

test('memory stays bounded however many addresses call', () => {
  const limiter = new MemoryRateLimiter({ maxEntries: 1_000, now: () => 0 })
  for (let i = 0; i < 50_000; i++) limiter.take([{ key: String(i), policy }])
  assert.ok(limiter.size <= 2_000)
})

test('an address that keeps calling is not forgotten while others come and go', () => {
  const limiter = new MemoryRateLimiter({ maxEntries: 100, now: () => 0 })
  let passed = 0
  for (let i = 0; i < 10_000; i++) {
    limiter.take([{ key: String(i), policy }])
    if (i % 50 === 0 && limiter.take([{ key: 'steady', policy }]).allowed) passed++
  }
  assert.equal(passed, 20)
})

test('a clock that is set back refuses nobody for longer than the burst lasts, one that jumps ahead gives no more than the burst', () => {
  let now = 10_000_000
  const limiter = new MemoryRateLimiter({ now: () => now })
  const take = () => limiter.take([{ key: 'a', policy }]).allowed
  const volley = () => Array.from({ length: 50 }, take).filter(Boolean).length
  assert.equal(volley(), 20)
  now -= 3_600_000
  assert.equal(take(), false)
  assert.ok(limiter.take([{ key: 'a', policy }]).resetMs <= 100, 'told to come back soon')
  now += 1_000
  assert.equal(volley(), 10, 'and then it goes on at its rate')
  now += 3_600_000
  assert.equal(volley(), 20)
})

for (const arrival of [NaN, Infinity, -Infinity, -5, 1e300])
  test(`an arrival time of ${arrival} refuses for no longer than the burst lasts`, () => {
    const { next, resetMs } = gcra(arrival, policy, 1_000)
    assert.ok(next <= 1_000 + 2_000 && resetMs <= 2_000, `${next}, ${resetMs}`)
    assert.equal(gcra(next, policy, 1_000 + 100).passed, 1)
  })

test('requests given out ahead of time are counted, and those that come back are not', () => {
  let now = 0
  const counter = new LeaseCounter({ now: () => now })
  assert.deepEqual(counter.grant('a', policy, 15), { granted: 15, remaining: 5, resetMs: 1_500 })
  assert.equal(counter.grant('a', policy, 15).granted, 5)
  assert.deepEqual(counter.grant('a', policy, 1), { granted: 0, remaining: 0, resetMs: 100 })
  counter.giveBack('a', policy, 7)
  assert.equal(counter.grant('a', policy, 15).granted, 7)
  now += 500
  assert.equal(counter.grant('a', policy, 15).granted, 5)
  counter.giveBack('unknown', policy, 3)
  assert.equal(counter.grant('unknown', policy, 100).granted, 20)
})

const addresses: [string, string][] = [
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002:0000::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
]
for (const [address, counted] of addresses)
  test(`${address} counts as ${counted}`, () => assert.equal(limitAddress(address), counted))

test('a network is the same for all its addresses, and IPv4 has none', () => {
  const [a, b, c] = ['2001:db8:1:2::9', '2001:db8:1:ff::1', '2001:db8:1:102::1'].map(limitAddress) as [string, string, string]
  assert.equal(networkOf(a, 56), networkOf(b, 56))
  assert.notEqual(networkOf(a, 56), networkOf(c, 56))
  assert.equal(networkOf(a, 48), networkOf(c, 48))
  assert.equal(networkOf(limitAddress('192.0.2.7'), 56), undefined)
})
