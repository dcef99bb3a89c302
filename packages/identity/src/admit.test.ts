import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Account, admit, type FindListStatus, type RejectionReason, type ListStatus } from './admit.ts'
import { ProviderKeys } from './provider-keys.ts'
import { ProviderUnavailable } from './provider-unavailable.ts'
import { createTestDevice, createTestProvider } from './testing/provider.ts'

const nowMs = Date.UTC(2026, 10, 20, 12)
const provider = await createTestProvider({ now: () => nowMs })
const { issuer } = provider
const keys = new ProviderKeys({ issuer, fetchJson: provider.fetchJson, now: () => nowMs })
const expected = { keys, issuer, audience: 'atrium', nowMs }

const device = await createTestDevice()
const otherDevice = await createTestDevice()
const { spk, nonce } = device
const idToken = await provider.sign({ nonce })
const expired = await provider.sign({ nonce, exp: 1 })

const says =
  (status: ListStatus): FindListStatus<Account> =>
  async () =>
    status
const closed: FindListStatus<Account> = () => assert.fail('the list was opened')

test('an account on the list is admitted, with spk as an object or as header text', async () => {
  for (const shape of [spk, JSON.stringify(spk)]) {
    const admission = await admit({ idToken, spk: shape }, expected, says('listed'))
    assert.ok(admission.ok)
    assert.deepEqual(admission.principal, { email: 'ann@example.com', sub: 'account-1', issuer, name: 'Ann' })
    assert.equal(admission.thumbprint, nonce)
    assert.equal(admission.publicKey.export({ format: 'jwk' }).x, spk.x)
  }
})

test('the list is read with the account in comparison form', async () => {
  const token = await provider.sign({ nonce, email: 'ANN@Example.com', name: undefined })
  const asked: unknown[] = []
  await admit({ idToken: token, spk }, expected, async (account) => {
    asked.push(account)
    return 'listed'
  })
  assert.deepEqual(asked, [{ email: 'ann@example.com', sub: 'account-1', issuer }])
})

const refused: readonly [string, object, RejectionReason, FindListStatus<Account>?][] = [
  ['nothing presented', {}, 'unsigned'],
  ['nulls', { idToken: null, spk: null }, 'unsigned'],
  ['empty headers', { idToken: '', spk: '' }, 'unsigned'],
  ['a key without token', { spk }, 'unsigned'],
  ['a token without key', { idToken }, 'unsigned'],
  ['a bad token without key', { idToken: 'x' }, 'unsigned'],
  ['a token that is no text', { idToken: { ok: true }, spk }, 'token: malformed'],
  ['an expired token', { idToken: expired, spk }, 'token: expired'],
  ['an expired token with another key: the token is judged first', { idToken: expired, spk: otherDevice.spk }, 'token: expired'],
  ['a bad signature', { idToken: `${idToken.slice(0, -4)}AAAA`, spk }, 'token: bad_signature'],
  ['another audience', { idToken: await provider.sign({ nonce, aud: 'other' }), spk }, 'token: bad_aud'],
  ["another device's key", { idToken, spk: otherDevice.spk }, 'nonce_mismatch'],
  ['a key that is none', { idToken, spk: 'x' }, 'nonce_mismatch'],
  ['a private key', { idToken, spk: { ...spk, d: spk.x } }, 'nonce_mismatch'],
  ['a nonce of other capitals', { idToken: await provider.sign({ nonce: nonce.toLowerCase() }), spk }, 'nonce_mismatch'],
  ['a padded nonce', { idToken: await provider.sign({ nonce: `${nonce}=` }), spk }, 'nonce_mismatch'],
  ['an account not on the list', { idToken, spk }, 'not_on_list', says('absent')],
  ['an account taken off the list', { idToken, spk }, 'revoked', says('revoked')],
  ['a list that answers nonsense', { idToken, spk }, 'not_on_list', says(true as never)],
]

for (const [name, credentials, reason, list = closed] of refused) {
  test(`${reason}: ${name}`, async () => {
    assert.deepEqual(await admit(credentials, expected, list), { ok: false, reason })
  })
}

test('a list that cannot be opened admits nobody', async () => {
  const broken = () => Promise.reject(new Error('cannot open'))
  await assert.rejects(admit({ idToken, spk }, expected, broken), /cannot open/)
})

test('a provider that cannot be asked is no rejection', async () => {
  const unreachable = new ProviderKeys({ issuer, fetchJson: () => Promise.reject(new Error('down')) })
  await assert.rejects(admit({ idToken, spk }, { ...expected, keys: unreachable }, closed), ProviderUnavailable)
})
