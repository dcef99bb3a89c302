import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { ConnectionLost } from '@atrium/traffic/database-errors'
import { ByShard } from './by-shard.ts'
import { TenantShards } from './tenant-shards.ts'

const half = new TenantShards([-(2 ** 31), 0])
const tenants = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
const [low = [], high = []] = [0, 1].map((shard) => tenants.filter((tenant) => half.shardOf(tenant) === shard))

test('on one PostgreSQL all tenants share a call, and its error is thrown', async () => {
  const calls: string[][] = []
  const byShard = new ByShard(new TenantShards())
  const { results } = await byShard.run(tenants, async (ids) => calls.push(ids))
  assert.deepEqual([calls, results], [[tenants], [1]])
  await assert.rejects(
    byShard.run(tenants, () => Promise.reject(new Error('no'))),
    { message: 'no' },
  )
})

test('the tenants of each shard share a call, and a shard that fails fails no other', async () => {
  assert.ok(low.length > 0 && high.length > 0)
  const byShard = new ByShard(half, { patienceMs: 1_000, pauseMs: 20 })
  let calls = 0
  const work = async (ids: string[]) => {
    if (ids.includes(low[0]!) && calls++ === 0) throw new Error('down')
    return ids
  }
  // The second time it is left out.
  for (let n = 0; n < 2; n++) {
    const { results, failed } = await byShard.run(tenants, work)
    assert.deepEqual([results, [...failed.keys()], calls], [[high], low, 1])
    assert.match(String(failed.get(low[0]!)), /down/)
  }
  await delay(40)
  const again = await byShard.run(tenants, work)
  assert.deepEqual([again.results.flat().toSorted(), again.failed.size], [tenants, 0])
})

test('a shard that hangs is left behind and left out until it answers, and then takes part again', async () => {
  const byShard = new ByShard(half, { patienceMs: 20, pauseMs: 0 })
  let answer: ((ids: string[]) => void) | undefined
  let calls = 0
  const work = (ids: string[]) => {
    if (!ids.includes(low[0]!)) return Promise.resolve(ids)
    calls++
    return new Promise<string[]>((resolve) => (answer = resolve))
  }
  for (let n = 0; n < 3; n++) {
    const { results, failed } = await byShard.run(tenants, work)
    assert.deepEqual([results, [...failed.keys()], calls], [[high], low, 1])
  }
  answer?.(low)
  await new Promise(setImmediate)
  const again = await byShard.run(tenants, (ids) => Promise.resolve(ids))
  assert.deepEqual([again.results.flat().toSorted(), again.failed.size], [tenants, 0])
})

test('a shard whose node has failed is tried without anybody waiting, after growing pauses', async () => {
  const byShard = new ByShard(half, { patienceMs: 1_000, pauseMs: 20 })
  let answer: ((ids: string[]) => void) | undefined
  let calls = 0
  const work = (ids: string[]) => {
    if (!ids.includes(low[0]!)) return Promise.resolve(ids)
    if (++calls <= 2) return Promise.reject(new ConnectionLost('down'))
    return new Promise<string[]>((resolve) => (answer = resolve))
  }
  const run = async () => {
    const { results, failed } = await byShard.run(tenants, work)
    assert.deepEqual([results, [...failed.keys()]], [[high], low])
    assert.match(String(failed.get(low[0]!)), /down|in time/)
  }
  await run()
  for (const [afterMs, called] of [
    [0, 1],
    [30, 2],
    [30, 2],
    [30, 3],
  ] as const) {
    await delay(afterMs)
    const startedAt = performance.now()
    await run()
    assert.ok(performance.now() - startedAt < 500)
    assert.equal(calls, called)
  }
  answer?.(low)
  await new Promise(setImmediate)
  const again = await byShard.run(tenants, (ids) => Promise.resolve(ids))
  assert.deepEqual([again.results.flat().toSorted(), again.failed.size], [tenants, 0])
})

test('while shards do not answer, the work on others goes on, and they are tried again one at a time', async () => {
  const eight = new TenantShards(Array.from({ length: 8 }, (_, n) => n * 2 ** 29 - 2 ** 31))
  const ids = Array.from({ length: 200 }, (_, n) => `tenant ${n}`)
  const [healthy = 0, ...frozen] = [...eight.group(ids).keys()]
  assert.equal(frozen.length, 7)
  const byShard = new ByShard(eight, { patienceMs: 50, pauseMs: 20 })
  const hanging: ((error: Error) => void)[] = []
  const work = (some: string[]) =>
    eight.shardOf(some[0]!) === healthy ? Promise.resolve(some) : new Promise<string[]>((_, reject) => void hanging.push(reject))
  const run = async () => {
    const { results, failed } = await byShard.run(ids, work)
    assert.deepEqual([new Set(results.flat().map((id) => eight.shardOf(id))), failed.size > 100], [new Set([healthy]), true])
  }
  await run()
  assert.equal(hanging.length, 7)
  for (const fail of hanging.splice(0)) fail(new ConnectionLost('no answer'))
  await delay(30)
  for (let n = 0; n < 3; n++) await run()
  assert.equal(hanging.length, 1)
  await delay(60)
  hanging.splice(0)[0]?.(new ConnectionLost('no answer'))
  await delay(60)
  await run()
  assert.equal(hanging.length, 0, 'there is a pause after one without an answer')
})
