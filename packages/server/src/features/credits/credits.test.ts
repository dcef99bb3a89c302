import assert from 'node:assert/strict'
import { constants, generateKeyPairSync, randomBytes, randomUUID, sign } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { compactDecrypt, exportJWK, generateKeyPair } from 'jose'
import { hashCredential, newAccountId, newCredential } from '#crypto/random.ts'
import { passesOnce } from '#testing/busy-machine.ts'
import { assertError, send, type Got, untilServed } from '#testing/http.ts'
import { eventually } from '#testing/session-world.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { issuerAccount, platformAccount, transactionId } from './ledger/movement.ts'
import { sweepLedger } from './ledger/ledger.ts'

let api: TestApi
let tenant: TestTenant

before(async () => {
  api = await startTestApi()
  tenant = await api.makeTenant()
})

after(() => api.close())

async function fund(of: TestTenant, amountCredits: number): Promise<void> {
  const id = transactionId('test', randomUUID())
  await api.ctx.ledger.add({
    type: 'transfer',
    id,
    kind: 'prefund',
    from: platformAccount,
    to: issuerAccount(of.id),
    amountCredits,
    actor: of.id,
  })
}

async function sellLicense(amountCredits: number, of = tenant): Promise<string> {
  const license = newCredential('licenseKey')
  const id = transactionId('test', license)
  const to = { tenantId: of.id, id: newAccountId() }
  const opens = { kind: 'license' as const, codeHash: hashCredential(license) }
  await api.ctx.ledger.add({ type: 'transfer', id, kind: 'sale', from: platformAccount, to, amountCredits, actor: of.id, opens })
  return license
}

const redeem = (body: object, of = tenant) => send(api, 'POST', '/wallets/redeem', { key: of.publishableKey, body })
const lookUp = (walletCode: string, of = tenant) =>
  send(api, 'POST', '/wallets/lookup', { key: of.publishableKey, body: { wallet_code: walletCode } })
const grant = (body: object, idempotencyKey: string = randomUUID(), of = tenant) =>
  send(api, 'POST', '/wallets/grant', { key: of.secretKey, idempotencyKey, body })
const grantUntilServed = (body: object, idempotencyKey: string, of = tenant) => untilServed(() => grant(body, idempotencyKey, of))

async function makeWallet(amountCredits: number): Promise<string> {
  const got = await redeem({ license_key: await sellLicense(amountCredits) })
  assert.equal(got.status, 201)
  return got.body.data.wallet_code
}

async function balanceOf(code: string): Promise<number> {
  const got = await lookUp(code)
  return got.status === 404 ? 0 : got.body.data.balance
}

/** An answer without what differs at every request. */
function sameText({ status, text }: Got): string {
  return `${status} ${text.replace(/req_\w+/g, '')}`
}

describe('license keys', () => {
  test('one mints one wallet, shown once and not to be stored', async () => {
    const license = await sellLicense(100)
    const got = await redeem({ license_key: license })
    assert.equal(got.status, 201)
    assert.match(got.body.data.wallet_code, /^wlt_/)
    assert.equal(got.body.data.balance, 100)
    assert.equal(got.headers.get('cache-control'), 'no-store')
    const found = await lookUp(got.body.data.wallet_code)
    assert.deepEqual(found.body.data, { balance: 100, held: 0, currency: 'credits' })
    assertError(await redeem({ license_key: license }), 409, 'already_spent')
  })

  test('50 at once: one wallet, 49 × 409', async () => {
    const license = await sellLicense(10)
    const all = await Promise.all(Array.from({ length: 50 }, () => untilServed(() => redeem({ license_key: license }))))
    assert.equal(all.filter(({ status }) => status === 201).length, 1)
    assert.equal(all.filter(({ status, body }) => status === 409 && body.error.code === 'already_spent').length, 49)
  })

  test('an unknown or mistyped one is 404, and so is a code of another kind', async () => {
    const license = await sellLicense(10)
    for (const wrong of [
      newCredential('licenseKey'),
      `${license.slice(0, -1)}?`,
      newCredential('walletCode'),
      'x',
      await makeWallet(5),
    ])
      assertError(await redeem({ license_key: wrong }), 404, 'not_found')
  })

  test('a lost answer is found again with the recovery key, and by nobody else', async () => {
    const license = await sellLicense(10)
    const { publicKey, privateKey } = await generateKeyPair('ECDH-ES+A256KW', { extractable: true })
    const recoveryKey = await exportJWK(publicKey)
    const first = await redeem({ license_key: license, recovery_key: recoveryKey })
    assert.equal(first.status, 201)
    const again = await redeem({ license_key: license, recovery_key: recoveryKey })
    assertError(again, 409, 'already_spent')
    const { plaintext } = await compactDecrypt(again.body.error.details[0].sealed, privateKey)
    assert.equal(new TextDecoder().decode(plaintext), first.body.data.wallet_code)
    const other = await exportJWK((await generateKeyPair('ECDH-ES+A256KW', { crv: 'X25519', extractable: true })).publicKey)
    const stranger = await redeem({ license_key: license, recovery_key: other })
    assertError(stranger, 409, 'already_spent')
    assert.equal(stranger.body.error.details, undefined)
    assert.equal((await redeem({ license_key: license })).body.error.details, undefined)
  })

  test('a recovery key that nothing could be sealed to is refused before anything is spent', async () => {
    const license = await sellLicense(10)
    const broken = { kty: 'EC', crv: 'P-256', x: 'A'.repeat(43), y: 'A'.repeat(43) }
    assertError(await redeem({ license_key: license, recovery_key: broken }), 400, 'invalid_request')
    assert.equal((await redeem({ license_key: license })).status, 201)
  })
})

