import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test, type TestContext } from 'node:test'
import { createClient } from '@redis/client'
import type { RateCheck } from '@atrium/traffic/gcra'
import { MemoryRateLimiter } from '@atrium/traffic/memory-rate-limiter'
import { startRedis } from '../../../../../tests/support/redis-process.ts'
import { GuardedRateLimiter } from './guarded-rate-limiter.ts'
import { RedisCounter } from './redis-counter.ts'
import { startLoopClock } from '#testing/busy-machine.ts'
import { allow, startFakeRedis, type Behaviour } from '#testing/rate-limits/fake-redis.ts'
import { usedBytes } from '#testing/used-bytes.ts'

const policy = { name: 'test', perSecond: 50, burst: 100 }
const check = (key = 'a'): RateCheck => ({ key, policy })
/** What a request may be held up: it waits for 100 ms, by a timer of this process. */
const slowMs = 400

async function open(t: TestContext, url: string) {
  const states: string[] = []
  const counter = new RedisCounter({
    urls: [url],
    onState: (state, error) => states.push(error ? `${state}: ${error.message}` : state),
  })
  await counter.firstTry
  const limiter = new GuardedRateLimiter(counter, new MemoryRateLimiter())
  t.after(() => limiter.close())
  return { counter, limiter, states }
}

async function until(isTrue: () => boolean, what: string, withinMs = 30_000): Promise<void> {
  for (const began = performance.now(); !isTrue(); await new Promise((resolve) => setTimeout(resolve, 5)))
    assert.ok(performance.now() - began < withinMs, what)
}

/** One after the other; the slowest, and how many waited at all. */
async function ask(t: TestContext, limiter: GuardedRateLimiter, times: number) {
  const now = startLoopClock(t)
  let slowest = 0
  let waited = 0
  for (let i = 0; i < times; i++) {
    const askedAt = now()
    const decision = await limiter.take([check(`k${i}`)])
    assert.equal(decision.allowed, true, 'nobody is refused for want of Redis')
    assert.ok(Number.isFinite(decision.resetMs) && decision.resetMs >= 0 && Number.isInteger(decision.remaining))
    const ms = now() - askedAt
    slowest = Math.max(slowest, ms)
    if (ms > 50) waited++
  }
  return { slowest, waited }
}

