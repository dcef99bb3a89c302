import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { send } from '#testing/http.ts'
import { pullEvents } from '#testing/pull-events.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

async function order({ secretKey: key }: TestTenant, purpose: 'license_key' | 'prefund') {
  const body = { purpose, credits: 100, success_url: 'https://shop.example/thanks', cancel_url: 'https://shop.example/' }
  return (await send(api, 'POST', '/checkout', { key, body })).body.data.id as string
}
const pay = (id: string) =>
  fetch(`${api.baseUrl}/checkout/${id}/pay`, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ do: 'pay' }) })

test('a tenant lists its checkouts, newest first, by status, purpose and time, without license keys', async () => {
  const [tenant, foreign] = [await api.makeTenant(), await api.makeTenant()]
  const list = (query = '', { secretKey: key } = tenant) => send(api, 'GET', `/checkout${query}`, { key })
  const idsOf = async (query: string) => (await list(query)).body.data.map((one: any) => one.id)
  const [paid, open, late, ended, pending] = [
    await order(tenant, 'license_key'),
    await order(tenant, 'prefund'),
    await order(tenant, 'prefund'),
    await order(tenant, 'prefund'),
    await order(tenant, 'prefund'),
  ]
  await order(foreign, 'prefund')
  await pay(paid)
  const { pool } = api.ctx.db
  await pool.query(`update checkouts set expires_at = now() - interval '1 second' where id = any($1)`, [[late, pending, paid]])
  await pool.query('update checkouts set ended_at = now() where id = $1', [ended])
  await pool.query('update checkouts set pending_at = now() where id = $1', [pending])
  const all = [paid, open, late, ended, pending]
  for (const [n, id] of all.entries())
    await pool.query('update checkouts set created_at = $2 where id = $1', [id, `2026-01-0${n + 1}T00:00:00Z`])

  const { body, text } = await list()
  assert.deepEqual(
    body.data.map((one: any) => [one.id, one.status]),
    [
      [pending, 'open'],
      [ended, 'expired'],
      [late, 'expired'],
      [open, 'open'],
      [paid, 'paid'],
    ],
  )
  const { license_key: license, ...view } = (await send(api, 'GET', `/checkout/${paid}`, { key: tenant.secretKey })).body.data
  assert.match(license, /^lic_/)
  assert.deepEqual(body.data.at(-1), view)
  assert.equal(text.includes('lic_'), false)
  assert.deepEqual(await idsOf('?status=open'), [pending, open])
  assert.deepEqual(await idsOf('?status=expired'), [ended, late])
  assert.deepEqual(await idsOf('?status=paid'), [paid])
  assert.deepEqual(await idsOf('?purpose=license_key'), [paid])
  assert.deepEqual(await idsOf('?from=2026-01-02T00:00:00Z&to=2026-01-04T00:00:00Z'), [late, open])

  const first = (await list('?limit=2')).body
  assert.deepEqual(await idsOf(`?limit=2&cursor=${first.meta.next_cursor}`), [late, open])
  assert.equal((await list(`?status=open&cursor=${first.meta.next_cursor}`)).body.error.code, 'invalid_cursor')
  assert.equal((await list(`?cursor=${first.meta.next_cursor}`, foreign)).body.error.code, 'invalid_cursor')
  assert.equal((await send(api, 'GET', '/checkout', { key: tenant.publishableKey })).body.error.code, 'secret_key_required')
})

test('a payment is one event, without the license key', async () => {
  const tenant = await api.makeTenant()
  const [license, prefund] = [await order(tenant, 'license_key'), await order(tenant, 'prefund')]
  for (const id of [license, prefund, license]) await pay(id)
  const paid = (await pullEvents(api, tenant)).filter(({ type }) => type === 'checkout.paid')
  assert.deepEqual(
    paid.map(({ data }) => data),
    [
      { checkout_id: license, purpose: 'license_key', credits: 100 },
      { checkout_id: prefund, purpose: 'prefund', credits: 100 },
    ],
  )
})

test('the clock of the database, and not that of the process, decides what has expired and when it was paid', async (t) => {
  const tenant = await api.makeTenant()
  const { secretKey: key } = tenant
  const [paid, open] = [await order(tenant, 'prefund'), await order(tenant, 'prefund')]
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 2 * 86_400_000 })
  const { data } = (await send(api, 'GET', '/checkout?status=open', { key })).body
  const look = async (id: string) => (await send(api, 'GET', `/checkout/${id}`, { key })).body.data
  assert.deepEqual(data, [await look(open), await look(paid)])
  assert.equal(data[0].status, 'open')
  assert.equal((await pay(paid)).status, 303)
  assert.equal((await look(paid)).status, 'paid')
  const inTime = `select paid_at between now() - interval '1 hour' and now() + interval '1 second' as ok from checkouts where id = $1`
  assert.deepEqual((await api.ctx.db.pool.query(inTime, [paid])).rows, [{ ok: true }])
})
