import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { timeouts } from '@atrium/traffic/timeouts'
import { issuerAccount, platformAccount, transactionId } from '#features/credits/ledger/movement.ts'
import { deleteBlobs } from '#features/blob-deletions/delete-blobs.ts'
import { newId } from '#crypto/random.ts'
import { pullEvents } from '#testing/pull-events.ts'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { eraseTenants } from './erase-tenants.ts'
import { tenantTables, type TenantTable } from './tenant-tables.ts'

let api: TestApi
let operator: { headers: Record<string, string> }
before(async () => {
  api = await startTestApi()
  operator = { headers: { 'x-admin-token': api.adminToken } }
})
after(() => api.close())

const query = async (text: string, values: unknown[] = []) => (await api.ctx.db.pool.query(text, values)).rows
const request = (id: string, body: object = {}) => send(api, 'POST', `/tenants/${id}/deletion`, { ...operator, body })
const stateOf = async (id: string) => (await send(api, 'GET', `/tenants/${id}/deletion`, operator)).body.data?.state
const good = async (method: string, path: string, options: object, at = api.baseUrl) => {
  const answer = await send({ baseUrl: at }, method, path, options)
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
  return answer.body?.data
}

/** The deletion that the list of the tenants shows. */
async function listedDeletion(id: string) {
  const { body } = await send(api, 'GET', '/tenants?limit=200', operator)
  return body.data.find((tenant: { id: string }) => tenant.id === id).deletion
}

/** Everything that a tenant can make, with the canary in each text. */
async function fill(tenant: TestTenant, canary: string) {
  const { secretKey: key } = tenant
  const idempotencyKey = () => randomUUID()
  await good('POST', '/tenant/keys', { key, idempotencyKey: idempotencyKey(), body: { kind: 'publishable', name: canary } })
  await good('PUT', '/tenant/webhooks', { key, body: { url: `https://hooks.example/${canary}` } })
  await good('PUT', '/tenant/provider-keys', { key, body: { openai: `sk-${canary}` } })
  await good('PUT', `/tenants/${tenant.id}/limits`, { ...operator, body: { stored_bytes: 1_000_000 } })
  const metadata = { share_title: canary }
  const made = await good('POST', '/collections', { key, idempotencyKey: idempotencyKey(), body: { metadata } })
  const owner = { key, collectionToken: made.admin_token }
  const items = `/collections/${made.id}/items`
  const item = await good('POST', items, { ...owner, body: { type: 'message', content: { canary }, author: canary } })
  await good('PATCH', `${items}/${item.id}`, { ...owner, body: { access: 'email', grant: [`${canary}@x.example`] } })
  const artifact = { kind: 'image', url: `https://pictures.example/${canary}.webp`, title: canary }
  const { id: artifactId } = await good('POST', `/collections/${made.id}/artifacts`, { ...owner, body: artifact })
  for (const place of [`${tenant.id}/${made.id}/${artifactId}/original`, `uploads/${tenant.id}/${made.id}/${artifactId}`])
    await api.ctx.blobs.write(place, Buffer.from(canary), { mime: 'image/png' })
  const registration = { name: canary, description: canary, instructions: canary, price_credits: 5, max_minutes: 3 }
  const agent = await good('POST', '/agents', { key, body: registration }, api.origin)
  const id = transactionId('test', randomUUID())
  const terms = { from: platformAccount, to: issuerAccount(tenant.id), amountCredits: 50, actor: tenant.id }
  await api.ctx.ledger.add({ type: 'transfer', id, kind: 'prefund', ...terms })
  await good('POST', '/wallets/grant', { key, idempotencyKey: idempotencyKey(), body: { amount: 7, memo: canary } })
  const urls = { success_url: `https://shop.example/${canary}`, cancel_url: 'https://shop.example/' }
  await good('POST', '/checkout', { key, body: { purpose: 'prefund', credits: 5, ...urls } })
  await query(`update checkouts set expires_at = now() - interval '8 days' where tenant_id = $1`, [tenant.id])
  await pullEvents(api, tenant)
  return { agent, collection: made.id }
}

