import assert from 'node:assert/strict'
import { createHmac, sign } from 'node:crypto'
import { test } from 'node:test'
import { CompactSign, exportJWK, exportPKCS8, generateKeyPair, type JWTPayload, jwtVerify, UnsecuredJWT } from 'jose'
import { type TokenDetail, verifyIdToken } from './id-token.ts'
import { ProviderKeys } from './provider-keys.ts'
import { createTestProvider } from './testing/provider.ts'
import { strayLowBits } from './testing/stray-low-bits.ts'

const nowMs = Date.UTC(2026, 10, 20, 12)
const now = nowMs / 1000
const provider = await createTestProvider({ now: () => nowMs })
const { issuer, publicJwk } = provider
const audience = 'atrium'
const pem = await exportPKCS8(provider.privateKey)
const stranger = await createTestProvider({ now: () => nowMs })
const good = await provider.sign({})
const [goodHeader = '', goodPayload = '', goodSignature = ''] = good.split('.')

function verify(token: unknown) {
  const keys = new ProviderKeys({ issuer, fetchJson: provider.fetchJson, now: () => nowMs })
  return verifyIdToken(token, { keys, issuer, audience, nowMs })
}

/** jose's own verdict by the same rules, as far as jose has them. */
async function joseAccepts(token: unknown): Promise<boolean> {
  const rules = { issuer, audience, algorithms: ['RS256'], clockTolerance: 60, maxTokenAge: '12h' }
  const requiredClaims = ['exp', 'iat', 'nonce', 'sub', 'email']
  const options = { ...rules, requiredClaims, currentDate: new Date(nowMs) }
  return jwtVerify(token as string, provider.publicJwk, options).then(
    () => true,
    () => false,
  )
}

test('a good token is accepted, and its claims come back with the address in comparison form', async () => {
  const verdict = await verify(await provider.sign({ email: 'Ann@Example.com', extra: 'x' }))
  const { iat, exp } = { iat: now, exp: now + 3600 }
  const claims = { iss: issuer, sub: 'account-1', nonce: 'a-nonce', exp, iat, email: 'ann@example.com', name: 'Ann' }
  assert.deepEqual(verdict, { ok: true, claims })
})

type Row = readonly [name: string, make: () => unknown, change?: 'stricter than jose']

const accepted: readonly Row[] = [
  ['without a typ', () => provider.sign({}, { typ: undefined })],
  ['of typ application/jwt', () => provider.sign({}, { typ: 'application/JWT' })],
  ['without a kid, from a provider of one key', () => provider.sign({}, { kid: undefined })],
  ['without a name', () => provider.sign({ name: undefined })],
  ['with a list of one audience', () => provider.sign({ aud: [audience] })],
  ['with two audiences and azp', () => provider.sign({ aud: ['other', audience], azp: audience })],
  ['one audience and azp', () => provider.sign({ azp: audience })],
  ['expired 59 s ago', () => provider.sign({ iat: now - 600, exp: now - 59 })],
  ['issued 59 s from now', () => provider.sign({ iat: now + 59 })],
  ['valid from 59 s from now', () => provider.sign({ nbf: now + 59 })],
  ['12 h old', () => provider.sign({ iat: now - 12 * 3600 })],
  ['with fractional times', () => provider.sign({ iat: now - 0.5, exp: now + 0.5 })],
  ['with an unread jku', () => provider.sign({}, { jku: 'https://evil.example/jwks' })],
]

for (const [name, make] of accepted) {
  test(`accepted: ${name}`, async () => {
    const token = await make()
    assert.equal((await verify(token)).ok, true)
    assert.equal(await joseAccepts(token), true, 'and jose agrees')
  })
}

