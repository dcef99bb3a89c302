import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import type { Context } from '#features/context.ts'
import { TenantShards } from '#features/distribution/tenant-shards.ts'
import { startVirtualTime } from '#testing/virtual-time.ts'
import { OutboxNumbering } from './outbox-numbering.ts'

after(startVirtualTime())

const shards = new TenantShards([-(2 ** 31), 0])
const makeTenants = (count: number) => Array.from({ length: count }, (_, n) => `ten_${String(n).padStart(3, '0')}`)

type Answers = Record<string, (values: any) => object[] | Promise<object[]>>

/** With a database that answers each statement so, by its name. */
function contextOf(answers: Answers): Context {
  const query = async ({ name }: { name: string }, values: unknown[]) => {
    await delay(1)
    return answers[name]!(values)
  }
  return { db: { query }, log: pino({ level: 'silent' }), tenantShards: shards, outbox: { isSpread: true } } as unknown as Context
}

const listAfter = (tenants: string[], after: string, limit: number) =>
  tenants
    .filter((id) => id > after)
    .slice(0, limit)
    .map((id) => ({ tenant_id: id }))

/**
 * Numbers for a while, as the worker does: it looks after each part and, because events are caused, every 50 ms. Each of
 * the tenants always has an event. Returns how often each was numbered.
 */
async function numberFor(ms: number, tenants: string[], failing?: string) {
  const rounds = new Map(tenants.map((id) => [id, 0]))
  const sizes: number[] = []
  const overlapping: string[] = []
  const running = new Set<number>()
  const answers: Answers = {
    'events-waiting': ([after, limit]: [string, number]) => listAfter(tenants, after, limit),
    'events-outbox': ([ids]: string[][]) => {
      sizes.push(ids!.length)
      const event = { slot: 0, id: 'evt', type: 'collection.updated', data: {}, created_at: '2026-01-01T00:00:00Z' }
      return ids!.flatMap((id) => [
        { tenant_id: id, last_sequence: 0, chain_sequence: 0, chain_hash: null, numbered_lately: false, position: null },
        { tenant_id: id, position: 1, ...event },
      ])
    },
    'events-number-spread': async ([ids]: string[][]) => {
      const shard = shards.shardOf(ids![0]!)
      if (running.has(shard)) overlapping.push(...ids!)
      running.add(shard)
      await delay(20)
      running.delete(shard)
      if (failing && ids!.includes(failing)) throw new Error('broken')
      for (const id of ids!) rounds.set(id, (rounds.get(id) ?? 0) + 1)
      return [{ given: ids!.length, queued: 0 }]
    },
  }
  const ctx = contextOf(answers)
  let isLooking = false
  let again = false
  let isOver = false
  const look = async () => {
    again = true
    if (isLooking) return
    isLooking = true
    while (again && !isOver) {
      again = false
      if (await numbering.next()) again = true
    }
    isLooking = false
  }
  const numbering = new OutboxNumbering(ctx, () => void look())
  const timer = setInterval(() => {
    numbering.note('')
    void look()
  }, 50)
  await delay(ms)
  clearInterval(timer)
  isOver = true
  await numbering.finish()
  const ended = [...rounds.values()]
  await delay(60)
  assert.deepEqual([...rounds.values()], ended, 'nothing begins after the end')
  assert.ok(Math.max(...sizes) <= 50)
  assert.deepEqual(overlapping, [])
  return rounds
}

test('tenants that always have events are numbered in turn, whatever their ids', async () => {
  const counts = [...(await numberFor(2_000, makeTenants(120))).values()]
  const [least, most] = [Math.min(...counts), Math.max(...counts)]
  assert.ok(least >= 10 && most <= 2 * least, `${least} to ${most} rounds`)
})

test('a tenant whose events cannot be numbered does not keep those with higher ids from their turn', async () => {
  const tenants = makeTenants(400)
  const failing = tenants[0]!
  const rounds = await numberFor(2_500, tenants, failing)
  const others = tenants.slice(50, 200).filter((id) => shards.shardOf(id) === shards.shardOf(failing))
  assert.ok(others.length > 50)
  assert.deepEqual(
    others.filter((id) => rounds.get(id) === 0),
    [],
  )
})

test('while all shards are busy, a look ends after the last tenant', async () => {
  let answer: () => void = () => undefined
  const answered = new Promise<object[]>((resolve) => (answer = () => resolve([])))
  const ctx = contextOf({
    'events-waiting': ([after, limit]: [string, number]) => listAfter(makeTenants(100), after, limit),
    'events-outbox': () => answered,
  })
  const numbering = new OutboxNumbering(ctx, () => undefined)
  assert.deepEqual([await numbering.next(), await numbering.next(), await numbering.next()], [true, true, false])
  const finished = numbering.finish()
  answer()
  await finished
})

test('a tenant that a wake-up names is numbered without a search, and a lost connection asks for one', async () => {
  const calls: string[] = []
  const ctx = contextOf({
    'events-waiting': () => {
      calls.push('search')
      return []
    },
    'events-outbox': ([ids]: string[][]) => {
      calls.push(`read ${ids!.join()}`)
      return []
    },
  })
  const numbering = new OutboxNumbering(ctx, () => undefined)
  await numbering.next()
  for (const payload of ['ten_1', '-']) {
    numbering.note(payload)
    await numbering.next()
  }
  await numbering.finish()
  assert.deepEqual(calls, ['search', 'read ten_1'])
  numbering.forget()
  await delay(50)
  await numbering.next()
  assert.deepEqual(calls, ['search', 'read ten_1', 'search'])
})

test('a tenant that is named while it is being numbered is numbered again, without a search', async () => {
  const reads: string[] = []
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const event = { slot: 0, position: 1, id: 'evt', type: 'collection.updated', data: {}, created_at: '2026-01-01T00:00:00Z' }
  const ctx = contextOf({
    'events-waiting': () => [],
    'events-outbox': async ([ids]: string[][]) => {
      reads.push(...ids!)
      await gates[reads.length - 1]?.promise
      return ids!.flatMap((id) => [
        { tenant_id: id, last_sequence: 0, position: null },
        { tenant_id: id, ...event },
      ])
    },
    'events-number-spread': () => [{ given: 1, queued: 0 }],
  })
  const done = Promise.withResolvers<void>()
  const numbering = new OutboxNumbering(ctx, () => done.resolve())
  await numbering.next()
  numbering.note('ten_1')
  assert.equal(await numbering.next(), false)
  await delay(20)
  numbering.note('ten_1')
  assert.equal(await numbering.next(), false, 'it waits for the end of the first numbering')
  gates[0]!.resolve()
  await done.promise
  await numbering.next()
  await delay(20)
  assert.deepEqual(reads, ['ten_1', 'ten_1'])
  gates[1]!.resolve()
  await numbering.finish()
})