/** An ended session of another tenant with an agent of this one. */
async function lendAgent(owner: TestTenant, agentId: string, launcher: TestTenant, canary: string): Promise<void> {
  const version = randomBytes(32)
  const values = [owner.id, agentId, version, JSON.stringify({ canary })]
  await query('insert into agent_versions (tenant_id, agent_id, version, manifest) values ($1, $2, $3, $4)', values)
  await query(
    `insert into sessions (tenant_id, id, agent_tenant_id, agent_id, agent_version, room, status, price, max_minutes, answered_seq,
       expires_at, stopped_at, is_remote)
     values ($1, 'ses_lent', $2, $3, $4, 'room', 'stopped', 0, 3, 0, now(), now(), false)`,
    [launcher.id, owner.id, agentId, version],
  )
}

const allTables = async () =>
  (await query(`select relname::text as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`)).map(
    ({ name }) => name as string,
  )

/** The tables in which a row contains the text. */
async function tablesWith(text: string): Promise<string[]> {
  const found: string[] = []
  for (const table of await allTables()) {
    // Citus needs a column in the subquery.
    const [row] = await query(`select exists (select 1 from ${table} t where to_jsonb(t)::text like $1) as found`, [`%${text}%`])
    if (row!['found']) found.push(table)
  }
  return found.sort()
}

/** Ends the minute after the suspension in which requests may still write. */
const letSettle = (id: string) =>
  query(`update tenant_deletions set requested_at = requested_at - interval '1 minute' where tenant_id = $1`, [id])

async function eraseAll(id: string): Promise<void> {
  await letSettle(id)
  for (const deadline = Date.now() + 120_000; (await stateOf(id)) !== 'done';) {
    assert.ok(Date.now() < deadline, 'the deletion does not end')
    await eraseTenants(api.ctx)
    await deleteBlobs(api.ctx, 1_000)
  }
}

test('after a deletion, no table and no blob store has anything of the tenant but what is listed', async () => {
  const [gone, stays] = [await api.makeTenant('canary-tenant'), await api.makeTenant('Stays')]
  const canary = `canary-${randomBytes(6).toString('hex')}`
  const kept = `kept-${randomBytes(6).toString('hex')}`
  const { agent } = await fill(gone, canary)
  const other = await fill(stays, kept)
  await lendAgent(gone, agent.id, stays, canary)
  const before = await tablesWith(kept)
  assert.ok((await tablesWith(canary)).length >= 9, 'the canary is in many tables first')

  assert.equal((await request(gone.id, { after_days: 0 })).status, 202)
  await eraseAll(gone.id)
  // What an API process had counted in memory is written up to a minute later.
  await api.ctx.usageCounter.flush()

  assert.deepEqual(await tablesWith(canary), [])
  assert.deepEqual(await tablesWith('canary-tenant'), [])
  const listed = Object.entries<TenantTable>(tenantTables).flatMap(([table, { deletion }]) =>
    deletion === 'removed' ? [] : [table],
  )
  // The tombstone; and the session belongs to the tenant that launched it.
  const allowed = new Set([...listed, 'tenants', 'sessions'])
  assert.deepEqual(
    (await tablesWith(gone.id)).filter((table) => !allowed.has(table)),
    [],
  )
  assert.deepEqual(await query('select id from sessions where tenant_id = $1', [gone.id]), [])
  for (const prefix of ['', 'uploads/']) assert.deepEqual((await api.ctx.blobs.list(`${prefix}${gone.id}/`)).blobs, [])

  assert.deepEqual(await tablesWith(kept), before, 'the other tenant has lost nothing')
  assert.equal((await api.ctx.blobs.list(`${stays.id}/${other.collection}/`)).blobs.length, 1)
  assert.equal((await send(api, 'GET', '/sessions', { key: stays.secretKey })).body.data.length, 1)
  assert.equal((await send(api, 'GET', '/operator/audit', operator)).body.data.findings.length, 0)
  const [entry] = (await send(api, 'GET', `/operator/audit-log?tenant_id=${gone.id}`, operator)).body.data
  assert.deepEqual([entry.operation, entry.actor.kind], ['eraseTenant', 'system'])
})

