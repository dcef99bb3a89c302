import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { isCredential } from '@atrium/contract/tokens'
import { atOnce } from '#testing/at-once.ts'
import { send, untilServed } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { openTenant } from '#features/tenants/open-tenant.ts'

let api: TestApi
let tenant: TestTenant
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

const fresh = async () => (tenant = await api.makeTenant())
const order = {
  purpose: 'license_key',
  credits: 100,
  success_url: 'https://shop.example/thanks',
  cancel_url: 'https://shop.example/',
}
const create = (body: object = {}, more: object = {}) =>
  send(api, 'POST', '/checkout', { key: tenant.secretKey, body: { ...order, ...body }, ...more })
const look = (id: string, key = tenant.secretKey) => send(api, 'GET', `/checkout/${id}`, { key })

const press = (id: string, wish = 'pay') =>
  fetch(`${api.baseUrl}/checkout/${id}/pay`, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ do: wish }) })

async function queryRows(sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  return (await api.ctx.db.pool.query(sql, values)).rows
}

async function sealedOf(checkout: string): Promise<unknown> {
  const [row] = await queryRows('select license_sealed from checkouts where id = $1', [checkout])
  return row!['license_sealed']
}

const redeem = (license: string) =>
  send(api, 'POST', '/wallets/redeem', { key: tenant.publishableKey, body: { license_key: license } })

async function issuerBalance(): Promise<number> {
  const [row] = await queryRows(`select balance from ledger_accounts where tenant_id = $1 and id = 'issuer'`, [tenant.id])
  return Number(row?.['balance'] ?? 0)
}

describe('buying a license key', () => {
  test('order, pay, look: the key is shown, and mints a wallet of what was bought', async () => {
    await fresh()
    const made = await create()
    assert.equal(made.status, 201, made.text)
    const { id, url, status } = made.body.data
    assert.equal(status, 'open')
    assert.equal(url, `http://localhost:8787/v1/checkout/${id}/pay`)
    const open = (await look(id)).body.data
    const { created_at: createdAt, expires_at: expiresAt, ...rest } = open
    assert.deepEqual(rest, { id, url, status: 'open', purpose: 'license_key', credits: 100 })
    assert.ok(Math.abs(Date.parse(expiresAt) - Date.parse(createdAt) - 86_400_000) < 5_000)

    const paid = await press(id)
    assert.equal(paid.status, 303)
    assert.equal(paid.headers.get('location'), `https://shop.example/thanks?checkout_id=${id}`)

    const shown = await look(id)
    assert.equal(shown.headers.get('cache-control'), 'no-store')
    assert.equal(shown.body.data.status, 'paid')
    assert.equal(shown.body.data.url, null)
    const license = shown.body.data.license_key
    assert.ok(isCredential('licenseKey', license))
    const redeemed = await send(api, 'POST', '/wallets/redeem', { key: tenant.publishableKey, body: { license_key: license } })
    assert.equal(redeemed.status, 201, redeemed.text)
    assert.equal(redeemed.body.data.balance, 100)
  })

  test('whoever asks is shown the key until it is redeemed, and nobody after that', async () => {
    await fresh()
    const { id } = (await create()).body.data
    await press(id)
    const answers = await Promise.all(Array.from({ length: 20 }, () => look(id)))
    const [license, ...others] = new Set(answers.map((answer) => answer.body.data.license_key))
    assert.ok(isCredential('licenseKey', license))
    assert.deepEqual(others, [])
    const redeemed = await redeem(license)
    assert.equal(redeemed.status, 201, redeemed.text)
    assert.deepEqual(await sealedOf(id), null, 'and the key is erased')
    const { data } = (await look(id)).body
    assert.equal(data.status, 'paid')
    assert.equal('license_key' in data, false)
  })

  test('a key that was redeemed is not shown, also where a process ended before it had erased the key', async () => {
    for (const soldBefore0022 of [false, true]) {
      await fresh()
      const { id } = (await create()).body.data
      await press(id)
      if (soldBefore0022) await queryRows('update checkouts set license_account = null where id = $1', [id])
      const sealed = await sealedOf(id)
      const license = (await look(id)).body.data.license_key
      assert.equal((await redeem(license)).status, 201)
      await queryRows('update checkouts set license_sealed = $2 where id = $1', [id, sealed])
      assert.equal('license_key' in (await look(id)).body.data, false)
      assert.equal(await sealedOf(id), null)
    }
  })

  test('a key that does not open is not erased', async () => {
    await fresh()
    const { id } = (await create()).body.data
    const other = (await create()).body.data
    await press(id)
    await press(other.id)
    const [mine, theirs] = [await sealedOf(id), await sealedOf(other.id)]
    await queryRows('update checkouts set license_sealed = $2 where id = $1', [id, theirs])
    assert.equal((await look(id)).body.error.code, 'internal_error')
    assert.deepEqual(await sealedOf(id), theirs)
    await queryRows('update checkouts set license_sealed = $2 where id = $1', [id, mine])
    assert.ok((await look(id)).body.data.license_key)
  })

  test('paid twenty times at once, it is sold once', async () => {
    await fresh()
    const { id } = (await create({ credits: 7 })).body.data
    const answers = await atOnce(api, id, () => Promise.all(Array.from({ length: 20 }, () => untilServed(() => press(id)))))
    assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([303]))
    const accounts = await queryRows(`select balance from ledger_accounts where tenant_id = $1 and kind = 'license'`, [tenant.id])
    assert.deepEqual(accounts, [{ balance: 7 }])
  })
})

