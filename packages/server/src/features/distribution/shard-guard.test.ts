import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { ConnectionLost } from '@atrium/traffic/database-errors'
import { OutcomeUnknown, Overloaded } from '@atrium/traffic/overloaded'
import { hashText } from '@atrium/traffic/shards'
import { startVirtualTime } from '#testing/virtual-time.ts'
import { ShardGuard } from './shard-guard.ts'
import { TenantShards } from './tenant-shards.ts'

after(startVirtualTime())

const half = new TenantShards([-(2 ** 31), 0])
const tenants = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
const [low = '', high = ''] = [0, 1].map((shard) => tenants.find((tenant) => half.shardOf(tenant) === shard))
const down = () => Promise.reject(new ConnectionLost('down'))
const up = () => Promise.resolve('up')
/** As long as a node has to be silent to count as one that hangs. */
const hang = () => delay(1_100).then(down)
const startsOf = (count: number) => Array.from({ length: count }, (_, n) => Math.round((n * 2 ** 32) / count) - 2 ** 31)
const cut = (count: number) => new TenantShards(startsOf(count))
/** A tenant of each shard. */
const oneOfEach = (shards: TenantShards) =>
  [...shards.group(Array.from({ length: 1_000 }, (_, n) => `tenant ${n}`)).values()].map(([tenant = '']) => tenant)

test('a shard that has failed is left alone for a while, and others are not', async () => {
  const guard = new ShardGuard(half)
  assert.deepEqual(guard.closed(), { firsts: [], lasts: [] })
  await assert.rejects(guard.run(low, down), { message: 'down' })
  await assert.rejects(guard.run(low, up), { message: 'down' })
  assert.equal(await guard.run(high, up), 'up')
  const { firsts, lasts } = guard.closed()
  assert.deepEqual([firsts, lasts], [[-(2 ** 31)], [-1]])
  assert.ok(hashText(low) <= -1 && hashText(high) > -1)
  await delay(300)
  assert.equal(await guard.run(low, up), 'up')
  assert.deepEqual(guard.closed(), { firsts: [], lasts: [] })
})

test('an error of one tenant or of this process closes nothing, and one of a node does, whatever it is wrapped in', async () => {
  const withCode = (code: string) => Object.assign(new Error(code), { code })
  // A constraint, a value, a lock, a deadlock, a conflict, a plan that is outdated, too few connections in this process.
  const others = ['23514', '22021', '55P03', '40P01', '40001', '26000'].map(withCode)
  for (const error of [...others, new Overloaded('no connection'), new Error('a bug')]) {
    const guard = new ShardGuard(half)
    await assert.rejects(
      guard.run(low, () => Promise.reject(error)),
      error,
    )
    assert.equal(await guard.run(low, up), 'up', error.message)
  }
  const faults = ['ECONNREFUSED', '08006', '57P01', '57014'].map(withCode)
  for (const error of [...faults, new OutcomeUnknown(new ConnectionLost('cut'))]) {
    const guard = new ShardGuard(half)
    await assert.rejects(guard.run(low, () => Promise.reject(error)))
    await assert.rejects(guard.run(low, up), error, error.message)
    assert.equal(guard.closed().firsts.length, 1)
  }
})

test('a shard that does not answer holds two statements, and those that wait fail with the first', async () => {
  const guard = new ShardGuard(half)
  let begun = 0
  let fail: (error: Error) => void = () => undefined
  const hang = () => {
    begun++
    return new Promise<string>((_, reject) => (fail = reject))
  }
  const outcomes = Array.from({ length: 5 }, () => guard.run(low, hang).catch((error: Error) => error.message))
  assert.equal(await guard.run(high, up), 'up')
  assert.equal(begun, 2)
  fail(new ConnectionLost('down'))
  assert.deepEqual(await Promise.all([outcomes[1], ...outcomes.slice(2)]), ['down', 'down', 'down', 'down'])
  assert.equal(begun, 2)
})

test('on one PostgreSQL nothing waits, and nothing is left alone', async () => {
  const guard = new ShardGuard(new TenantShards())
  for (let n = 0; n < 3; n++) await assert.rejects(guard.run(low, down))
  assert.deepEqual(guard.closed(), { firsts: [], lasts: [] })
  assert.equal(await guard.run(low, up), 'up')
})

test('a coordinator without a free connection closes nothing, and is not asked again at once', async () => {
  const guard = new ShardGuard(half)
  const full = Object.assign(new Error('too many clients'), { code: '53300' })
  for (const error of [full, new OutcomeUnknown(full)]) {
    const startedAt = performance.now()
    await assert.rejects(
      guard.run(low, () => Promise.reject(error)),
      error,
    )
    assert.ok(performance.now() - startedAt > 240)
    assert.equal(await guard.run(low, up), 'up')
  }
})

test('an outage of a shard is logged once, and its end once, however much work fails', async () => {
  const lines: string[] = []
  const log = {
    error: (_: object, line: string) => void lines.push(line),
    info: (_: object, line: string) => void lines.push(line),
  }
  const guard = new ShardGuard(half, log)
  const failures: unknown[] = []
  for (let n = 0; n < 3; n++) {
    const work = Array.from({ length: 5 }, () => guard.run(low, down).catch((error: unknown) => failures.push(error)))
    await Promise.all(work)
    await delay(300)
  }
  assert.deepEqual([failures.length, lines], [15, ['a shard of the cluster has failed; work on it waits']])
  assert.ok(failures.every((error) => guard.hasLogged(error)))
  assert.equal(guard.hasLogged(new ConnectionLost('of the coordinator')), false)
  await delay(700)
  for (let n = 0; n < 2; n++) assert.equal(await guard.run(low, up), 'up')
  assert.deepEqual(lines.slice(1), ['a shard of the cluster is back'])
})

