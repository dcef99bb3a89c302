import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startRedisCluster } from '../../packages/server/testing/rate-limits/redis-cluster.ts'
import { createTestDatabase } from '../../packages/server/testing/test-database.ts'
import { startAtrium } from '../support/atrium-process.ts'
import { call, makeTenant } from '../support/call-api.ts'
import { residentBytes } from '../support/process-memory.ts'
import { skipWithoutRedis } from '../support/redis-process.ts'

const outageMs = 15_000
const lost = 'Redis cannot be reached'
const found = 'rate limits are counted in Redis'

test(
  'while a node of a Redis Cluster is down, memory does not grow and no request is refused; afterwards Redis is used again',
  { skip: skipWithoutRedis, timeout: 120_000 },
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'atrium-redis-'))
    const cluster = await startRedisCluster(folder)
    const database = await createTestDatabase()
    const env = { ATRIUM_RATE_LIMIT: '1', REDIS_URL: cluster.urls.join(',') }
    const atrium = await startAtrium({ databaseUrl: database.url, env, role: 'api' })
    t.after(async () => {
      await atrium.end('SIGKILL')
      await cluster.close()
      await Promise.all([database.drop(), rm(folder, { recursive: true })])
    })
    const { secret: key } = await makeTenant(atrium.origin)
    const ask = async () => assert.equal((await call(atrium.origin, 'GET /v1/tenant', { key })).status, 200)
    const askFor = async (ms: number) => {
      for (const until = Date.now() + ms; Date.now() < until; await delay(50)) await Promise.all([ask(), ask(), ask()])
    }
    const countOf = (words: string) => atrium.output().split(words).length - 1
    const unreachable = async () => {
      const metrics = await (await fetch(`${atrium.origin}/metrics`)).text()
      return /^atrium_redis_unreachable\{role="api"\} (\d+)$/m.exec(metrics)?.[1]
    }
    const untilReachable = async (what: string) => {
      for (const deadline = Date.now() + 30_000; (await unreachable()) !== '0'; await askFor(100))
        assert.ok(Date.now() < deadline, what)
    }
    await askFor(5_000)
    await untilReachable('Redis is used')

    // A connection that a busy machine was late for counts too.
    const [losses, finds] = [countOf(lost), countOf(found)]
    assert.ok(finds > 0)
    const before = await residentBytes(atrium.pid)
    await cluster.kill(2)
    await askFor(outageMs)
    assert.deepEqual([countOf(lost) - losses, countOf(found) - finds], [1, 0])
    assert.equal(await unreachable(), '1')
    const grown = ((await residentBytes(atrium.pid)) - before) / 2 ** 20
    t.diagnostic(`${(before / 2 ** 20).toFixed(0)} MiB before, ${grown.toFixed(0)} MiB more after ${outageMs / 1_000} s`)
    // 200 MiB where each attempt to connect made the client's classes anew.
    assert.ok(grown < 60, `memory grew by ${grown.toFixed(0)} MiB`)

    await cluster.restart(2)
    for (const deadline = Date.now() + 30_000; countOf(found) === finds; await askFor(100))
      assert.ok(Date.now() < deadline, 'used again')
    await untilReachable('and reachable')
  },
)