test('a tenant is suspended at once, and a cancelled deletion restores it and says so by events', async () => {
  const tenant = await api.makeTenant()
  const code = async () => (await send(api, 'GET', '/tenant', { key: tenant.secretKey })).body.error?.code
  const asked = await request(tenant.id)
  assert.deepEqual([asked.status, asked.body.data.state], [202, 'scheduled'])
  const days = (Date.parse(asked.body.data.due_at) - Date.parse(asked.body.data.requested_at)) / 86_400_000
  assert.equal(Math.round(days), 7)
  assert.equal((await request(tenant.id, { after_days: 1 })).body.data.due_at, asked.body.data.due_at)
  for (const deadline = Date.now() + 10_000; (await code()) !== 'tenant_suspended';) assert.ok(Date.now() < deadline)
  const activate = { ...operator, body: { status: 'active' } }
  assert.equal((await send(api, 'POST', `/tenants/${tenant.id}/status`, activate)).body.error.code, 'state_conflict')
  await eraseTenants(api.ctx)
  assert.equal(await stateOf(tenant.id), 'scheduled', 'it is not due')
  assert.deepEqual(await listedDeletion(tenant.id), { state: 'scheduled', due_at: asked.body.data.due_at })

  assert.equal((await send(api, 'DELETE', `/tenants/${tenant.id}/deletion`, operator)).status, 204)
  assert.equal(await stateOf(tenant.id), 'none')
  assert.equal(await listedDeletion(tenant.id), null)
  for (const deadline = Date.now() + 10_000; (await code()) !== undefined;) assert.ok(Date.now() < deadline)
  const changes = (await pullEvents(api, tenant)).filter(({ type }) => type === 'tenant.status_changed')
  assert.deepEqual(
    changes.map(({ data }) => data['status']),
    ['suspended', 'active'],
  )
})

const itemCount = 21_000

/** More items than one call of eraseTenants removes. */
async function addItems({ id, secretKey: key }: TestTenant): Promise<void> {
  const made = await good('POST', '/collections', { key, body: {} })
  await query(
    `insert into items (tenant_id, collection_id, id, seq, type, content)
     select $1, $2, 'itm_' || n, n, 'message', '{}' from generate_series(1, $3::int) n`,
    [id, made.id, itemCount],
  )
}

test('a deletion that was cut short goes on, and cannot be cancelled', async () => {
  const tenant = await api.makeTenant()
  // The planner takes the table for empty, as before the first statistics after a large import.
  await query('analyze items')
  await addItems(tenant)
  await request(tenant.id, { after_days: 0 })
  // One call does a bounded part, as a process that is killed after it.
  assert.equal(await eraseTenants(api.ctx), true)
  const [left] = await query('select count(*)::int as items from items where tenant_id = $1', [tenant.id])
  const items = Number(left!['items'])
  assert.ok(items > 0 && items < itemCount, `${items} items are left`)
  assert.equal(await stateOf(tenant.id), 'running')
  const cancelled = await send(api, 'DELETE', `/tenants/${tenant.id}/deletion`, operator)
  assert.equal(cancelled.body.error.code, 'state_conflict')
  await eraseAll(tenant.id)
  assert.deepEqual(await query('select from items where tenant_id = $1', [tenant.id]), [])
})

test('a deletion whose row is locked does not hold up another, which goes on at once', async () => {
  const [free, locked] = [await api.makeTenant(), await api.makeTenant()]
  await addItems(free)
  for (const { id } of [free, locked]) await request(id, { after_days: 0 })
  const holder = await api.ctx.db.pool.connect()
  try {
    await holder.query('begin; set local idle_in_transaction_session_timeout = 0')
    await holder.query('select from tenant_deletions where tenant_id = $1 for update', [locked.id])
    assert.equal(await eraseTenants(api.ctx), true, 'there is more to do')
    await assert.rejects(
      async () => {
        while (await eraseTenants(api.ctx));
      },
      { code: '55P03' },
    )
    assert.deepEqual(await query('select from items where tenant_id = $1', [free.id]), [])
  } finally {
    await holder.query('rollback')
    holder.release()
  }
  for (const { id } of [free, locked]) await eraseAll(id)
})

test('what was written by a request that was authenticated before the suspension is removed too', async () => {
  const tenant = await api.makeTenant()
  await request(tenant.id, { after_days: 0 })
  for (let sweeps = 0; sweeps < 6; sweeps++) {
    await eraseTenants(api.ctx)
    await deleteBlobs(api.ctx, 1_000)
  }
  assert.equal(await stateOf(tenant.id), 'running')
  const values = [tenant.id, newId('collection'), randomBytes(32)]
  await query(
    `insert into collections (tenant_id, id, metadata, app_state, contributor_policy, admin_token_hash)
     values ($1, $2, '{}', '{}', 'open', $3)`,
    values,
  )
  await eraseAll(tenant.id)
  assert.deepEqual(await query('select from collections where tenant_id = $1', [tenant.id]), [])
})