test('of the shards of a node that hangs, one is tried at a time, and all others are open', async () => {
  const [healthy = '', ...frozen] = oneOfEach(cut(8))
  assert.equal(frozen.length, 7)
  const guard = new ShardGuard(cut(8))
  await Promise.all(frozen.map((tenant) => assert.rejects(guard.run(tenant, hang))))
  assert.equal(guard.closed().firsts.length, 7)
  await delay(300)
  assert.equal(guard.closed().firsts.length, 0)
  const answer: (() => void)[] = []
  const wait = () => new Promise<string>((resolve) => void answer.push(() => resolve('up')))
  const tries = frozen.map((tenant) => guard.run(tenant, wait).catch((error: Error) => error.message))
  assert.equal(await guard.run(healthy, up), 'up')
  assert.deepEqual([answer.length, guard.closed().firsts.length], [1, 7])
  for (const one of answer.splice(0)) one()
  assert.deepEqual((await Promise.all(tries)).toSorted(), ['down', 'down', 'down', 'down', 'down', 'down', 'up'])
  assert.equal(guard.closed().firsts.length, 0)
})

test('after a shard had no answer when it was tried again, there is a pause for all of its node', async () => {
  const guard = new ShardGuard(half)
  await Promise.all([low, high].map((tenant) => assert.rejects(guard.run(tenant, hang))))
  await delay(300)
  await assert.rejects(guard.run(low, hang))
  assert.equal(guard.closed().firsts.length, 2)
  await assert.rejects(guard.run(high, up), { message: 'down' })
})

test('of two nodes that hang, each is tried as often as if it were the only one', async () => {
  const guard = new ShardGuard(new TenantShards([-(2 ** 31), 0], [0, 1]))
  await Promise.all([low, high].map((tenant) => assert.rejects(guard.run(tenant, hang))))
  await delay(300)
  const tried = assert.rejects(guard.run(low, hang))
  assert.deepEqual(guard.closed().firsts, [-(2 ** 31)])
  await tried
  // The other node is back, and is not kept waiting by the pause of the first one.
  assert.equal(await guard.run(high, up), 'up')
})

test('while a node hangs, the shards of another that failed at once are open as soon as it is back', async () => {
  const guard = new ShardGuard(cut(32))
  const tenants = oneOfEach(cut(32))
  assert.equal(tenants.length, 32)
  const [frozen, failed] = [tenants.slice(0, 16), tenants.slice(16)]
  const ending = new AbortController()
  const load = frozen.map(async (tenant) => {
    while (!ending.signal.aborted) {
      await guard.run(tenant, hang).catch(() => undefined)
      await delay(50)
    }
  })
  await delay(1_200)
  // From now on, one of the frozen shards is tried, or all wait.
  for (let n = 0; n < 2; n++) {
    await Promise.all(failed.map((tenant) => assert.rejects(guard.run(tenant, down))))
    await Promise.all(failed.map((tenant) => assert.rejects(guard.run(tenant, up))))
    await delay(n === 0 ? 300 : 550)
  }
  const results = await Promise.all(failed.map((tenant) => guard.run(tenant, up)))
  assert.deepEqual(new Set(results), new Set(['up']))
  assert.ok(guard.closed().firsts.length <= 16)
  ending.abort()
  await Promise.all(load)
})

test('a shard that failed at once, and hangs when it is tried, is tried by one statement and then waits with the others', async () => {
  const guard = new ShardGuard(half)
  for (const tenant of [low, high]) await assert.rejects(guard.run(tenant, down))
  await delay(300)
  let begun = 0
  const tries = Array.from({ length: 3 }, () => guard.run(low, () => (begun++, hang())).catch(() => undefined))
  assert.equal(await guard.run(high, up), 'up')
  await Promise.all(tries)
  assert.equal(begun, 1)
  // Its own pause is 500 ms.
  await delay(700)
  assert.deepEqual(guard.closed().firsts, [-(2 ** 31)])
})

test('a statement that takes too long closes its shard only if the node has not done later work', async () => {
  const timeout = Object.assign(new Error('statement timeout'), { code: '57014' })
  const [first = '', second = '', third = ''] = oneOfEach(cut(3))
  // The first two shards are on one node.
  const guard = new ShardGuard(new TenantShards(startsOf(3), [0, 0, 1]))
  const slow = async (meanwhile: string) => {
    await assert.rejects(
      guard.run(first, async () => {
        await delay(2)
        await guard.run(meanwhile, up)
        throw timeout
      }),
      timeout,
    )
    return guard.closed().firsts.length
  }
  assert.equal(await slow(second), 0)
  assert.equal(await guard.run(first, up), 'up')
  await delay(2)
  assert.equal(await slow(third), 1, 'another node has answered')
  await delay(300)
  // It tests whether the shard is back, and is too slow again. After that, nothing is tested any more.
  assert.equal(await slow(second), 0)
  assert.deepEqual(await Promise.all([guard.run(first, up), guard.run(first, up)]), ['up', 'up'])
})