describe('blind tokens', () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  let issuer: TestTenant
  let epoch: string

  before(async () => {
    issuer = await api.makeTenant('Issuer')
    await fund(issuer, 100)
    const { n, e } = publicKey.export({ format: 'jwk' })
    const got = await send(api, 'POST', '/epochs', {
      key: issuer.secretKey,
      body: { public_key: { kty: 'RSA', n, e }, value: 10 },
    })
    assert.equal(got.status, 201)
    epoch = got.body.data.epoch
  })

  /** What unblinding gives: a plain signature over the prepared message. */
  function makeToken(key = privateKey) {
    const token = randomBytes(48)
    const sig = sign('sha384', token, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 48 })
    return { token: token.toString('base64url'), sig: sig.toString('base64url'), epoch }
  }

  test("one mints a wallet at any tenant, out of its issuer's balance", async () => {
    const got = await redeem(makeToken())
    assert.equal(got.status, 201)
    assert.equal(got.body.data.balance, 10)
    assert.equal(await balanceOf(got.body.data.wallet_code), 10)
  })

  test('50 equal ones at once, each with its own recovery key or none: one wallet, 49 × 409', async () => {
    const body = makeToken()
    const all = await Promise.all(Array.from({ length: 50 }, () => untilServed(() => redeem(body))))
    assert.equal(all.filter(({ status }) => status === 201).length, 1)
    assert.equal(all.filter(({ status, body: { error } }) => status === 409 && error.code === 'already_spent').length, 49)
  })

  test('no other spelling of a spent token is another token', async () => {
    const body = makeToken()
    assert.equal((await redeem(body)).status, 201)
    const spellings = [
      `${body.token}=`,
      `${body.token}\n`,
      ` ${body.token}`,
      body.token.replace(/.$/, (c) => String.fromCharCode(c.charCodeAt(0) + 1)),
    ]
    for (const token of spellings) assertError(await redeem({ ...body, token }), 400, 'invalid_request')
    assertError(await redeem({ ...body, sig: `${body.sig}==` }), 400, 'invalid_request')
    assertError(await redeem(body), 409, 'already_spent')
  })

  test('a second signature over a spent token is no second wallet', async () => {
    const body = makeToken()
    assert.equal((await redeem(body)).status, 201)
    const token = Buffer.from(body.token, 'base64url')
    const sig = sign('sha384', token, { key: privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 48 })
    assert.notEqual(sig.toString('base64url'), body.sig)
    assertError(await redeem({ ...body, sig: sig.toString('base64url') }), 409, 'already_spent')
  })

  test('a forged signature is 400, an unknown epoch 404', async () => {
    const forged = makeToken(generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey)
    assertError(await redeem(forged), 400, 'invalid_request')
    assertError(await redeem({ ...makeToken(), epoch: randomBytes(32).toString('base64url') }), 404, 'not_found')
  })

  test('a token that its issuer cannot cover now is 402 and stays good', async () => {
    const poor = await api.makeTenant('Poor')
    const keys = generateKeyPairSync('rsa', { modulusLength: 2_048 })
    const { n, e } = keys.publicKey.export({ format: 'jwk' })
    const published = await send(api, 'POST', '/epochs', {
      key: poor.secretKey,
      body: { public_key: { kty: 'RSA', n, e }, value: 7 },
    })
    const body = { ...makeToken(keys.privateKey), epoch: published.body.data.epoch }
    assertError(await redeem(body), 402, 'insufficient_credit')
    await fund(poor, 7)
    assert.equal((await redeem(body)).status, 201)
  })
})

