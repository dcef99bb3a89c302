import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { assertGapless, pullEvents } from '#testing/pull-events.ts'
import type { Database } from '#db/database.ts'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import type { BackupManifest } from '../backup/manifest.ts'
import { writeBackup } from '../backup/write-backup.ts'
import { recordEvent } from '../events/record-event.ts'
import { eraseBatch } from '../tenant-data/erase-store.ts'
import { forgetOldEvents } from '../webhooks/delivery-store.ts'
import { turnSlots } from './turn-slots.ts'

const days = { events: 30, requests: 7 }
let api: TestApi
let tenant: TestTenant

before(async () => {
  api = await startTestApi({ egress: 'loopback' })
})
after(() => api.close())

beforeEach(async () => {
  await query('truncate event_outbox, webhook_deliveries, partition_slots')
  await query(`select setval('event_outbox_slot', 0, false), setval('webhook_deliveries_slot', 0, false)`)
  tenant = await api.makeTenant()
  await pullEvents(api, tenant)
  await sweep()
})

const query = async (sql: string, values: unknown[] = []) => (await api.ctx.db.pool.query(sql, values)).rows
const sweep = () => turnSlots(api.ctx.db, days)

/** As if the slots had been opened and closed that much earlier. */
async function passTime(table: string, time: string): Promise<void> {
  await query(
    `update partition_slots set opened_at = opened_at - $2::interval, closed_at = closed_at - $2::interval where name = $1`,
    [table, time],
  )
}

async function turn(table: string, time: string): Promise<void> {
  await passTime(table, time)
  await sweep()
}

const writeEvent = (of = tenant) =>
  api.ctx.db.transaction((tx) => recordEvent(tx, of.id, 'item.deleted', { collection_id: 'col_1', item_id: 'itm_1' }))

async function writeDelivery(sequence: number, status = 'succeeded', of = tenant): Promise<void> {
  await query(
    `insert into webhook_deliveries (tenant_id, sequence, id, status, next_attempt_at)
     values ($1, $2::bigint, 'evt_' || $2::bigint, $3::text, case when $3::text = 'pending' then now() end)`,
    [of.id, sequence, status],
  )
}

const slotsOf = async (table: string) =>
  (await query(`select slot, count(*)::int as rows from ${table} group by slot order by slot`)).map(({ slot, rows }) => [
    slot,
    rows,
  ])

const openSlot = async (table: string) =>
  (await query(`select coalesce(pg_sequence_last_value('${table}_slot'), 0)::int as slot`))[0]!['slot']

test('events in several slots get their numbers in the order of writing, and their slots are emptied then', async () => {
  for (let n = 0; n < 3; n++) {
    await writeEvent()
    await writeEvent()
    await turn('event_outbox', '2 hours')
  }
  assert.deepEqual(await slotsOf('event_outbox'), [
    [0, 2],
    [1, 2],
    [2, 2],
  ])
  const positions = (await query('select position, slot from event_outbox order by position')).map(({ slot }) => slot)
  assert.deepEqual(positions, [0, 0, 1, 1, 2, 2])
  const ids = (await query('select id from event_outbox order by position')).map(({ id }) => id)
  assert.equal(await openSlot('event_outbox'), 2, 'a slot with rows does not become the open one')
  const events = await pullEvents(api, tenant)
  assertGapless(events)
  assert.deepEqual(
    events.slice(-6).map(({ id }) => id),
    ids,
  )
  await turn('event_outbox', '2 hours')
  assert.equal(await openSlot('event_outbox'), 0)
  assert.deepEqual(
    await query(`select slot from partition_slots where name = 'event_outbox' and opened_at is not null order by 1`),
    [{ slot: 0 }, { slot: 2 }],
  )
})

test('an event that nobody numbered for weeks is not removed', async () => {
  await writeEvent()
  for (let n = 0; n < 6; n++) await turn('event_outbox', '10 days')
  assert.deepEqual(await slotsOf('event_outbox'), [[0, 1]])
  assert.equal((await pullEvents(api, tenant)).at(-1)?.type, 'item.deleted')
})