const refused: Readonly<Record<TokenDetail, readonly Row[]>> = {
  malformed: [
    ['no string', () => 7],
    ['an object', () => ({ token: good })],
    ['an array holding a good token', () => [good]],
    ['words', () => 'not a token'],
    ['one part', () => goodHeader],
    ['two parts', () => `${goodHeader}.${goodPayload}`],
    ['four parts', () => `${good}.${goodSignature}`],
    ['five parts, as a JWE has', () => `${good}.${goodSignature}.${goodSignature}`],
    ['an empty header', () => `.${goodPayload}.${goodSignature}`],
    ['an empty payload', () => `${goodHeader}..${goodSignature}`],
    ['longer than 16 KiB', () => provider.sign({ pad: 'p'.repeat(16 * 1024) }), 'stricter than jose'],
    ['a padded header', () => `${goodHeader}=.${goodPayload}.${goodSignature}`],
    ['white space before', () => ` ${good}`],
    ['a Bearer prefix', () => `Bearer ${good}`],
    ['a header that is no JSON', () => signText('{alg:RS256}')],
    ['a header that is an array', () => signText('["RS256"]')],
    ['a header with a byte order mark', () => signText('\ufeff{"alg":"RS256","kid":"k1"}'), 'stricter than jose'],
    ['alg twice', () => signText('{"alg":"none","alg":"RS256","kid":"k1"}'), 'stricter than jose'],
    ['crit', () => provider.sign({}, { crit: ['b64'], b64: true }), 'stricter than jose'],
    ['crit of something unknown', () => signText('{"alg":"RS256","kid":"k1","crit":["x"],"x":1}')],
    ['crit that is empty', () => signText('{"alg":"RS256","kid":"k1","crit":[]}')],
    ['b64 false', () => signText('{"alg":"RS256","kid":"k1","b64":false}'), 'stricter than jose'],
    ['kid that is a number', () => signText('{"alg":"RS256","kid":1}'), 'stricter than jose'],
    ['kid that is null', () => signText('{"alg":"RS256","kid":null}'), 'stricter than jose'],
    ['the typ of an access token', () => provider.sign({}, { typ: 'at+jwt' }), 'stricter than jose'],
    ['the typ of a logout token', () => provider.sign({}, { typ: 'logout+jwt' }), 'stricter than jose'],
    ['signed claims that are no JSON', () => signText(undefined, 'hello')],
    ['signed claims that are null', () => signText(undefined, 'null')],
    ['signed claims that are an array', () => signText(undefined, '[]')],
    ['signed claims that are not UTF-8', () => signText(undefined, Buffer.from([0x7b, 0xff, 0x7d]))],
    ['email twice', () => signText(undefined, claimsText().replace('{', '{"email":"bob@example.com",')), 'stricter than jose'],
    [
      'nonce twice, once in escapes',
      () => signText(undefined, claimsText().replace('{', '{"\\u006eonce":"x",')),
      'stricter than jose',
    ],
    ['a lone surrogate in the name', () => signText(undefined, claimsText().replace('Ann', '\\ud800')), 'stricter than jose'],
    ['NUL in the address', () => provider.sign({ email: 'ann\0@example.com' }), 'stricter than jose'],
    ['no sub', () => provider.sign({ sub: undefined })],
    ['an empty sub', () => provider.sign({ sub: '' }), 'stricter than jose'],
    ['a sub of 256 characters', () => provider.sign({ sub: 's'.repeat(256) }), 'stricter than jose'],
    ['a sub that is a number', () => provider.sign({ sub: 1 }), 'stricter than jose'],
    ['no nonce', () => provider.sign({ nonce: undefined })],
    ['an empty nonce', () => provider.sign({ nonce: '' }), 'stricter than jose'],
    ['a nonce that is a list', () => provider.sign({ nonce: ['a-nonce'] }), 'stricter than jose'],
    ['no exp', () => provider.sign({ exp: undefined })],
    ['exp as text', () => provider.sign({ exp: String(now + 3600) })],
    ['exp null', () => provider.sign({ exp: null })],
    ['exp 1e400', () => signText(undefined, claimsText().replace(/"exp":\d+/, '"exp":1e400')), 'stricter than jose'],
    ['no iat', () => provider.sign({ iat: undefined })],
    ['iat as text', () => provider.sign({ iat: String(now) })],
    ['nbf as text', () => provider.sign({ nbf: String(now) })],
  ],
  bad_signature: [
    ['alg none', () => new UnsecuredJWT(claims()).encode()],
    ['alg none with the good signature', () => withHeader({ alg: 'none' })],
    ['alg None', () => withHeader({ alg: 'None', kid: 'k1' })],
    ['alg rs256', () => withHeader({ alg: 'rs256', kid: 'k1' })],
    ['no alg', () => withHeader({ kid: 'k1' })],
    ['alg in a list', () => withHeader({ alg: ['RS256'], kid: 'k1' })],
    ['HS256 keyed with the public key', () => hmacWithPublicKey()],
    ['HS256 keyed with nothing', () => hmac('')],
    ['PS256 by the right key', () => signAs('PS256')],
    ['RS384 by the right key', () => signAs('RS384')],
    ['RS512 by the right key', () => signAs('RS512')],
    ['ES256', () => es256()],
    ['RS256 by a stranger under our kid', () => stranger.sign({ iss: issuer })],
    ['a kid the provider does not have', () => provider.sign({}, { kid: 'k2' }), 'stricter than jose'],
    ['a kid named like a property of objects', () => provider.sign({}, { kid: '__proto__' }), 'stricter than jose'],
    ["a stranger's key in the header", () => stranger.sign({}, { kid: undefined, jwk: stranger.publicJwk })],
    ['no signature', () => `${goodHeader}.${goodPayload}.`],
    ['a short signature', () => `${goodHeader}.${goodPayload}.${goodSignature.slice(0, -4)}`],
    ['a signature of zeros', () => `${goodHeader}.${goodPayload}.${Buffer.alloc(256).toString('base64url')}`],
    ['the last letter changed', () => good.slice(0, -1) + (good.endsWith('A') ? 'Q' : 'A')],
    ['stray low bits in the signature', () => strayLowBits(good), 'stricter than jose'],
    ['a padded signature', () => `${good}==`, 'stricter than jose'],
    ['white space after', () => `${good}\n`, 'stricter than jose'],
    ['changed claims', () => withPayload({ ...claims(), email: 'bob@example.com' })],
    ['changed claims that are no JSON', () => `${goodHeader}.x${goodPayload}.${goodSignature}`],
    ['the header in another spelling', () => withHeader({ kid: 'k1', typ: 'JWT', alg: 'RS256' })],
    ['wrong in all other respects too', () => stranger.sign({ iss: 'x', aud: 'x', exp: 1, email_verified: false })],
  ],
  bad_issuer: [
    ['another issuer', () => provider.sign({ iss: 'https://evil.example' })],
    ['a trailing slash', () => provider.sign({ iss: `${issuer}/` })],
    ['other capitals', () => provider.sign({ iss: issuer.toUpperCase() })],
    ['no issuer', () => provider.sign({ iss: undefined })],
    ['a list of issuers', () => provider.sign({ iss: [issuer] })],
    ['and another audience, and too old', () => provider.sign({ iss: 'x', aud: 'x', exp: 1 })],
  ],
  bad_aud: [
    ['another audience', () => provider.sign({ aud: 'other' })],
    ['no audience', () => provider.sign({ aud: undefined })],
    ['an empty list', () => provider.sign({ aud: [] })],
    ['a list in a list', () => provider.sign({ aud: [[audience]] })],
    ['a longer name', () => provider.sign({ aud: `${audience}2` })],
    ['two audiences without azp', () => provider.sign({ aud: [audience, 'other'] }), 'stricter than jose'],
    ['two audiences, azp the other', () => provider.sign({ aud: [audience, 'other'], azp: 'other' }), 'stricter than jose'],
    ['one audience, azp another', () => provider.sign({ azp: 'other' }), 'stricter than jose'],
    ['azp us, audience another', () => provider.sign({ aud: 'other', azp: audience })],
    ['two others and azp us', () => provider.sign({ aud: ['other', 'more'], azp: audience })],
    ['a number among the audiences', () => provider.sign({ aud: [audience, 1], azp: audience }), 'stricter than jose'],
    ['and too old, and unverified', () => provider.sign({ aud: 'x', exp: 1, email_verified: false })],
  ],
  expired: [
    ['expired an hour ago', () => provider.sign({ iat: now - 7200, exp: now - 3600 })],
    ['expired 60 s ago', () => provider.sign({ iat: now - 600, exp: now - 60 })],
    ['exp 0', () => provider.sign({ exp: 0 })],
    ['exp negative', () => provider.sign({ exp: -1 })],
    ['exp in milliseconds, issued long ago', () => provider.sign({ iat: 1, exp: nowMs })],
    ['issued 12 h and 61 s ago, good for a day', () => provider.sign({ iat: now - 43_261, exp: now + 43_200 })],
    ['and unverified', () => provider.sign({ exp: 1, email_verified: false })],
  ],
  not_yet_valid: [
    ['issued 61 s from now', () => provider.sign({ iat: now + 61 })],
    ['iat in milliseconds', () => provider.sign({ iat: nowMs })],
    ['valid from 61 s from now', () => provider.sign({ nbf: now + 61 })],
  ],
  unverified_email: [
    ['no address', () => provider.sign({ email: undefined })],
    ['email_verified missing', () => provider.sign({ email_verified: undefined }), 'stricter than jose'],
    ['email_verified false', () => provider.sign({ email_verified: false }), 'stricter than jose'],
    ['email_verified "true"', () => provider.sign({ email_verified: 'true' }), 'stricter than jose'],
    ['email_verified 1', () => provider.sign({ email_verified: 1 }), 'stricter than jose'],
    ['an address that is none', () => provider.sign({ email: 'ann' }), 'stricter than jose'],
    ['two addresses', () => provider.sign({ email: ['ann@example.com', 'bob@example.com'] }), 'stricter than jose'],
  ],
}