describe('grants', () => {
  test('move credits from a wallet into a coupon, once a key', async () => {
    const wallet = await makeWallet(100)
    const key = randomUUID()
    const first = await grant({ amount: 30, wallet_code: wallet, memo: 'for tests' }, key)
    assert.equal(first.status, 201)
    assert.equal(first.headers.get('cache-control'), 'no-store')
    const { coupon, amount, expires_at: expiresAt } = first.body.data
    assert.deepEqual([amount, expiresAt], [30, null])
    const replay = await grant({ amount: 30, wallet_code: wallet, memo: 'for tests' }, key)
    assert.equal(replay.text, first.text)
    assert.equal(replay.headers.get('idempotency-status'), 'replayed')
    assert.deepEqual([await balanceOf(wallet), await balanceOf(coupon)], [70, 30])
    assertError(await grant({ amount: 31, wallet_code: wallet }, key), 409, 'idempotency_key_reused')
  })

  test('the same key at once from 20 callers grants once', async () => {
    const wallet = await makeWallet(100)
    const key = randomUUID()
    const all = await Promise.all(Array.from({ length: 20 }, () => grantUntilServed({ amount: 10, wallet_code: wallet }, key)))
    assert.deepEqual(new Set(all.map(({ text }) => text)).size, 1)
    assert.equal(await balanceOf(wallet), 90)
  })

  test("come out of the issuer's own balance where no wallet is named, and 402 tells when it is short", async () => {
    const issuer = await api.makeTenant('Own balance')
    assertError(await grant({ amount: 5 }, randomUUID(), issuer), 402, 'insufficient_credit')
    await fund(issuer, 5)
    assert.equal((await grant({ amount: 5 }, randomUUID(), issuer)).status, 201)
    const short = await grant({ amount: 1 }, randomUUID(), issuer)
    assertError(short, 402, 'insufficient_credit')
    assert.equal(short.body.error.message, "The grant needs 1 credit, and the issuer's balance has less. Nothing was charged.")
  })

  test('out of a coupon that expires never outlive it, and what is left of both goes back to where it came from', async () => {
    // On a busy machine, the coupon may expire before all of this is asked.
    await passesOnce(async (n) => {
      const wallet = await makeWallet(100)
      const [soon, late] = [1_200 * n, 3_600_000].map((ms) => new Date(Date.now() + ms).toISOString()) as [string, string]
      const coupon = (await grant({ amount: 50, wallet_code: wallet, expires_at: soon })).body.data.coupon
      const children: string[] = []
      for (const asked of [undefined, late, soon]) {
        const got = await grant({ amount: 10, wallet_code: coupon, ...(asked ? { expires_at: asked } : {}) })
        assert.deepEqual([got.status, got.body.data.expires_at], [201, soon], got.text)
        children.push(got.body.data.coupon)
      }
      const grandchild = await grant({ amount: 5, wallet_code: children[0] })
      assert.equal(grandchild.body.data.expires_at, soon)
      const unhurried = await grant({ amount: 10, wallet_code: wallet, expires_at: late })
      assert.equal(unhurried.body.data.expires_at, late)
      assert.equal(await balanceOf(wallet), 40)
      await eventually(async () => {
        await sweepLedger(api.ctx.db, api.ctx.ledger, 1_000)
        return (await balanceOf(wallet)) === 90
      }, 'all came back')
      assertError(await grant({ amount: 1, wallet_code: coupon }), 402, 'insufficient_credit')
    })
  })

  test('500 at once against a balance for 300: exactly 300', async () => {
    const issuer = await api.makeTenant('Busy')
    await fund(issuer, 300)
    const all = await Promise.all(Array.from({ length: 500 }, () => grantUntilServed({ amount: 1 }, randomUUID(), issuer)))
    assert.equal(all.filter(({ status }) => status === 201).length, 300)
    assert.equal(all.filter(({ status, body }) => status === 402 && body.error.code === 'insufficient_credit').length, 200)
  })

  test('a refused grant frees its key', async () => {
    const wallet = await makeWallet(10)
    const key = randomUUID()
    assertError(await grant({ amount: 11, wallet_code: wallet }, key), 402, 'insufficient_credit')
    assert.equal((await grant({ amount: 10, wallet_code: wallet }, key)).status, 201)
  })

  test('a key whose answer is no longer kept does not grant again', async () => {
    const wallet = await makeWallet(20)
    const key = randomUUID()
    assert.equal((await grant({ amount: 5, wallet_code: wallet }, key)).status, 201)
    await api.ctx.db.pool.query("update idempotency_keys set expires_at = now() - interval '1 second'")
    assertError(await grant({ amount: 5, wallet_code: wallet }, key), 409, 'idempotency_key_reused')
    assert.equal(await balanceOf(wallet), 15)
  })

  test('need the header, the issuer role, a known wallet, and an expiry that lies ahead', async () => {
    const wallet = await makeWallet(10)
    const bare = await send(api, 'POST', '/wallets/grant', { key: tenant.secretKey, body: { amount: 1 } })
    assertError(bare, 400, 'idempotency_key_required')
    assertError(await grant({ amount: 1, wallet_code: newCredential('walletCode') }), 404, 'not_found')
    assertError(await grant({ amount: 1, wallet_code: wallet, expires_at: '2020-01-01T00:00:00Z' }), 400, 'invalid_request')
    for (const amount of [0, -1, 1.5, 2 ** 53, '1'])
      assertError(await grant({ amount, wallet_code: wallet }), 400, 'invalid_request')
    const app = await send(api, 'POST', '/tenants', {
      headers: { 'x-admin-token': api.adminToken },
      body: { name: 'App', roles: ['app'] },
    })
    const appTenant = { id: '', secretKey: app.body.data.secret_key, publishableKey: app.body.data.publishable_key }
    assertError(await grant({ amount: 1, wallet_code: wallet }, randomUUID(), appTenant), 403, 'issuer_role_required')
    assert.equal(await balanceOf(wallet), 10)
  })
})

