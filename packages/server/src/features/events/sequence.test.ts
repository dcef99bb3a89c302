import { after, before, test } from 'node:test'
import assert from 'node:assert/strict'
import { send } from '#testing/http.ts'
import { assertGapless, pullEvents, type PulledEvent } from '#testing/pull-events.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { forgetOldEvents } from '../webhooks/delivery-store.ts'
import { recordEvent, recordEvents } from './record-event.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

const pull = (tenant: TestTenant, limit?: number) => pullEvents(api, tenant, limit)
const typesOf = (events: PulledEvent[]) => events.map(({ type }) => type)

async function makeCollection(of: TestTenant, body: object = {}) {
  const { data } = (await send(api, 'POST', '/collections', { key: of.secretKey, body })).body
  return { id: data.id as string, key: of.secretKey, collectionToken: data.admin_token as string }
}

test('20 concurrent writers, of which many roll back: no gap, no loss, no repeat, each writer in its own order', async () => {
  const tenant = await api.makeTenant()
  const collectionId = 'col_4fRzK0vXcB1mQwErTy7uPa'
  const committed: string[] = []
  const rollBack = new Error('rolled back')
  let reading = true
  // Several pulls, so that several processes number concurrently.
  const read = async (seen: PulledEvent[] = []) => {
    while (reading) {
      const got = await send(api, 'GET', `/events?after=${seen.at(-1)?.sequence ?? 0}&limit=50`, { key: tenant.secretKey })
      assert.equal(got.status, 200, got.text)
      seen.push(...got.body.data)
    }
    return seen
  }
  const readers = Promise.all([read(), read(), read(), read()])
  const write = async (writer: number) => {
    for (let n = 0; n < 30; n++) {
      await api.ctx.db
        .transaction(async (tx) => {
          for (let part = 0; part < 2; part++) {
            const item_id = `${writer}.${n}.${part}`
            await recordEvent(tx, tenant.id, 'item.deleted', { collection_id: collectionId, item_id })
          }
          if (Math.random() < 0.4) throw rollBack
        })
        .then(
          () => committed.push(`${writer}.${n}.0`, `${writer}.${n}.1`),
          (error: unknown) => assert.equal(error, rollBack),
        )
    }
  }
  await Promise.all(Array.from({ length: 20 }, (_, writer) => write(writer)))
  reading = false
  const events = await pull(tenant)
  assertGapless(events)
  for (const seen of await readers)
    assert.deepEqual(events.slice(0, seen.length), seen, 'what was read while they wrote stayed as it was')
  const told = events.slice(2).map(({ data }) => data['item_id'] as string)
  assert.deepEqual(told.toSorted(), committed.toSorted())
  for (let writer = 0; writer < 20; writer++) {
    const own = (list: string[]) => list.filter((item) => item.startsWith(`${writer}.`))
    assert.deepEqual(own(told), own(committed))
  }
})

test('an open transaction delays neither other writers nor the pull, and its events follow theirs', async () => {
  const tenant = await api.makeTenant()
  const data = (item_id: string) => ({ collection_id: 'col_4fRzK0vXcB1mQwErTy7uPa', item_id })
  const slow = Promise.withResolvers<void>()
  const written = Promise.withResolvers<void>()
  const writing = api.ctx.db.transaction(async (tx) => {
    await recordEvent(tx, tenant.id, 'item.deleted', data('slow'))
    written.resolve()
    await slow.promise
  })
  await written.promise
  const { id, ...owner } = await makeCollection(tenant)
  assert.equal((await send(api, 'POST', `/collections/${id}/items`, { ...owner, body: { type: 'a', content: 1 } })).status, 201)
  assert.deepEqual(typesOf(await pull(tenant)).slice(3), ['item.created'])
  slow.resolve()
  await writing
  assert.deepEqual(typesOf(await pull(tenant)).slice(3), ['item.created', 'item.deleted'])
})

test('a pull numbers more than it returns, and pages without gap or repeat', async () => {
  const tenant = await api.makeTenant()
  await api.ctx.db.pool.query(
    `insert into event_outbox (tenant_id, id, type, data) select $1, 'evt_' || lpad(n::text, 22, '0'), 'item.deleted', '{}' from generate_series(1, 1200) n`,
    [tenant.id],
  )
  const events = await pull(tenant, 170)
  assert.equal(events.length, 1_202)
  const ids = events.slice(2).map(({ id }) => id)
  assert.deepEqual(ids, ids.toSorted(), 'in the order of their writing')
  assertGapless(events)
  const beyond = await send(api, 'GET', `/events?after=${Number.MAX_SAFE_INTEGER}`, { key: tenant.secretKey })
  assert.deepEqual([beyond.status, beyond.body.data], [200, []])
  for (const query of ['after=-1', 'after=x', `after=${2 ** 53}`, 'limit=0', 'limit=201', 'type=a']) {
    const got = await send(api, 'GET', `/events?${query}`, { key: tenant.secretKey })
    assert.equal(got.body.error?.code, 'invalid_request', query)
  }
})

test('a tenant sees only its own events', async () => {
  const [one, other] = [await api.makeTenant(), await api.makeTenant()]
  const { id } = await makeCollection(one)
  await send(api, 'POST', `/collections/${id}/items`, { key: one.secretKey, body: { type: 'a', content: 1 } })
  const events = await pull(other)
  assertGapless(events)
  assert.deepEqual(typesOf(events), ['key.created', 'key.created'])
  assert.ok(events.every(({ tenant_id: of }) => of === other.id))
})

test('events are deleted after 30 days, and the sequence continues', async () => {
  const tenant = await api.makeTenant()
  await pull(tenant)
  const { pool } = api.ctx.db
  await pool.query(`update events set created_at = now() - interval '31 days' where tenant_id = $1 and sequence = 1`, [tenant.id])
  await pool.query(`update events set created_at = now() - interval '29 days' where tenant_id = $1 and sequence = 2`, [tenant.id])
  while ((await forgetOldEvents(api.ctx.db, 10)) === 10);
  assert.deepEqual(
    (await pull(tenant)).map(({ sequence }) => sequence),
    [2],
  )
  await pool.query('delete from events where tenant_id = $1', [tenant.id])
  await send(api, 'POST', '/tenant/keys', { key: tenant.secretKey, body: { kind: 'secret' } })
  assert.deepEqual(
    (await pull(tenant)).map(({ sequence }) => sequence),
    [3],
  )
})

test('events of one statement keep their order, also where many tenants were deleted', async () => {
  const tenant = await api.makeTenant()
  await api.ctx.db.pool.query(
    `with deleted as (insert into tenants (id, name) select 'ten_' || n, '' from generate_series(1, 60) n returning id)
     insert into tenant_deletions (tenant_id, status_before, due_at, started_at, blobs_queued_at, finished_at)
     select id, 'active', now(), now(), now(), now() from deleted`,
  )
  await api.ctx.db.pool.query('analyze tenant_deletions')
  const items = Array.from({ length: 20 }, (_, n) => `itm_${n}`)
  await api.ctx.db.transaction((tx) =>
    recordEvents(
      tx,
      items.map((item_id) => ({ tenantId: tenant.id, type: 'item.deleted', data: { collection_id: 'col_1', item_id } })),
    ),
  )
  const events = await pull(tenant)
  assert.deepEqual(
    events.slice(-20).map(({ data }) => data['item_id']),
    items,
  )
})
