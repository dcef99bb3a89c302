import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionLost } from '@atrium/traffic/database-errors'
import { Registry } from 'prom-client'
import { TenantShards } from '#features/distribution/tenant-shards.ts'
import { startVirtualTime } from '#testing/virtual-time.ts'
import { RequestLog } from './request-log.ts'

/** A log whose statements fail for these tenants, and what it wrote of each tenant. `onWrite` runs during each statement. */
function openLog(tenantShards: TenantShards, failing: Set<string>, onWrite: () => void = () => undefined) {
  const written = new Map<string, number>()
  const query = async (_: unknown, { 0: tenantIds, 5: requests }: [string[], ...number[][]]) => {
    onWrite()
    if (tenantIds.some((id) => failing.has(id))) throw new ConnectionLost('database away')
    for (const [i, id] of tenantIds.entries()) written.set(id, (written.get(id) ?? 0) + (requests?.[i] ?? 0))
    return []
  }
  const registry = new Registry()
  const errors: unknown[] = []
  const log = new RequestLog({
    db: { query },
    tenantShards,
    registry,
    days: 7,
    onError: (error) => errors.push(error),
  })
  const note = (tenantId: string, count: number) => {
    for (let n = 0; n < count; n++) {
      const fields = { method: 'GET', path: '/tenant', status: 200, code: null, keyId: 'key_x', durationMs: 1, origin: null }
      log.note({ tenantId, requestId: `req_${n}`, at: 1_000 * n, ...fields })
    }
  }
  const count = async (name: string) =>
    (await registry.getSingleMetric(`atrium_request_log_${name}_total`)!.get()).values[0]!.value
  return { log, written, errors, note, count }
}

test('what is over the bound is dropped and counted, and a failed batch is written later', async () => {
  const failing = new Set(['ten_x'])
  const { log, written, errors, note, count } = openLog(new TenantShards(), failing)
  note('ten_x', 10_005)
  await log.flush()
  assert.deepEqual([errors.length, await count('failures')], [1, 1])
  assert.equal(await count('dropped'), 5)
  failing.clear()
  await log.close()
  assert.deepEqual([...written], [['ten_x', 10_000]])
})

test('a process that answers more requests in a second than may wait drops none while the database keeps up', async () => {
  const { log, written, note, count } = openLog(new TenantShards(), new Set())
  for (let part = 0; part < 8; part++) {
    note('ten_x', 2_500)
    // The statements of this log are answered at once.
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.equal(await count('dropped'), 0)
  await log.close()
  assert.deepEqual([...written], [['ten_x', 20_000]])
})

test('entries that arrive while others are written wait for the next write', async () => {
  let statements = 0
  const arrive = () => {
    if (statements++ < 10) note('ten_x', 1)
  }
  const { log, note } = openLog(new TenantShards(), new Set(), arrive)
  note('ten_x', 1)
  await log.flush()
  assert.equal(statements, 1)
  await log.close()
  assert.equal(statements, 2)
})

test('the entries for a node that is down leave room for those of other nodes', async () => {
  const shards = new TenantShards([-(2 ** 31), 0])
  const [lost, kept] = [0, 1].map((shard) => {
    for (let n = 0; ; n++) if (shards.shardOf(`ten_${n}`) === shard) return `ten_${n}`
  }) as [string, string]
  const { log, written, note, count } = openLog(shards, new Set([lost]))
  note(kept, 100)
  note(lost, 9_900)
  await log.flush()
  const left = 9_900 - (await count('dropped'))
  assert.ok(left <= 5_000 && left > 4_900, `${left}`)
  note(kept, 5_000)
  await log.close()
  assert.deepEqual([...written], [[kept, 5_100]])
})

test('entries that arrive while a node does not answer are not dropped in the place of its own', async () => {
  const shards = new TenantShards([-(2 ** 31), 0])
  const [lost, kept] = [0, 1].map((shard) => {
    for (let n = 0; ; n++) if (shards.shardOf(`ten_${n}`) === shard) return `ten_${n}`
  }) as [string, string]
  let statements = 0
  const arrive = () => {
    if (statements++ === 0) note(kept, 9_000)
  }
  const { log, written, note, count } = openLog(shards, new Set([lost]), arrive)
  note(lost, 100)
  await log.flush()
  assert.equal(await count('dropped'), 0)
  await log.close()
  assert.equal(written.get(kept), 9_000)
})

test('the last entries are written although their node has just failed, and a node that stays away ends the waiting', async (t) => {
  t.after(startVirtualTime())
  const shards = new TenantShards([-(2 ** 31), 0])
  for (const isBack of [true, false]) {
    const failing = new Set(['ten_x'])
    const { log, written, note } = openLog(shards, failing)
    note('ten_x', 10)
    await log.flush()
    if (isBack) failing.clear()
    const startedAt = performance.now()
    await log.close()
    const tookMs = performance.now() - startedAt
    assert.deepEqual([...written], isBack ? [['ten_x', 10]] : [])
    assert.ok(isBack ? tookMs < 1_500 : tookMs > 950 && tookMs < 2_500, `${tookMs} ms`)
  }
})