const faults: [string, Behaviour][] = [
  ['says nothing', () => undefined],
  ['answers after 150 ms', (socket) => void setTimeout(() => allow(socket, ''), 150).unref()],
  ['resets the connection', (socket) => void socket.resetAndDestroy()],
  ['closes the connection', (socket) => void socket.end()],
  ['answers with an error', (socket) => void socket.write('-LOADING Redis is loading the dataset in memory\r\n')],
  ['answers with a word', (socket) => void socket.write('+OK\r\n')],
  ['answers with nothing', (socket) => void socket.write('_\r\n')],
  ['names a limit that was not asked for', (socket) => void socket.write('*4\r\n:1\r\n:9\r\n:5\r\n$2\r\n10\r\n')],
  ['says that none is left, for ever', (socket) => void socket.write('*4\r\n:0\r\n:1\r\n:0\r\n$3\r\ninf\r\n')],
  ['says that none is left, until no time', (socket) => void socket.write('*4\r\n:0\r\n:1\r\n:0\r\n$3\r\nnan\r\n')],
  ['says that none is left, until the past', (socket) => void socket.write('*4\r\n:0\r\n:1\r\n:0\r\n$4\r\n-100\r\n')],
  ['says that none is left, for a day', (socket) => void socket.write('*4\r\n:0\r\n:1\r\n:0\r\n$8\r\n86400000\r\n')],
  ['has minus five left', (socket) => void socket.write('*4\r\n:1\r\n:1\r\n:-5\r\n$2\r\n10\r\n')],
  ['speaks no RESP', (socket) => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ['answers twice', (socket) => void socket.write('*4\r\n:1\r\n:1\r\n:5\r\n$2\r\n10\r\n*4\r\n:1\r\n:1\r\n:5\r\n$2\r\n10\r\n')],
]

describe('a Redis that', () => {
  for (const [name, behaviour] of faults) {
    test(`${name} holds up few requests, and is used again when it works`, async (t) => {
      const redis = await startFakeRedis(allow)
      t.after(() => redis.close())
      const { counter, limiter } = await open(t, redis.url)
      await until(() => counter.usable, 'it is used')
      redis.behave(behaviour)
      const { slowest, waited } = await ask(t, limiter, 100)
      assert.ok(slowest < slowMs, `${slowest} ms`)
      assert.ok(waited <= 8, `${waited} requests waited`)
      assert.ok(redis.connections() <= 1, 'one connection at a time')
      redis.behave(allow)
      await until(() => counter.usable, 'it is used again')
    })
  }

  test('comes and goes is tried less and less often', async (t) => {
    // Lets a connection prove itself and breaks it with the next request.
    let evals = 0
    const redis = await startFakeRedis((socket, command) => {
      if (++evals % 4 === 0) socket.resetAndDestroy()
      else allow(socket, command)
    })
    t.after(() => redis.close())
    const { limiter } = await open(t, redis.url)
    const until3s = performance.now() + 3_000
    let asked = 0
    while (performance.now() < until3s) {
      await limiter.take([check(`k${asked++}`)])
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    assert.ok(redis.accepted() <= 7, `${redis.accepted()} connections in 3 s`)
  })
})

const redisServer = { skip: spawnSync('redis-server', ['--version']).error ? 'needs redis-server (Debian: redis-server)' : false }

describe('with a redis-server', redisServer, () => {
  test('what somebody wrote under a key refuses nobody for longer than the burst lasts', async (t) => {
    const redis = await startRedis()
    t.after(() => redis.kill())
    const { counter, limiter, states } = await open(t, redis.url)
    await until(() => counter.usable, 'it is used')
    const client = createClient({ url: redis.url })
    // The server ends before its client does.
    client.on('error', () => undefined)
    await client.connect()
    t.after(() => client.destroy())
    const future = String(Date.now() + 365 * 86_400_000)
    for (const value of ['inf', '-inf', 'nan', '-1', '1e300', 'no number', '', future]) {
      const key = `broken-${value}`
      await client.set(`atrium:rate:{${key}}`, value)
      const first = await limiter.take([check(key)])
      if (!first.allowed) await new Promise((resolve) => setTimeout(resolve, first.resetMs + 5))
      assert.ok(first.allowed || first.resetMs <= 21, `${value}: come back in ${first.resetMs} ms`)
      assert.equal((await limiter.take([check(key)])).allowed, true, value)
    }
    await client.lPush('atrium:rate:{list}', 'x')
    assert.equal((await limiter.take([check('list')])).allowed, true, 'a value of another type')
    assert.deepEqual(states, ['reachable'], 'and it was Redis that counted')
  })

  test('hung under load costs little time and no memory, and is used again when it wakes', async (t) => {
    const redis = await startRedis()
    t.after(() => redis.kill())
    const { counter, limiter } = await open(t, redis.url)
    await until(() => counter.usable, 'it is used')
    let waited = 0
    const take = (key: string) => {
      const decision = limiter.take([check(key)])
      if (decision instanceof Promise) waited++
      return decision
    }
    const volley = async (count: number) => {
      for (let i = 0; i < count; i += 200)
        await Promise.all(Array.from({ length: 200 }, async (_, k) => take(`k${(i + k) % 5_000}`)))
    }
    await volley(10_000)
    process.kill(redis.pid, 'SIGSTOP')
    await volley(50_000)
    const before = usedBytes()
    waited = 0
    await volley(100_000)
    const grown = (usedBytes() - before) / 2 ** 20
    assert.ok(grown < 10, `${grown.toFixed(1)} MiB more are in use after 100,000 requests`)
    // 50 s without a breaker.
    assert.ok(waited < 1_000, `${waited} of 100,000 requests waited`)
    t.diagnostic(`100,000 requests: ${waited} waited, ${grown.toFixed(1)} MiB`)
    process.kill(redis.pid, 'SIGCONT')
    await until(() => counter.usable, 'it is used again')
    assert.equal((await limiter.take([check('again')])).allowed, true)
  })
})
