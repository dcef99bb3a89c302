import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeyCache } from './key-cache.ts'
import type { ResolvedKey } from './key.ts'

function setUp() {
  const state = { now: 0, loads: 0, status: 'active' as ResolvedKey['tenantStatus'], broken: false, loadMs: 0 }
  const cache = new KeyCache({
    now: () => state.now,
    load: async (hashes) => {
      state.loads += hashes.length
      if (state.broken) throw new Error('database away')
      const status = state.status
      state.now += state.loadMs
      return hashes.map((id) =>
        id === 'unknown'
          ? undefined
          : {
              id,
              kind: 'secret',
              tenantId: 'ten_a',
              tenantStatus: status,
              roles: [],
              endsAtMs: undefined,
              ratePercent: 100,
              logsRequests: true,
            },
      )
    },
  })
  return { state, cache }
}

test('a key is loaded once', async () => {
  const { state, cache } = setUp()
  for (let i = 0; i < 100; i++) await cache.resolve('a')
  assert.equal(state.loads, 1)
})

test('an entry is used for at most 15 s, even without any notification', async () => {
  const { state, cache } = setUp()
  await cache.resolve('a')
  state.status = 'suspended'
  state.now = 15_000
  assert.equal((await cache.resolve('a'))?.tenantStatus, 'suspended')
})

test('the 15 s begin with the load and not with its answer, which may be late', async () => {
  const { state, cache } = setUp()
  state.loadMs = 10_000
  await cache.resolve('a')
  state.status = 'suspended'
  state.now = 15_000
  assert.equal((await cache.resolve('a'))?.tenantStatus, 'suspended')
})

test('while the database is unavailable, a cached key works until the ceiling and no longer', async () => {
  const { state, cache } = setUp()
  await cache.resolve('a')
  state.broken = true
  state.now = 14_999
  assert.equal((await cache.resolve('a'))?.id, 'a')
  state.now = 15_000
  await assert.rejects(async () => cache.resolve('a'), /database away/)
})

test('a notification expires the tenant’s entries at once', async () => {
  const { state, cache } = setUp()
  await cache.resolve('a')
  state.status = 'suspended'
  cache.forgetTenant('ten_a')
  assert.equal((await cache.resolve('a'))?.tenantStatus, 'suspended')
})

test('the result of a load is not cached if a notification came during the load', async () => {
  const { state, cache } = setUp()
  const onItsWay = cache.resolve('a')
  cache.forgetTenant('ten_a')
  await onItsWay
  state.status = 'suspended'
  assert.equal((await cache.resolve('a'))?.tenantStatus, 'suspended')
})

test('unknown keys are not cached', async () => {
  const { state, cache } = setUp()
  for (let i = 0; i < 3; i++) assert.equal(await cache.resolve('unknown'), undefined)
  assert.equal(state.loads, 3)
})

test('a busy key is refreshed before its ceiling, and no request waits for it', async () => {
  const { state, cache } = setUp()
  await cache.resolve('a')
  state.now = 8_000
  const second = cache.resolve('a')
  assert.equal(second instanceof Promise, false)
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  assert.equal(state.loads, 2)
})

test('a key that was found once stays known, however old its entry is, also after notifications', async () => {
  const { state, cache } = setUp()
  assert.equal(cache.knows('a'), false)
  await cache.resolve('a')
  state.now = 3_600_000
  assert.ok(cache.knows('a'))
  cache.forgetTenant('ten_a')
  assert.ok(cache.knows('a'))
  cache.forgetAll()
  assert.ok(cache.knows('a'))
  state.status = 'suspended'
  assert.equal((await cache.resolve('a'))?.tenantStatus, 'suspended', 'but it is looked up anew')
  await cache.resolve('unknown')
  assert.equal(cache.knows('unknown'), false)
})