describe('prefunding', () => {
  test('the credits are on the issuer’s balance, once, and there is no key', async () => {
    await fresh()
    const { id } = (await create({ purpose: 'prefund', credits: 250 })).body.data
    await press(id)
    await press(id)
    const { data } = (await look(id)).body
    assert.equal(data.status, 'paid')
    assert.equal('license_key' in data, false)
    assert.equal(await issuerBalance(), 250)
    const granted = await send(api, 'POST', '/wallets/grant', {
      key: tenant.secretKey,
      body: { amount: 250 },
      idempotencyKey: 'all of it',
    })
    assert.equal(granted.status, 201, granted.text)
  })

  test('a tenant without the issuer role cannot prefund, but can buy a license key', async () => {
    const made = await api.ctx.db.transaction((tx) => openTenant(tx, { name: 'App', email: null, roles: ['app'] }))
    const key = made.secret_key
    const refused = await create({ purpose: 'prefund' }, { key })
    assert.equal(refused.status, 403)
    assert.equal(refused.body.error.code, 'issuer_role_required')
    assert.equal((await create({}, { key })).status, 201)
  })
})

describe('asking for a checkout', () => {
  test('a repeat with the same key gives the same checkout, and another body is refused', async () => {
    await fresh()
    const first = () => untilServed(() => create({}, { idempotencyKey: 'order 1' }))
    const answers = await Promise.all(Array.from({ length: 8 }, first))
    assert.equal(new Set(answers.map((answer) => answer.text)).size, 1, answers.map((answer) => answer.text).join('\n'))
    assert.deepEqual(
      answers
        .map((answer) => answer.headers.get('idempotency-status'))
        .toSorted()
        .slice(0, 2),
      ['replayed', 'replayed'],
    )
    const reused = await create({ credits: 101 }, { idempotencyKey: 'order 1' })
    assert.equal(reused.body.error.code, 'idempotency_key_reused')
    const rows = await queryRows('select id from checkouts where tenant_id = $1', [tenant.id])
    assert.equal(rows.length, 1)
  })

  test('a key whose answer is no longer kept makes a new checkout', async () => {
    await fresh()
    const first = (await create({}, { idempotencyKey: 'monthly' })).body.data
    await queryRows(`update idempotency_keys set expires_at = now() - interval '1 second' where scope = $1`, [tenant.id])
    const second = await create({}, { idempotencyKey: 'monthly' })
    assert.equal(second.status, 201, second.text)
    assert.equal(second.headers.get('idempotency-status'), 'stored')
    assert.notEqual(second.body.data.id, first.id)
  })

  test('return addresses that no browser should be sent to are refused', async () => {
    await fresh()
    for (const address of [
      'javascript:alert(1)',
      'ftp://shop.example/',
      '/thanks',
      'https://',
      'https://ann:secret@shop.example/',
      'https://ann@shop.example/',
      'https://shop;script-src.example/',
      'https://shop,example/',
      'https://shop.example:99999/',
      `https://shop.example/${'ü'.repeat(600)}`,
      `https://shop.example/${'x'.repeat(2_000)}`,
    ]) {
      for (const field of ['success_url', 'cancel_url']) {
        const answer = await create({ [field]: address })
        assert.equal(answer.status, 400, address)
        assert.equal(answer.body.error.code, 'invalid_request')
        assert.equal(answer.body.error.details[0].path, `/${field}`)
      }
    }
  })

  test('credits are whole, at least one, and not more than a payment carries', async () => {
    await fresh()
    for (const credits of [0, -1, 1.5, '1', null, 100_000_000, Number.MAX_SAFE_INTEGER]) {
      assert.equal((await create({ credits })).body.error?.code, 'invalid_request', String(credits))
    }
    assert.equal((await create({ credits: 99_999_999 })).status, 201)
  })

  test('another tenant’s checkout is as if it never was', async () => {
    await fresh()
    const { id } = (await create()).body.data
    await press(id)
    const other = await api.makeTenant()
    const theirs = await look(id, other.secretKey)
    const never = await look('chk_4fRzK0vXcB1mQwErTy7uPa', other.secretKey)
    assert.equal(theirs.status, 404)
    const { request_id: _, ...error } = theirs.body.error
    const { request_id: __, ...expected } = never.body.error
    assert.deepEqual(error, expected)
    assert.ok((await look(id)).body.data.license_key)
  })
})
