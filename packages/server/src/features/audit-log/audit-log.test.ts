import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { makeCredential } from '@atrium/contract/tokens'
import { assertError, send } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'
import { removeOldEntries } from './record-audit.ts'

let api: TestApi
let operator: { headers: Record<string, string> }
before(async () => {
  api = await startTestApi()
  operator = { headers: { 'x-admin-token': api.adminToken } }
})
after(() => api.close())

const query = (text: string, values: unknown[] = []) => api.ctx.db.pool.query(text, values)
const logOf = async (key: string) => (await send(api, 'GET', '/tenant/audit-log', { key })).body.data
const operatorLog = async (more = '') => (await send(api, 'GET', `/operator/audit-log${more}`, operator)).body.data

test('an action of a key has its key, target, address and request id, and no secret', async () => {
  const tenant = await api.makeTenant()
  const made = await send(api, 'POST', '/tenant/keys', { key: tenant.secretKey, body: { kind: 'secret', name: 'canary-name' } })
  const [entry] = await logOf(tenant.secretKey)
  const keys = (await send(api, 'GET', '/tenant/keys', { key: tenant.secretKey })).body.data
  assert.equal(entry.operation, 'createKey')
  assert.equal(entry.actor.kind, 'key')
  assert.ok(keys.some(({ id }: { id: string }) => id === entry.actor.id))
  assert.deepEqual(entry.targets, { id: made.body.data.id })
  assert.equal(entry.request_id, made.headers.get('x-request-id'))
  assert.equal(entry.address, '127.0.0.1')
  const { rows } = await query('select to_jsonb(a)::text as text from audit_log a')
  for (const secret of [made.body.data.key, 'canary-name', api.adminToken]) assert.ok(!JSON.stringify(rows).includes(secret))
})

test('an operator is named in the list of operators, and hidden from the tenant', async () => {
  const tenant = await api.makeTenant()
  const { token, id } = (await send(api, 'POST', '/operator/credentials', { ...operator, body: { name: 'ada' } })).body.data
  const path = `/tenants/${tenant.id}/limits`
  await send(api, 'PUT', path, { headers: { 'x-admin-token': token }, body: { stored_bytes: 5 } })
  const [seen] = await operatorLog(`?tenant_id=${tenant.id}`)
  assert.deepEqual(seen.actor, { kind: 'operator', id, name: 'ada' })
  assert.equal(seen.tenant_id, tenant.id)
  const [shown] = await logOf(tenant.secretKey)
  assert.deepEqual(
    [shown.operation, shown.actor, shown.address],
    ['setTenantLimits', { kind: 'operator', id: null, name: null }, null],
  )
})

test('a refused action is recorded with its code; a tenant sees only its own entries', async () => {
  const [one, two] = [await api.makeTenant(), await api.makeTenant()]
  const keys = (await send(api, 'GET', '/tenant/keys', { key: one.secretKey })).body.data
  const secret = keys.find(({ kind }: { kind: string }) => kind === 'secret')
  await send(api, 'DELETE', `/tenant/keys/${secret.id}`, { key: one.secretKey })
  const [entry] = await logOf(one.secretKey)
  assert.deepEqual([entry.operation, entry.outcome, entry.code], ['revokeKey', 'refused', 'last_secret_key'])
  assert.deepEqual(await logOf(two.secretKey), [])
})

test('a refusal of somebody without credentials leaves no entry, so that nobody can fill the log', async () => {
  const body = { invite_code: makeCredential('invite', randomBytes), name: 'Nobody', email: 'nobody@example.org' }
  assertError(await send(api, 'POST', '/tenants/signup', { body }), 403, 'invite_invalid')
  assert.deepEqual((await query("select 1 from audit_log where operation = 'signUpTenant'")).rows, [])
})

test('the entry and the change commit together', async () => {
  const tenant = await api.makeTenant()
  await query(`alter table audit_log add constraint fails check (operation <> 'setWebhook') not valid`)
  const answer = await send(api, 'PUT', '/tenant/webhooks', { key: tenant.secretKey, body: { url: 'https://hooks.example/in' } })
  await query('alter table audit_log drop constraint fails')
  assert.equal(answer.status, 500)
  assert.equal((await send(api, 'GET', '/tenant/webhooks', { key: tenant.secretKey })).status, 404)
})

test('pages follow each other without a gap', async () => {
  const { secretKey: key } = await api.makeTenant()
  for (let n = 0; n < 5; n++) await send(api, 'POST', '/tenant/keys', { key, body: { kind: 'publishable' } })
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const { body } = await send(api, 'GET', `/tenant/audit-log?limit=2${cursor ? `&cursor=${cursor}` : ''}`, { key })
    ids.push(...body.data.map(({ id }: { id: string }) => id))
    cursor = body.meta?.next_cursor
  } while (cursor)
  assert.deepEqual([ids.length, new Set(ids).size], [5, 5])
})

test('the database refuses to change, delete or truncate entries', async () => {
  await send(api, 'POST', '/tenants/invites', { ...operator, body: {} })
  for (const text of ['update audit_log set code = null', 'delete from audit_log', 'truncate audit_log'])
    await assert.rejects(query(text), { code: '23001' }, text)
  const early = `insert into audit_log (id, actor_kind, operation, targets, outcome)
    values ('aud_x', 'system', 'removeAuditEntries', jsonb_build_object('up_to', now() - interval '29 days'), 'done')`
  await assert.rejects(query(early), { code: '23001' })
})

test('only the retention removes entries, and records how many, and up to when', async () => {
  await query(
    `insert into audit_log (id, created_at, actor_kind, operation, targets, outcome)
     select 'aud_old' || n, now() - make_interval(days => 365 + n, hours => 1), 'system', 'old', '{}', 'done' from generate_series(-3, 5) n`,
  )
  const before = Date.now()
  assert.equal(await removeOldEntries(api.ctx.db, 365), 6)
  assert.equal(await removeOldEntries(api.ctx.db, 365), 0)
  const { rows } = await query(`select id from audit_log where operation = 'old' order by id`)
  assert.deepEqual(rows, [{ id: 'aud_old-1' }, { id: 'aud_old-2' }, { id: 'aud_old-3' }])
  const entry = (await operatorLog()).find(({ operation }: { operation: string }) => operation === 'removeAuditEntries')
  assert.equal(entry.targets.removed, 6)
  assert.ok(Math.abs(Date.parse(entry.targets.up_to) - (before - 365 * 86_400_000)) < 60_000)
})