test('a backup has the event that waited at its snapshot, although it was numbered and its slot was due before the copy', async () => {
  await writeEvent()
  const [{ events } = {}] = await query('select count(*)::int as events from events')
  let manifest: BackupManifest | undefined
  const archive = writeBackup({ databaseUrl: api.databaseUrl, onDone: (done) => (manifest = done) })
  await archive.next()
  await pullEvents(api, tenant)
  await turn('event_outbox', '2 hours')
  await turn('event_outbox', '2 minutes')
  await writeEvent()
  for await (const _ of archive);
  assert.deepEqual([manifest?.tables['event_outbox']?.rows, manifest?.tables['events']?.rows], [1, events])
  await sweep()
  assert.deepEqual(await slotsOf('event_outbox'), [[1, 1]])
  assert.deepEqual(
    await query('select slot from partition_slots where slot = 0 and opened_at is not null and name = $1', ['event_outbox']),
    [],
  )
})

test('deliveries are removed with their slot, after the retention and not before', async () => {
  for (let n = 0; n < 4; n++) {
    await writeDelivery(n)
    await turn('webhook_deliveries', '10 days')
  }
  await writeDelivery(4)
  // The slots were closed 30, 20, 10 and 0 days ago. The oldest is kept for an hour more.
  await sweep()
  assert.deepEqual(await slotsOf('webhook_deliveries'), [
    [0, 1],
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 1],
  ])
  await turn('webhook_deliveries', '61 minutes')
  assert.deepEqual(
    (await slotsOf('webhook_deliveries')).map(([slot]) => slot),
    [1, 2, 3, 4],
  )
  await turn('webhook_deliveries', '10 days')
  assert.equal(await openSlot('webhook_deliveries'), 0)
})

test('after a week without a sweep, one sweep empties what is due, and every write finds its slot', async () => {
  await writeDelivery(1)
  await turn('webhook_deliveries', '10 days')
  await passTime('webhook_deliveries', '90 days')
  await writeDelivery(2)
  await sweep()
  await writeDelivery(3)
  assert.deepEqual(await slotsOf('webhook_deliveries'), [
    [1, 1],
    [2, 1],
  ])
})

test('a clock that was set back by a year delays the removal, and neither stops it nor hastens it', async () => {
  await writeDelivery(1)
  await turn('webhook_deliveries', '10 days')
  await writeDelivery(2)
  await passTime('webhook_deliveries', '-1 year')
  await sweep()
  await writeDelivery(3)
  assert.deepEqual(await slotsOf('webhook_deliveries'), [
    [0, 1],
    [1, 2],
  ])
  await turn('webhook_deliveries', '31 days')
  assert.deepEqual(await slotsOf('webhook_deliveries'), [[1, 2]])
  assert.equal(await openSlot('webhook_deliveries'), 2)
})

test('a turn that was rolled back after the sequence moved is completed', async () => {
  await writeDelivery(1)
  await query(`select setval('webhook_deliveries_slot', 1)`)
  await writeDelivery(2)
  await sweep()
  assert.deepEqual(
    await query(
      `select slot from partition_slots where name = 'webhook_deliveries' and opened_at is not null and closed_at is not null`,
    ),
    [{ slot: 0 }],
  )
})

test('after a restore, slots with rows count as closed now', async () => {
  await writeDelivery(1)
  await turn('webhook_deliveries', '10 days')
  await query('truncate partition_slots')
  await sweep()
  await turn('webhook_deliveries', '29 days')
  assert.deepEqual(await slotsOf('webhook_deliveries'), [[0, 1]])
  await turn('webhook_deliveries', '2 days')
  assert.deepEqual(await slotsOf('webhook_deliveries'), [])
})

test('a slot that is being read is emptied by a later sweep, and writers do not wait', async () => {
  await writeDelivery(1)
  await turn('webhook_deliveries', '10 days')
  const reader = await api.ctx.db.pool.connect()
  try {
    await reader.query('begin; select from webhook_deliveries')
    await turn('webhook_deliveries', '31 days')
    assert.deepEqual(await slotsOf('webhook_deliveries'), [[0, 1]])
    await writeDelivery(2)
  } finally {
    await reader.query('commit')
    reader.release()
  }
  await sweep()
  assert.deepEqual(
    (await slotsOf('webhook_deliveries')).filter(([slot]) => slot === 0),
    [],
  )
})