test('a write that was in flight while its tenant was deleted leaves nothing', async (t) => {
  const { db } = api.ctx
  const writes: [method: string, path: string, body: object, at?: string][] = [
    ['POST', '/collections', {}],
    ['POST', '/tenant/keys', { kind: 'publishable' }],
    ['PUT', '/tenant/webhooks', { url: 'https://hooks.example/late' }],
    ['POST', '/agents', { name: 'Late', description: 'Late.', instructions: '', price_credits: 0, max_minutes: 3 }, api.origin],
  ]
  for (const [method, path, body, at = api.baseUrl] of writes) {
    const tenant = await api.makeTenant()
    const checked = Promise.withResolvers<void>()
    const goesOn = Promise.withResolvers<void>()
    const lane = db.lane.bind(db)
    // As in a process that is stopped for more than a minute after it has checked the key, and then continues.
    t.mock.method(db, 'lane').mock.mockImplementationOnce((key) => ({
      transaction: async (run) => {
        checked.resolve()
        await goesOn.promise
        return lane(key).transaction(run)
      },
    }))
    const write = send({ baseUrl: at }, method, path, { key: tenant.secretKey, idempotencyKey: randomUUID(), body })
    await Promise.race([checked.promise, write.then(({ text }) => assert.fail(text))])
    await request(tenant.id, { after_days: 0 })
    await eraseAll(tenant.id)
    const before = await tablesWith(tenant.id)
    goesOn.resolve()
    const { status, body: refused } = await write
    assert.deepEqual([path, status, refused.error?.code], [path, 401, 'tenant_suspended'])
    // The refusal is in the audit log.
    assert.deepEqual(
      (await tablesWith(tenant.id)).filter((table) => !before.includes(table)),
      [],
    )
  }
})

test('a write is tried again where a lock kept it from the look whether its tenant is active', async () => {
  const tenant = await api.makeTenant()
  const write = () =>
    send(api, 'POST', '/tenant/keys', { key: tenant.secretKey, idempotencyKey: randomUUID(), body: { kind: 'publishable' } })
  assert.equal((await write()).status, 201)
  const locker = await api.ctx.db.pool.connect()
  try {
    await locker.query('begin; lock table tenants in access exclusive mode')
    const late = write()
    const free = setTimeout(() => void locker.query('commit'), 10 * timeouts.lockMs)
    const { status, text } = await late
    clearTimeout(free)
    assert.equal(status, 201, text)
  } finally {
    locker.release(true)
  }
})

test('a hundred deletions that wait for a payment do not keep another one from its end', async () => {
  const waiting = Array.from({ length: 100 }, () => newId('tenant'))
  await query(`insert into tenants (id, name, status) select unnest($1::text[]), 'Waiting', 'suspended'`, [waiting])
  await query(
    `insert into checkouts (tenant_id, id, purpose, credits, provider, reference, url, success_url, cancel_url, expires_at, pending_at)
     select id, 'chk_' || substr(id, 5), 'prefund', 1, 'test', id, '', '', '', now(), now() from unnest($1::text[]) id`,
    [waiting],
  )
  await query(
    `insert into tenant_deletions (tenant_id, status_before, due_at) select unnest($1::text[]), 'active', now() - interval '1 day'`,
    [waiting],
  )
  const { id } = await api.makeTenant('Last')
  await request(id, { after_days: 0 })
  await letSettle(id)
  for (let sweeps = 0; sweeps < 6 && (await stateOf(id)) !== 'done'; sweeps++) {
    await eraseTenants(api.ctx)
    await deleteBlobs(api.ctx, 1_000)
  }
  assert.equal(await stateOf(id), 'done')
  await query('delete from tenant_deletions where tenant_id = any($1)', [waiting])
})

test('of a transfer nothing changes but its memo, and only to none', async () => {
  for (const set of ["memo = 'other'", 'amount = amount + 1', "memo = null, actor = 'x'"])
    await assert.rejects(query(`update ledger_transfers set ${set}`), { code: '23001' }, set)
})