describe('looking up', () => {
  test('does not tell a spent code from one that never was, nor from a mistyped one', async () => {
    const wallet = await makeWallet(5)
    assert.equal((await grant({ amount: 5, wallet_code: wallet })).status, 201)
    const spent = sameText(await lookUp(wallet))
    assert.match(spent, /^404/)
    assert.equal(sameText(await lookUp(newCredential('walletCode'))), spent)
    assert.equal(sameText(await lookUp(`${wallet.slice(0, -1)}0`)), spent)
  })

  test('takes about as long for a spent code as for one that never was', async () => {
    const wallet = await makeWallet(5)
    await grant({ amount: 5, wallet_code: wallet })
    const timed = async (code: string) => {
      const start = process.hrtime.bigint()
      await lookUp(code)
      return Number(process.hrtime.bigint() - start)
    }
    await passesOnce(async () => {
      const spent: number[] = []
      const unknown: number[] = []
      // In turn, so that what else the machine does falls on both alike.
      for (let i = 0; i < 150; i++) {
        spent.push(await timed(wallet))
        unknown.push(await timed(newCredential('walletCode')))
      }
      const ratio = median(spent) / median(unknown)
      assert.ok(ratio > 0.7 && ratio < 1.4, `${ratio}`)
    })
  })

  test('shows what is held, and a coupon like a wallet', async () => {
    const wallet = await makeWallet(10)
    const { coupon } = (await grant({ amount: 10, wallet_code: wallet })).body.data
    const found = await api.ctx.db.pool.query<{ tenant_id: string; id: string }>(
      'select tenant_id, id from ledger_accounts where code_hash = $1',
      [hashCredential(coupon)],
    )
    const { tenant_id: tenantId, id } = found.rows[0]!
    const endsAt = new Date(Date.now() + 60_000).toISOString()
    const hold = {
      type: 'hold' as const,
      id: transactionId('held', coupon),
      from: { tenantId, id },
      amountCredits: 10,
      actor: tenant.id,
      endsAt,
      purpose: 'test',
    }
    assert.equal(await api.ctx.ledger.add(hold), 'posted')
    assert.deepEqual((await lookUp(coupon)).body.data, { balance: 0, held: 10, currency: 'credits' })
  })
})

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!
}

test('an operator proves the books; a tenant key does not open them', async () => {
  const got = await send(api, 'GET', '/operator/audit', { headers: { 'x-admin-token': api.adminToken } })
  assert.equal(got.status, 200)
  assert.deepEqual(got.body.data.findings, [])
  assert.ok(got.body.data.transfers > 300)
  assertError(await send(api, 'GET', '/operator/audit', { key: tenant.secretKey }), 401, 'unauthorized')
})

test('no wallet code, coupon or license key is in any table, in any spelling', async () => {
  const license = await sellLicense(10)
  const { wallet_code: walletCode } = (await redeem({ license_key: license })).body.data
  const { coupon } = (await grant({ amount: 1, wallet_code: walletCode })).body.data
  const tables = await api.ctx.db.pool.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public'",
  )
  for (const { name } of tables.rows) {
    const dump = (await api.ctx.db.pool.query(`select t::text as row from "${name}" t`)).rows
      .map(({ row }) => row as string)
      .join('\n')
    for (const secret of [license, walletCode, coupon] as string[]) {
      for (const spelling of [secret, Buffer.from(secret).toString('hex'), Buffer.from(secret).toString('base64url')])
        assert.ok(!dump.includes(spelling), `${name} holds a code`)
    }
  }
})
