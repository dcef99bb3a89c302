import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { ConnectionLost } from '@atrium/traffic/database-errors'
import { HeldElsewhere, Overloaded } from '@atrium/traffic/overloaded'
import { startVirtualTime } from '#testing/virtual-time.ts'
import { ByShard } from './by-shard.ts'
import { TenantShards } from './tenant-shards.ts'

after(startVirtualTime())

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
  const byShard = new ByShard(half, { timeoutMs: 1_000, pauseMs: 300 })
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
  await delay(350)
  const again = await byShard.run(tenants, work)
  assert.deepEqual([again.results.flat().toSorted(), again.failed.size], [tenants, 0])
})

test('the other shards do not wait for a shard that hangs, which is left out until it answers', async () => {
  const byShard = new ByShard(half, { timeoutMs: 20, pauseMs: 0 })
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
  const byShard = new ByShard(half, { timeoutMs: 5_000, pauseMs: 300 })
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
    [350, 2],
    [400, 2],
    [350, 3],
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
  const byShard = new ByShard(eight, { timeoutMs: 50, pauseMs: 20 })
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

test('of two nodes that hang, each is tried as often as if it were the only one', async () => {
  const eight = new TenantShards(
    Array.from({ length: 8 }, (_, n) => n * 2 ** 29 - 2 ** 31),
    [0, 0, 0, 0, 1, 1, 1, 1],
  )
  const ids = Array.from({ length: 100 }, (_, n) => `tenant ${n}`)
  const byShard = new ByShard(eight, { timeoutMs: 50, pauseMs: 20 })
  const hanging: ((error: Error) => void)[] = []
  const tried: number[] = []
  const work = (some: string[]) => {
    tried.push(eight.nodeOf(eight.shardOf(some[0]!)))
    return new Promise<string[]>((_, reject) => void hanging.push(reject))
  }
  await byShard.run(ids, work)
  await delay(60)
  for (const fail of hanging.splice(0)) fail(new ConnectionLost('no answer'))
  tried.length = 0
  await delay(30)
  for (let n = 0; n < 3; n++) await byShard.run(ids, work)
  assert.deepEqual(tried.toSorted(), [0, 1])
  await delay(60)
  // One of them has no answer, and waits. The other is tried on its own.
  hanging[tried.indexOf(0)]?.(new ConnectionLost('no answer'))
  hanging[tried.indexOf(1)]?.(new Error('it is back'))
  tried.length = 0
  await delay(60)
  await byShard.run(ids, work)
  assert.ok(tried.length > 0 && tried.every((node) => node === 1), tried.join())
})

test('while a node hangs, the shards of another that failed at once take part again as soon as it is back', async () => {
  const many = new TenantShards(Array.from({ length: 32 }, (_, n) => n * 2 ** 27 - 2 ** 31))
  const ids = Array.from({ length: 1_000 }, (_, n) => `tenant ${n}`)
  const shards = [...many.group(ids).keys()]
  assert.equal(shards.length, 32)
  const frozen = new Set(shards.slice(0, 16))
  const byShard = new ByShard(many, { timeoutMs: 50, pauseMs: 20 })
  const hanging: ((error: Error) => void)[] = []
  let isDown = true
  const work = (some: string[]) => {
    if (frozen.has(many.shardOf(some[0]!))) return new Promise<string[]>((_, reject) => void hanging.push(reject))
    return isDown ? Promise.reject(new ConnectionLost('down')) : Promise.resolve(some)
  }
  const shardsOf = (some: Iterable<string>) => new Set([...some].map((id) => many.shardOf(id))).size
  await byShard.run(ids, work)
  for (const fail of hanging.splice(0)) fail(new ConnectionLost('no answer'))
  isDown = false
  await delay(30)
  // These try all shards of the node that is back, and one of the other.
  await byShard.run(ids, work)
  const { results } = await byShard.run(ids, work)
  assert.deepEqual([shardsOf(results.flat()), hanging.length], [16, 1])
  await delay(60)
  hanging.splice(0)[0]?.(new ConnectionLost('no answer'))
  const again = await byShard.run(ids, work)
  assert.deepEqual([shardsOf(again.results.flat()), shardsOf(again.failed.keys()), hanging.length], [16, 16, 0])
})

test('while a shard is out, whether it fails at once or hangs, its tenants get the same error', async () => {
  for (const takesMs of [0, 80]) {
    const byShard = new ByShard(half, { timeoutMs: 50, pauseMs: 20 })
    const errors = new Set<unknown>()
    for (let n = 0; n < 8; n++) {
      const fail = () => delay(takesMs).then(() => Promise.reject(new ConnectionLost(`down ${n}`)))
      for (const error of (await byShard.run(low, fail)).failed.values()) errors.add(error)
      await delay(40)
    }
    assert.equal(errors.size, 1, [...errors].join())
    for (let isBack = false; !isBack; await delay(20)) isBack = (await byShard.run(low, async () => true)).results.length > 0
    for (const error of (await byShard.run(low, () => Promise.reject(new Error('again')))).failed.values()) errors.add(error)
    assert.equal(errors.size, 2)
  }
})

test('a shard that has hung is tried although the work on a healthy one takes long', async () => {
  const byShard = new ByShard(half, { timeoutMs: 50, pauseMs: 20 })
  await byShard.run(low, () => delay(60).then(() => Promise.reject(new ConnectionLost('no answer'))))
  let answer: ((ids: string[]) => void) | undefined
  await byShard.run(high, () => new Promise<string[]>((resolve) => (answer = resolve)))
  const up = (ids: string[]) => Promise.resolve(ids)
  await byShard.run(low, up)
  assert.deepEqual((await byShard.run(low, up)).results, [low])
  answer?.(high)
})

test('after a quiet time, the first call waits for a shard whose node is back, and briefly for one that is not', async () => {
  const byShard = new ByShard(half)
  const fail = () => byShard.run(low, () => Promise.reject(new ConnectionLost('down')))
  const up = (ids: string[]) => delay(20).then(() => ids)
  await fail()
  await delay(600)
  const early = await fail()
  assert.deepEqual([...early.failed.keys()], low)
  await delay(4_100)
  const startedAt = performance.now()
  const hung = await byShard.run(low, () => delay(900).then(() => Promise.reject(new ConnectionLost('down'))))
  const tookMs = performance.now() - startedAt
  assert.deepEqual([[...hung.failed.keys()], tookMs > 200 && tookMs < 850], [low, true], `${tookMs} ms`)
  await delay(5_000)
  const back = await byShard.run(low, up)
  assert.deepEqual([back.results, back.failed.size], [[low], 0])
})

test('a lack of connections does not count as an answer of a node that has failed', async () => {
  const withCode = (code: string) => Object.assign(new Error(code), { code })
  for (const [error, isWaitedFor] of [
    [withCode('53300'), false],
    [new Overloaded('no connection'), false],
    [new HeldElsewhere(), true],
    [withCode('23514'), true],
  ] as const) {
    const byShard = new ByShard(half, { timeoutMs: 1_000, pauseMs: 20 })
    for (const fault of [new ConnectionLost('down'), error]) {
      await byShard.run(low, () => Promise.reject(fault))
      await delay(60)
    }
    const { results } = await byShard.run(low, (ids) => Promise.resolve(ids))
    assert.equal(results.length === 1, isWaitedFor, error.message)
  }
})

test('a coordinator without a free connection is not asked again at once', async () => {
  const byShard = new ByShard(half, { timeoutMs: 1_000, pauseMs: 300 })
  const full = Object.assign(new Error('too many clients'), { code: '53300' })
  await byShard.run(low, () => Promise.reject(full))
  assert.equal((await byShard.run(low, (ids) => Promise.resolve(ids))).failed.get(low[0]!), full)
  await delay(350)
  assert.equal((await byShard.run(low, (ids) => Promise.resolve(ids))).results.length, 1)
})

test('work that takes too long counts as a failure of its node only if the node has not done later work', async () => {
  const timeout = Object.assign(new Error('statement timeout'), { code: '57014' })
  const up = (ids: string[]) => Promise.resolve(ids)
  for (const answersOthers of [true, false]) {
    const byShard = new ByShard(half, { timeoutMs: 1_000, pauseMs: 20 })
    const { failed } = await byShard.run(low, async () => {
      await delay(2)
      if (answersOthers) await byShard.run(high, up)
      throw timeout
    })
    assert.equal(failed.get(low[0]!), timeout)
    await delay(60)
    // Nobody waits for a shard whose node has failed.
    assert.equal((await byShard.run(low, up)).results.length === 1, answersOthers)
  }
})
