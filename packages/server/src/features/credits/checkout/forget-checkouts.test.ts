import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { forgetCheckouts } from './store.ts'

let api: TestApi
let tenant: TestTenant
before(async () => {
  api = await startTestApi()
  tenant = await api.makeTenant()
})
after(() => api.close())

const keptDays = 365

/** A checkout whose times are so many days ago. */
async function checkout(times: { expires: number; pending?: number; ended?: number; paid?: number; hasLicense?: boolean }) {
  const body = { purpose: 'license_key', credits: 5, success_url: 'https://shop.example', cancel_url: 'https://shop.example' }
  const { id } = (await send(api, 'POST', '/checkout', { key: tenant.secretKey, body })).body.data
  const ago = (days: number | undefined) => (days === undefined ? null : new Date(Date.now() - days * 86_400_000))
  await api.ctx.db.pool.query(
    'update checkouts set expires_at = $2, pending_at = $3, ended_at = $4, paid_at = $5, license_sealed = $6 where id = $1',
    [id, ago(times.expires), ago(times.pending), ago(times.ended), ago(times.paid), times.hasLicense ? Buffer.from('x') : null],
  )
  return id as string
}

const exists = async (id: string) => (await api.ctx.db.pool.query('select from checkouts where id = $1', [id])).rowCount === 1

test('settled and abandoned checkouts go after their time; a license key to redeem and money on its way stay, however old', async () => {
  const gone = [
    await checkout({ expires: 366 }),
    await checkout({ expires: 500, ended: 366 }),
    await checkout({ expires: 500, paid: 366 }),
    await checkout({ expires: 500, pending: 500, paid: 366 }),
    await checkout({ expires: 500, pending: 500, ended: 366 }),
  ]
  const kept = [
    await checkout({ expires: 364 }),
    await checkout({ expires: 500, paid: 364 }),
    await checkout({ expires: 5_000, paid: 5_000, hasLicense: true }),
    await checkout({ expires: 5_000, pending: 5_000 }),
  ]
  assert.equal(await forgetCheckouts(api.ctx.db, keptDays, 3), 3)
  assert.equal(await forgetCheckouts(api.ctx.db, keptDays, 3), 2)
  assert.equal(await forgetCheckouts(api.ctx.db, keptDays, 3), 0)
  assert.deepEqual(await Promise.all(gone.map(exists)), Array(gone.length).fill(false))
  assert.deepEqual(await Promise.all(kept.map(exists)), Array(kept.length).fill(true))
})
