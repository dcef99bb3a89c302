import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { MemoryRateLimiter } from '@atrium/traffic/memory-rate-limiter'
import { passesOnce, startLoopClock } from '#testing/busy-machine.ts'
import { startRedisCluster, type RedisCluster } from '#testing/rate-limits/redis-cluster.ts'
import { skipWithoutRedis } from '../../../../../tests/support/redis-process.ts'
import { GuardedRateLimiter } from './guarded-rate-limiter.ts'
import { RedisCounter } from './redis-counter.ts'

const policy = { name: 'test', perSecond: 0.001, burst: 50 }

describe('a Redis Cluster', { skip: skipWithoutRedis }, () => {
  let cluster: RedisCluster
  let folder: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atrium-redis-'))
    cluster = await startRedisCluster(folder)
  })

  after(async () => {
    await cluster?.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function open(t: TestContext, urls: string[]) {
    const counter = new RedisCounter({ urls, onState: () => undefined })
    const limiter = new GuardedRateLimiter(counter, new MemoryRateLimiter())
    t.after(() => limiter.close())
    await until(() => counter.usable, 'it is used')
    return { counter, limiter }
  }

  async function until(isTrue: () => boolean, what: string): Promise<void> {
    for (let waitedMs = 0; !isTrue(); waitedMs += 10) {
      assert.ok(waitedMs < 30_000, what)
      await delay(10)
    }
  }

  async function allowed(limiter: GuardedRateLimiter, tenant: string, times: number): Promise<number> {
    let passed = 0
    const checks = [`t:${tenant}`, `s:key-of-${tenant}`].map((key) => ({ key, policy }))
    for (let i = 0; i < times; i++) if ((await limiter.take(checks)).allowed) passed++
    return passed
  }

  test('counts for several processes together, each of which knows another node', async (t) => {
    const both = await Promise.all([open(t, cluster.urls.slice(0, 1)), open(t, cluster.urls.slice(1, 2))])
    for (const tenant of ['a', 'b', 'c', 'd'])
      // An answer that comes late, on a busy machine, is replaced by the count of one process.
      await passesOnce(async (n) => {
        let passed = 0
        for (const { counter, limiter } of both) {
          await until(() => counter.usable, 'it is used')
          passed += await allowed(limiter, `${tenant}${n}`, 30)
        }
        assert.equal(passed, policy.burst, tenant)
      })
  })

  test('has the subjects on all of its nodes', async (t) => {
    const { counter, limiter } = await open(t, cluster.urls)
    await passesOnce(async (n) => {
      await until(() => counter.usable, 'it is used')
      for (let i = 0; i < 60; i++) assert.equal(await allowed(limiter, `spread-${n}-${i}`, 1), 1)
      for (const keys of await cluster.keysPerNode()) assert.ok(keys >= 20, `${keys} keys on a node, of 120`)
    })
  })

  test('loses a node: nobody is refused for that, few requests wait, and it is used again when the node is back', async (t) => {
    const { counter, limiter } = await open(t, cluster.urls)
    await cluster.kill(1)
    // A request waits for 100 ms, by a timer of this process.
    const now = startLoopClock(t)
    let slowestMs = 0
    for (let i = 0; i < 200; i++) {
      const askedAt = now()
      assert.equal(await allowed(limiter, `killed-${i}`, 1), 1)
      slowestMs = Math.max(slowestMs, now() - askedAt)
    }
    assert.ok(slowestMs < 400, `${slowestMs} ms`)
    assert.equal(counter.usable, false)
    await cluster.restart(1)
    await until(() => counter.usable, 'it is used again')
    // Only the cluster knows of these: this limiter counted none of them.
    const other = await open(t, cluster.urls.slice(2))
    await passesOnce(async (n) => {
      await until(() => other.counter.usable && counter.usable, 'both are used')
      assert.equal(await allowed(other.limiter, `after${n}`, 60), policy.burst)
      assert.equal(await allowed(limiter, `after${n}`, 1), 0)
    })
  })
})
