import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { eventSpecs, type EventType } from '@atrium/contract/event-types'
import { canonicalJson } from '@atrium/sealing/proof'
import { statement, type Database, type Statement } from '#db/database.ts'
import { send } from '#testing/http.ts'
import { assertGapless, pullEvents, type PulledEvent } from '#testing/pull-events.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { forgetOldEvents } from '../webhooks/delivery-store.ts'
import { hashContent } from './chain.ts'
import { numberEvents, numberFreeEvents } from './numbering-store.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

const query = (text: string, values: unknown[]) => api.ctx.db.pool.query(text, values)
const pull = (tenant: TestTenant) => pullEvents(api, tenant)
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')

let written = 0
const write = (tenant: TestTenant, count: number, data: object = {}) =>
  query(
    `insert into event_outbox (tenant_id, id, type, data)
     select $1, 'evt_' || lpad((n + $2)::text, 22, '0'), 'item.deleted', $4 from generate_series(1, $3) n`,
    [tenant.id, (written += 10_000), count, JSON.stringify(data)],
  )

/** As docs/guides/event-chain.md defines the form, without the code under test. */
function assertChain(events: PulledEvent[], start: string | null = null): void {
  let end = start
  for (const { hash, prev_hash, ...content } of events) {
    assert.equal(prev_hash, end, `event ${content.sequence} follows the one before`)
    assert.equal(hash, sha256(Buffer.from((prev_hash ?? '0'.repeat(64)) + sha256(canonicalJson(content)), 'hex')))
    end = hash
  }
}

const previousStatement = statement<never>('test-number-outbox', 'select given from number_outbox($1, 3)', { writes: true })

/** The database, with something done before each statement of that name. */
function meddling(name: string, before: () => Promise<unknown>): Database {
  const { db } = api.ctx
  return {
    ...db,
    query: async <Row>(statement: Statement<Row>, values: unknown[]) => {
      if (statement.name === name) await before()
      return db.query(statement, values)
    },
  }
}

test('the content is hashed in the form of RFC 8785, for every type of event and any data', () => {
  const odd = { ä: 1, b: 'é\u{1f600}\u0007"\\/\u2028\u007f', A: [null, true, { z: -0, y: 1e21 }], a_: 0.1, ab: {} }
  const examples = Object.entries(eventSpecs).map(([type, { example }]) => [type, example as object] as const)
  for (const [type, data] of [...examples, ['item.created', odd] as const]) {
    const event = { id: 'evt_1', type: type as EventType, tenantId: 'ten_1', sequence: 7, createdAt: '2026-11-23T00:00:00.000Z' }
    const content = { id: 'evt_1', type, tenant_id: 'ten_1', sequence: 7, created_at: event.createdAt, data }
    assert.equal(hashContent({ ...event, data: data as Record<string, unknown> }), sha256(canonicalJson(content)), type)
  }
})

test('pull and list of hashes show one chain, from the first event of a tenant', async () => {
  const tenant = await api.makeTenant()
  await write(tenant, 250, { item_id: 'é\u0001', b: 2, a: 1 })
  const events = await pull(tenant)
  assert.equal(events.length, 252)
  assertGapless(events)
  assertChain(events)
  const listed = await send(api, 'GET', '/events/hashes?after=10&limit=200', { key: tenant.secretKey })
  assert.deepEqual(
    listed.body.data,
    events.slice(10, 210).map(({ hash, prev_hash, ...content }) => {
      return { sequence: content.sequence, type: content.type, prev_hash, content_hash: sha256(canonicalJson(content)), hash }
    }),
  )
  assert.doesNotMatch(listed.text, /item_id|evt_|created_at/)
  const other = await api.makeTenant()
  assert.equal((await send(api, 'GET', '/events/hashes', { key: other.secretKey })).body.data.length, 2)
})

test('events that the previous release numbers get their hashes with the next one, and at a pull', async () => {
  const tenant = await api.makeTenant()
  const previous = async (count: number) => {
    await write(tenant, count)
    while ((await query('select given from number_outbox($1, 500)', [[tenant.id]])).rows[0]!['given'] === 500);
  }
  // From before the upgrade: they stay without, and the chain begins after them.
  await previous(3)
  assert.ok((await pull(tenant)).every(({ hash, prev_hash }) => hash === null && prev_hash === null))
  await write(tenant, 1)
  const [first] = (await pull(tenant)).slice(-1)
  assert.deepEqual([first!.sequence, first!.prev_hash], [6, null])
  // While it runs, and after it was rolled back for a while: more than a batch.
  await previous(1_100)
  await write(tenant, 2)
  const events = await pull(tenant)
  assertGapless(events)
  assertChain(events.slice(5))
  await previous(1)
  assertChain((await pull(tenant)).slice(5))
})

test('many processes of both releases number at the same time: no gap, no repeat, one chain', async () => {
  const tenant = await api.makeTenant()
  await pull(tenant)
  const number = async (one: () => Promise<unknown>) => {
    for (let n = 0; n < 10; n++) await one()
  }
  const { db } = api.ctx
  await Promise.all([
    number(() => write(tenant, 20)),
    number(() => write(tenant, 20)),
    ...Array.from({ length: 4 }, () => number(() => numberEvents(db, [tenant.id], 7))),
    ...Array.from({ length: 2 }, () => number(() => numberFreeEvents(db, [tenant.id], 7))),
    number(() => db.query(previousStatement, [[tenant.id]])),
  ])
  const events = await pull(tenant)
  assert.equal(events.length, 402)
  assertGapless(events)
  assertChain(events)
})