test('a sweep that stood still does not empty a slot that another one has emptied and opened since', async () => {
  await writeDelivery(1)
  await turn('webhook_deliveries', '10 days')
  await passTime('webhook_deliveries', '31 days')
  const { db } = api.ctx
  const slow: Database = {
    ...db,
    query: async (stmt, values) => {
      const rows = await db.query(stmt, values)
      if (stmt.name === 'slots-expired' && values[0] === 'webhook_deliveries') {
        assert.deepEqual(rows, [{ slot: 0 }])
        for (let n = 0; n < 4; n++) await turn('webhook_deliveries', '31 days')
        assert.equal(await openSlot('webhook_deliveries'), 0)
        await writeDelivery(2)
      }
      return rows
    },
  }
  await turnSlots(slow, days)
  assert.deepEqual(await slotsOf('webhook_deliveries'), [[0, 1]])
})

test('the deletion of a tenant removes its rows of all slots, and no row of another tenant', async () => {
  const other = await api.makeTenant()
  await pullEvents(api, other)
  // The rows of the two have the same places in their partitions.
  await writeEvent()
  await writeDelivery(1)
  await query(`select setval('event_outbox_slot', 1), setval('webhook_deliveries_slot', 1)`)
  await writeEvent(other)
  await writeDelivery(1, 'succeeded', other)
  while ((await api.ctx.db.transaction((tx) => eraseBatch(tx, tenant.id))) > 0);
  assert.deepEqual(await slotsOf('event_outbox'), [[1, 1]])
  assert.deepEqual(await slotsOf('webhook_deliveries'), [[1, 1]])
})

test('numbering one tenant leaves rows of other tenants at the same places of other slots', async () => {
  const other = await api.makeTenant()
  await pullEvents(api, other)
  await writeEvent()
  await query(`select setval('event_outbox_slot', 1)`)
  await writeEvent(other)
  await pullEvents(api, tenant)
  assert.deepEqual(await query('select tenant_id from event_outbox'), [{ tenant_id: other.id }])
})

test('the release before partitions does not get the lease of its sweep, and can still release it', async () => {
  await query(`insert into sweep_leases (name, holder, until) values ('deleted tenants', $1, now()) on conflict do nothing`, [
    '00000000-0000-4000-8000-000000000000',
  ])
  await query(
    `update sweep_leases set holder = gen_random_uuid(), until = now() + interval '15 seconds' where name = 'deleted tenants'`,
  )
  assert.deepEqual(await query(`select until <= now() as ended from sweep_leases where name = 'deleted tenants'`), [
    { ended: true },
  ])
  await query(`update sweep_leases set until = null where name = 'deleted tenants'`)
  assert.deepEqual(await query(`select until from sweep_leases where name = 'deleted tenants'`), [{ until: null }])
})

test('a delivery whose event is gone is neither due nor sent again', async () => {
  await writeEvent()
  await writeEvent()
  const [first, second] = (await pullEvents(api, tenant)).slice(-2)
  for (const [one, status] of [
    [first, 'pending'],
    [second, 'failed'],
  ] as const)
    await query(
      `insert into webhook_deliveries (tenant_id, sequence, id, status, next_attempt_at)
       values ($1, $2, $3, $4::text, case when $4::text = 'pending' then now() end)`,
      [tenant.id, one!.sequence, one!.id, status],
    )
  await query(`update events set created_at = now() - interval '31 days' where tenant_id = $1`, [tenant.id])
  await forgetOldEvents(api.ctx.db, 1_000)
  assert.deepEqual(await query('select status from webhook_deliveries'), [{ status: 'failed' }])
  const list = await send(api, 'GET', '/tenant/webhooks/deliveries', { key: tenant.secretKey })
  assert.deepEqual(list.body.data, [])
  const resent = await send(api, 'POST', `/tenant/webhooks/deliveries/${second!.id}/resend`, { key: tenant.secretKey })
  assert.equal(resent.status, 404, resent.text)
  assert.deepEqual(await query('select status from webhook_deliveries'), [{ status: 'failed' }])
})
