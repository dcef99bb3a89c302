import assert from 'node:assert/strict'
import { constants, generateKeyPairSync, randomBytes, randomUUID, sign } from 'node:crypto'
import { after, before, test } from 'node:test'
import { issuerAccount, platformAccount, transactionId } from '#features/credits/ledger/movement.ts'
import { assertError, send } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'

let api: TestApi
let issuer: TestTenant
before(async () => {
  api = await startTestApi()
  issuer = await api.makeTenant()
  const transfer = { type: 'transfer', kind: 'prefund', from: platformAccount, to: issuerAccount(issuer.id) } as const
  await api.ctx.ledger.add({ ...transfer, id: transactionId('test', randomUUID()), amountCredits: 100, actor: issuer.id })
})
after(() => api.close())

const minutes = 60_000

/** A new epoch that ends at that time; returns what makes its tokens. */
async function makeEpoch(endsAtMs: number) {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const { n, e } = publicKey.export({ format: 'jwk' })
  const body = { public_key: { kty: 'RSA', n, e }, value: 10, expires_at: new Date(endsAtMs).toISOString() }
  const published = await send(api, 'POST', '/epochs', { key: issuer.secretKey, body })
  assert.equal(published.status, 201, published.text)
  const { epoch } = published.body.data
  return () => {
    const token = randomBytes(48)
    const sig = sign('sha384', token, { key: privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 48 })
    return { token: token.toString('base64url'), sig: sig.toString('base64url'), epoch }
  }
}

const redeem = (body: object) => send(api, 'POST', '/wallets/redeem', { key: issuer.publishableKey, body })

async function assertOver(body: object): Promise<void> {
  const refused = await redeem(body)
  assertError(refused, 400, 'invalid_request')
  assert.deepEqual(refused.body.error.details, [{ path: '/epoch', message: 'has expired' }])
}

test('a token is good until its epoch ends where the clock of the process is ahead', async (t) => {
  const makeToken = await makeEpoch(Date.now() + 5 * minutes)
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 10 * minutes })
  const got = await redeem(makeToken())
  assert.equal(got.status, 201, got.text)
})

test('a token ends with its epoch where the clock of the process is behind', async (t) => {
  const endsAtMs = Date.now() - minutes
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() - 10 * minutes })
  const makeToken = await makeEpoch(endsAtMs)
  await assertOver(makeToken())
})

test('an epoch that was read before its end ends in time', async (t) => {
  const makeToken = await makeEpoch(Date.now() + 5 * minutes)
  const first = makeToken()
  assert.equal((await redeem(first)).status, 201)
  const now = performance.now.bind(performance)
  t.mock.method(performance, 'now', () => now() + 6 * minutes)
  await assertOver(makeToken())
  // A token that was redeemed in time is still told so.
  assertError(await redeem(first), 409, 'already_spent')
})