test('what others do between the read and the write forks nothing, and leaves no gap', async () => {
  const { db } = api.ctx
  const [tenant, busy, going] = [await api.makeTenant(), await api.makeTenant(), await api.makeTenant()]
  const tenants = [tenant, busy, going]
  for (const one of tenants) await pull(one)
  for (const one of tenants) await write(one, 3)
  const killed = meddling('events-number', () => Promise.reject(new Error('killed')))
  await assert.rejects(numberEvents(killed, [tenant.id], 500), { message: 'killed' })
  let done = false
  const meddle = meddling('events-number', async () => {
    if (done) return
    done = true
    await write(busy, 2)
    await numberEvents(db, [busy.id], 4)
    await query('delete from event_outbox where tenant_id = $1', [going.id])
  })
  assert.equal(
    await numberEvents(
      meddle,
      tenants.map(({ id }) => id),
      500,
    ),
    // Of the second round: the first one was rolled back, because events of a tenant were gone.
    4,
  )
  const counts = [5, 7, 2]
  for (const [i, one] of tenants.entries()) {
    const events = await pull(one)
    assert.equal(events.length, counts[i])
    assertGapless(events)
    assertChain(events)
  }
})

test('a backlog is numbered ahead: what comes in between, is lost or is numbered by others forks nothing', async () => {
  const { db } = api.ctx
  const [one, two, few] = [await api.makeTenant(), await api.makeTenant(), await api.makeTenant()]
  const tenants = [one, two, few]
  for (const tenant of tenants) await pull(tenant)
  await write(one, 50)
  await write(two, 35)
  await write(few, 3)
  const ids = tenants.map(({ id }) => id)
  // Each round numbers up to 10 of each. The first one reads and hashes the second one before it has committed.
  let rounds = 0
  const meddle = meddling('events-number', async () => {
    rounds += 1
    if (rounds === 1) await write(two, 4)
    if (rounds === 3) await numberEvents(db, [two.id], 1)
  })
  // In the third round, another process has numbered an event of one tenant: its ten are left, and the fourth is dropped.
  assert.equal(await numberFreeEvents(meddle, ids, 10), 10 + 10 + 3 + 20 + 10)
  assert.equal(rounds, 3)
  const killed = meddling('events-number', async () => {
    if (++rounds === 5) throw new Error('killed')
  })
  await assert.rejects(numberFreeEvents(killed, ids, 10), { message: 'killed' })
  while ((await numberFreeEvents(db, ids, 10)) >= 10);
  const counts = [52, 41, 5]
  for (const [i, tenant] of tenants.entries()) {
    const events = await pull(tenant)
    assert.equal(events.length, counts[i])
    assertGapless(events)
    assertChain(events)
  }
})

test('an event that commits late is numbered before those that were written after its commit', async () => {
  const { pool } = api.ctx.db
  const tenant = await api.makeTenant()
  await pull(tenant)
  const client = await pool.connect()
  try {
    await client.query('begin')
    const late = await client.query<{ id: string }>(
      `insert into event_outbox (tenant_id, id, type, data) values ($1, 'evt_' || lpad('1', 22, 'z'), 'item.deleted', '{}') returning id`,
      [tenant.id],
    )
    await write(tenant, 10)
    let commits = 0
    const meddle = meddling('events-outbox', async () => {
      // Before the second batch is read, while the first one is being numbered.
      if (++commits !== 2) return
      await client.query('commit')
      await write(tenant, 12)
    })
    while ((await numberFreeEvents(meddle, [tenant.id], 10)) >= 10);
    const events = await pull(tenant)
    assert.equal(events[12]!.id, late.rows[0]!.id)
    assertGapless(events)
    assertChain(events)
  } finally {
    client.release()
  }
})

test('of old events the earliest numbers go first, and the hash at the boundary stays', async () => {
  const tenant = await api.makeTenant()
  await write(tenant, 6)
  const events = await pull(tenant)
  const age = (sequences: number[]) =>
    query(`update events set created_at = now() - interval '31 days' where tenant_id = $1 and sequence = any ($2)`, [
      tenant.id,
      sequences,
    ])
  // Numbers 3 and 4 were written in that order, and 4 committed late, with the greater number but the earlier time.
  await age([1, 2, 4])
  assert.equal(await forgetOldEvents(api.ctx.db, 1), 1)
  assert.equal((await pull(tenant))[0]!.hash, events[1]!.hash)
  while ((await forgetOldEvents(api.ctx.db, 10)) === 10);
  const left = await pull(tenant)
  assert.deepEqual(left, events.slice(4))
  assertChain(left, events[3]!.hash)
  await age([5, 6, 7, 8])
  while ((await forgetOldEvents(api.ctx.db, 10)) === 10);
  assert.deepEqual(await pull(tenant), [])
  await write(tenant, 1)
  assertChain(await pull(tenant), events[7]!.hash)
})