for (const [reason, rows] of Object.entries(refused)) {
  for (const [name, make, stricter] of rows) {
    test(`${reason}: ${name}`, async () => {
      const token = await make()
      assert.deepEqual(await verify(token), { ok: false, reason })
      assert.equal(await joseAccepts(token), stricter !== undefined, 'where jose accepts, the row says so')
    })
  }
}

test('every bit of the signature counts', async () => {
  const keys = new ProviderKeys({ issuer, fetchJson: provider.fetchJson, now: () => nowMs })
  for (let bit = 0; bit < 2048; bit += 1) {
    const bytes = Buffer.from(goodSignature, 'base64url')
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    const token = `${goodHeader}.${goodPayload}.${bytes.toString('base64url')}`
    assert.deepEqual(await verifyIdToken(token, { keys, issuer, audience, nowMs }), { ok: false, reason: 'bad_signature' })
  }
})

test('what cannot be an RS256 token never reaches the provider', async () => {
  const keys = { find: () => assert.fail('keys were asked for') }
  for (const token of ['x', withHeader({ alg: 'none' }), hmac('')]) {
    assert.equal((await verifyIdToken(token, { keys, issuer, audience, nowMs })).ok, false)
  }
})

function claims(): JWTPayload {
  return JSON.parse(claimsText()) as JWTPayload
}

function claimsText(): string {
  return Buffer.from(goodPayload, 'base64url').toString()
}

/** Signed by the provider, but with header and claims exactly as given, which no library would write. */
function signText(header = '{"alg":"RS256","kid":"k1"}', payload: string | Buffer = claimsText()): string {
  const text = `${base64url(header)}.${base64url(payload)}`
  return `${text}.${sign('sha256', Buffer.from(text), pem).toString('base64url')}`
}

function withHeader(header: object): string {
  return `${base64url(JSON.stringify(header))}.${goodPayload}.${goodSignature}`
}

function withPayload(payload: object): string {
  return `${goodHeader}.${base64url(JSON.stringify(payload))}.${goodSignature}`
}

function hmac(secret: string): string {
  const text = `${base64url('{"alg":"HS256","kid":"k1"}')}.${goodPayload}`
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

function hmacWithPublicKey(): string {
  return hmac(JSON.stringify(publicJwk))
}

function signAs(alg: string): Promise<string> {
  const hash = { name: alg === 'PS256' ? 'RSA-PSS' : 'RSASSA-PKCS1-v1_5', hash: `SHA-${alg.slice(2)}` }
  const payload = Buffer.from(goodPayload, 'base64url')
  return crypto.subtle
    .importKey('pkcs8', Buffer.from(pem.replace(/-----[^-]+-----|\n/g, ''), 'base64'), hash, false, ['sign'])
    .then((key) => new CompactSign(payload).setProtectedHeader({ alg, kid: 'k1' }).sign(key))
}

async function es256(): Promise<string> {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const header = { alg: 'ES256', kid: 'k1', jwk: await exportJWK(publicKey) }
  return new CompactSign(Buffer.from(goodPayload, 'base64url')).setProtectedHeader(header).sign(privateKey)
}

function base64url(text: string | Buffer): string {
  return Buffer.from(text).toString('base64url')
}
