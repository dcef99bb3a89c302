import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import { after, before, test } from 'node:test'
import { verifyIdToken } from '@atrium/identity/id-token'
import { ProviderKeys } from '@atrium/identity/provider-keys'
import Fastify from 'fastify'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { startDevelopmentIdentity, type TestDevelopmentIdentity } from '#testing/start-development-identity.ts'
import { addDevelopmentIdentity } from './add-development-identity.ts'

const spaces = 'http://localhost:8788'
const other = 'http://localhost:8789'
const redirectUri = `${spaces}/space`
const state = { nowMs: Date.now() }

let provider: TestDevelopmentIdentity
before(async () => {
  provider = await startDevelopmentIdentity({ redirectOrigins: [spaces, other], now: () => state.nowMs })
})
after(() => provider.close())

interface Asked {
  verifier: string
  params: Record<string, string>
}

/** A good request; each case then breaks one thing (undefined removes). */
function ask(changes: Record<string, string | undefined> = {}): Asked {
  const verifier = randomBytes(32).toString('base64url')
  const good = {
    response_type: 'code',
    client_id: provider.clientId,
    redirect_uri: redirectUri,
    scope: 'openid email profile',
    state: 'a state & more=1',
    nonce: 'a-nonce',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }
  const params: Record<string, string> = {}
  for (const [name, value] of Object.entries({ ...good, ...changes })) if (value !== undefined) params[name] = value
  return { verifier, params }
}

function authorize(params: Record<string, string> | string, form?: Record<string, string>): Promise<Response> {
  const url = `${provider.issuer}/authorize?${new URLSearchParams(params).toString()}`
  return fetch(url, { redirect: 'manual', ...(form && { method: 'POST', body: new URLSearchParams(form) }) })
}

/** Where the answer sends the browser. */
function sentTo(res: Response): { uri: string; params: URLSearchParams } {
  assert.equal(res.status, 303)
  const { origin, pathname, searchParams } = new URL(res.headers.get('location') ?? '')
  return { uri: origin + pathname, params: searchParams }
}

async function codeFor(asked: Asked, form: Record<string, string> = { email: 'ann@example.com' }): Promise<string> {
  return sentTo(await authorize(asked.params, form)).params.get('code') ?? assert.fail('no code')
}

function postToken(form: Record<string, string>, init: RequestInit = {}): Promise<Response> {
  return fetch(`${provider.issuer}/token`, { method: 'POST', body: new URLSearchParams(form), ...init })
}

async function redeem(code: string, { verifier }: Asked, changes: Record<string, string> = {}) {
  const form = { grant_type: 'authorization_code', code, client_id: provider.clientId, redirect_uri: redirectUri }
  const res = await postToken({ ...form, code_verifier: verifier, ...changes })
  return { status: res.status, body: (await res.json()) as Record<string, string>, headers: res.headers }
}

async function tokenFor(form: Record<string, string>, changes: Record<string, string | undefined> = {}): Promise<string> {
  const asked = ask(changes)
  const { status, body } = await redeem(await codeFor(asked, form), asked)
  assert.equal(status, 200)
  return body['id_token'] ?? assert.fail('no ID token')
}

test('the ID token says who typed what, and holds before jose and before our own verifier', async () => {
  const { issuer, clientId: audience } = provider
  const token = await tokenFor({ email: ' Ann@Example.com ', name: '  Ann\n O’Neill 🌙 ' })
  const jwks = createRemoteJWKSet(new URL(`${issuer}/jwks`))
  const { payload } = await jwtVerify(token, jwks, {
    issuer,
    audience,
    algorithms: ['RS256'],
    currentDate: new Date(state.nowMs),
  })
  assert.equal(payload.exp! - payload.iat!, 3600)
  assert.equal(payload['email_verified'], true)

  const fetchJson = async (url: string): Promise<unknown> => (await fetch(url)).json()
  const keys = new ProviderKeys({ issuer, fetchJson })
  const verdict = await verifyIdToken(token, { keys, issuer, audience, nowMs: state.nowMs })
  assert.ok(verdict.ok)
  const { email, name, nonce } = verdict.claims
  assert.deepEqual({ email, name, nonce }, { email: 'ann@example.com', name: 'Ann O’Neill 🌙', nonce: 'a-nonce' })
})

test('an address is one person each time, another address another', async () => {
  const subjectOf = async (email: string) => {
    const [, claims] = (await tokenFor({ email })).split('.')
    return (JSON.parse(Buffer.from(claims!, 'base64url').toString()) as { sub: string }).sub
  }
  assert.equal(await subjectOf('ann@example.com'), await subjectOf('ANN@example.com'))
  assert.notEqual(await subjectOf('ann@example.com'), await subjectOf('bob@example.com'))
})

test('a token holds what the scopes ask for, no more', async () => {
  const claimsOf = async (scope: string) => {
    const token = await tokenFor({ email: 'zoë@bücher.example', name: 'Zoë' }, { scope })
    const { email, name } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, string>
    return { email, name }
  }
  assert.deepEqual(await claimsOf('openid'), { email: undefined, name: undefined })
  assert.deepEqual(await claimsOf('openid email'), { email: 'zoë@bücher.example', name: undefined })
  assert.deepEqual(await claimsOf('profile openid'), { email: undefined, name: 'Zoë' })
})

test('discovery names the issuer it was asked for, and addresses that answer', async () => {
  const document = (await (await fetch(`${provider.issuer}/.well-known/openid-configuration`)).json()) as Record<string, string>
  assert.equal(document['issuer'], provider.issuer)
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'])
    assert.ok(document[name]!.startsWith(`${provider.issuer}/`), name)
  const { keys } = (await (await fetch(document['jwks_uri']!)).json()) as { keys: Record<string, unknown>[] }
  assert.deepEqual(Object.keys(keys[0]!), ['kty', 'use', 'alg', 'kid', 'n', 'e'], 'and not one private part')
})

test('its own address is a page that says what it is', async () => {
  const res = await fetch(provider.issuer)
  assert.equal(res.status, 200)
  assert.equal(res.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.match(res.headers.get('content-security-policy') ?? '', /^default-src 'none'; .*form-action 'none'/)
  const html = await res.text()
  assert.ok(html.includes('<h1>Development sign-in</h1>') && html.includes(`href="${redirectUri}"`))
  assert.ok(html.includes(`href="${provider.issuer}/.well-known/openid-configuration"`))
})

test('the answer goes to the redirect address with state and issuer as they were', async () => {
  const { uri, params } = sentTo(await authorize(ask().params, { email: 'ann@example.com' }))
  assert.equal(uri, redirectUri)
  assert.deepEqual([params.get('state'), params.get('iss')], ['a state & more=1', provider.issuer])
  const stateless = sentTo(await authorize(ask({ state: undefined }).params, { email: 'ann@example.com' }))
  assert.equal(stateless.params.has('state'), false)
})

test('a code is good once, for a minute, for the one it was made for, with its verifier', async () => {
  const cases: [string, Record<string, string>][] = [
    ['another verifier', { code_verifier: randomBytes(32).toString('base64url') }],
    ['no verifier', { code_verifier: '' }],
    ['the challenge as verifier', { code_verifier: ask().params['code_challenge']! }],
    ['another redirect address, also a good one', { redirect_uri: `${other}/space` }],
    ['no redirect address', { redirect_uri: '' }],
    ['another code', { code: randomBytes(32).toString('base64url') }],
  ]
  for (const [what, changes] of cases) {
    const asked = ask()
    const { status, body } = await redeem(await codeFor(asked), asked, changes)
    assert.deepEqual([status, body], [400, { error: 'invalid_grant' }], what)
  }

  const asked = ask()
  const code = await codeFor(asked)
  assert.equal((await redeem(code, asked)).status, 200)
  assert.deepEqual((await redeem(code, asked)).body, { error: 'invalid_grant' }, 'replayed')

  const guessed = await codeFor(asked)
  await redeem(guessed, ask())
  assert.deepEqual((await redeem(guessed, asked)).body, { error: 'invalid_grant' }, 'a wrong verifier spends the code')

  for (const [ageMs, status] of [
    [59_999, 200],
    [60_000, 400],
  ] as const) {
    const aged = await codeFor(asked)
    state.nowMs += ageMs
    assert.equal((await redeem(aged, asked)).status, status, `${ageMs} ms old`)
  }
})

test('of 50 copies of a code at once one is redeemed', async () => {
  const asked = ask()
  const code = await codeFor(asked)
  const answers = await Promise.all(Array.from({ length: 50 }, () => redeem(code, asked)))
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
})

test('codes that nobody redeems do not fill the memory: the oldest of a thousand goes', async () => {
  const asked = ask()
  const first = await codeFor(asked)
  let last = ''
  for (let n = 0; n < 20; n++) [last = ''] = await Promise.all(Array.from({ length: 50 }, () => codeFor(asked)))
  assert.equal((await redeem(first, asked)).status, 400)
  assert.equal((await redeem(last, asked)).status, 200)
})

test('a client or redirect address that is not known is told to the person, and nobody is sent there', async () => {
  const changes: Record<string, string | undefined>[] = [
    { client_id: 'another' },
    { client_id: undefined },
    { redirect_uri: undefined },
    { redirect_uri: 'https://evil.example/space' },
    { redirect_uri: `${spaces}/space/` },
    { redirect_uri: `${spaces}/space?x=1` },
    { redirect_uri: `${spaces}/space#x` },
    { redirect_uri: `${spaces}/elsewhere` },
    { redirect_uri: `${spaces}.evil.example/space` },
    { redirect_uri: 'http://LOCALHOST:8788/space' },
    { redirect_uri: 'javascript:alert(1)//http://localhost:8788/space' },
  ]
  const queries = changes.map((change) => new URLSearchParams(ask(change).params).toString())
  const good = new URLSearchParams(ask().params).toString()
  queries.push(`${good}&redirect_uri=https://evil.example/space`, `${good}&nonce=twice`, '')
  for (const query of queries) {
    for (const form of [undefined, { email: 'ann@example.com' }]) {
      const res = await authorize(query, form)
      assert.deepEqual([res.status, res.headers.get('location')], [400, null], query)
      assert.match(res.headers.get('content-security-policy') ?? '', /form-action 'none'/)
      assert.match(await res.text(), /<h1>This sign-in cannot go on<\/h1>/)
    }
  }
})

test('any other wrong request is told to the client, also when the form is posted past the page', async () => {
  const cases: [Record<string, string | undefined>, string][] = [
    [{ nonce: undefined }, 'invalid_request'],
    [{ nonce: 'x'.repeat(256) }, 'invalid_request'],
    [{ nonce: 'two words' }, 'invalid_request'],
    [{ code_challenge: undefined }, 'invalid_request'],
    [{ code_challenge: 'short' }, 'invalid_request'],
    [{ code_challenge_method: undefined }, 'invalid_request'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ response_type: undefined }, 'unsupported_response_type'],
    [{ response_type: 'id_token' }, 'unsupported_response_type'],
    [{ response_mode: 'fragment' }, 'invalid_request'],
    [{ scope: undefined }, 'invalid_scope'],
    [{ scope: 'email openidx' }, 'invalid_scope'],
    [{ prompt: 'none' }, 'login_required'],
    [{ request: 'e30.e30.' }, 'request_not_supported'],
    [{ request_uri: 'https://evil.example/' }, 'request_uri_not_supported'],
  ]
  for (const [changes, error] of cases) {
    for (const form of [undefined, { email: 'ann@example.com' }]) {
      const { uri, params } = sentTo(await authorize(ask(changes).params, form))
      assert.deepEqual([uri, params.get('error'), params.get('code')], [redirectUri, error, null], JSON.stringify(changes))
      assert.equal(params.get('state'), 'a state & more=1')
    }
  }
})

test('the token endpoint says what is wrong in OAuth’s words', async () => {
  const asked = ask()
  const form = { grant_type: 'authorization_code', code: 'x', client_id: provider.clientId }
  const cases: [Promise<Response>, string][] = [
    [postToken({}), 'unsupported_grant_type'],
    [postToken({ ...form, grant_type: 'password' }), 'unsupported_grant_type'],
    [postToken({ ...form, client_id: 'another' }), 'invalid_client'],
    [postToken({ ...form, code: '__proto__' }), 'invalid_grant'],
    [postToken({}, { body: JSON.stringify(form), headers: { 'content-type': 'application/json' } }), 'unsupported_grant_type'],
    [postToken({}, { body: null }), 'unsupported_grant_type'],
  ]
  for (const [asking, error] of cases) {
    const res = await asking
    assert.deepEqual([res.status, await res.json()], [400, { error }])
  }
  const { headers } = await redeem(await codeFor(asked), asked)
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.equal((await postToken({ code: 'x'.repeat(20_000) })).status, 413)
})

test('pages of the redirect origins may read its answers, others not', async () => {
  for (const [origin, allowed] of [
    [spaces, spaces],
    [other, other],
    ['https://evil.example', null],
    ['null', null],
  ] as const) {
    const headers = { origin }
    const preflight = { ...headers, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' }
    const answers = [
      await postToken({}, { headers }),
      await fetch(`${provider.issuer}/token`, { method: 'OPTIONS', headers: preflight }),
      await fetch(`${provider.issuer}/.well-known/openid-configuration`, { headers }),
      await fetch(`${provider.issuer}/jwks`, { headers }),
    ]
    for (const res of answers) {
      assert.equal(res.headers.get('access-control-allow-origin'), allowed, res.url)
      assert.equal(res.headers.get('access-control-allow-credentials'), null)
      assert.match(res.headers.get('vary') ?? '', /origin/i)
    }
  }
})

test('nobody but this computer gets an answer', async () => {
  const paths = ['', '/.well-known/openid-configuration', '/jwks', `/authorize?${new URLSearchParams(ask().params).toString()}`]
  const host = new URL(provider.issuer).host
  const statuses = async (remoteAddress: string, headers: Record<string, string>) => {
    const answers = paths.map((path) =>
      provider.app.inject({ url: `/dev-identity${path}`, remoteAddress, headers: { host, ...headers } }),
    )
    const token = provider.app.inject({
      method: 'POST',
      url: '/dev-identity/token',
      remoteAddress,
      headers: { host, ...headers },
    })
    return new Set((await Promise.all([...answers, token])).map(({ statusCode }) => statusCode))
  }
  for (const address of ['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1'])
    assert.deepEqual(await statuses(address, {}), new Set([200, 400]), address)
  for (const address of ['192.0.2.1', '10.0.0.1', '172.17.0.1', '2001:db8::1', 'fe80::1', '::ffff:10.0.0.1', '::', '0.0.0.0'])
    assert.deepEqual(await statuses(address, {}), new Set([404]), address)
  for (const headers of [
    { 'x-forwarded-for': '127.0.0.1' },
    { forwarded: 'for=127.0.0.1' },
    { host: 'evil.example' },
    { host: 'localhost.evil.example:8787' },
  ])
    assert.deepEqual(await statuses('127.0.0.1', headers), new Set([404]), JSON.stringify(headers))
  assert.deepEqual(await statuses('127.0.0.1', { host: '127.0.0.1:1' }), new Set([200, 400]))
})

const elsewhere = Object.values(networkInterfaces())
  .flat()
  .find((one) => one && !one.internal && one.family === 'IPv4')?.address

test('nor over the network, where the server listens to it', { skip: elsewhere ? false : 'no network' }, async (t) => {
  const open = await startDevelopmentIdentity({ redirectOrigins: [spaces], host: '0.0.0.0' })
  t.after(() => open.close())
  const { port } = new URL(open.issuer)
  assert.equal((await fetch(`http://127.0.0.1:${port}/dev-identity/jwks`)).status, 200)
  assert.equal((await fetch(`http://${elsewhere}:${port}/dev-identity/jwks`)).status, 404)
})

test('a code and a token belong to the client and the redirect address that they were made for', async () => {
  const back = `${new URL(provider.issuer).origin}/console/oidc/callback`
  const forConsole = { client_id: 'atrium-dev-console', redirect_uri: back }
  for (const changes of [{ client_id: 'atrium-dev-console' }, { redirect_uri: back }])
    assert.equal((await authorize(ask(changes).params)).status, 400, JSON.stringify(changes))

  const asked = ask(forConsole)
  const forms = { 'the client of rooms': {}, 'its redirect address': { client_id: 'atrium-dev-console' } }
  for (const [name, changes] of Object.entries(forms)) {
    const { status, body } = await redeem(await codeFor(asked), asked, changes)
    assert.deepEqual([status, body['error']], [400, 'invalid_grant'], name)
  }
  const { body } = await redeem(await codeFor(asked), asked, forConsole)
  const { issuer } = provider
  const keys = new ProviderKeys({ issuer, fetchJson: async (url) => (await fetch(url)).json() })
  const judge = (audience: string) => verifyIdToken(body['id_token'], { keys, issuer, audience, nowMs: state.nowMs })
  assert.equal((await judge('atrium-dev-console')).ok, true)
  assert.deepEqual(await judge('atrium-dev'), { ok: false, reason: 'bad_aud' })
})

test('it does not start in production, nor where others could reach it', () => {
  const { privateKey: signingKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const start = (production: boolean, publicUrl: string) =>
    addDevelopmentIdentity(Fastify(), { production, publicUrl, clients: [], signingKey })
  assert.throws(() => start(true, 'http://localhost:8787'), /refused in production/)
  for (const publicUrl of ['https://atrium.example', 'http://atrium.example', 'http://10.0.0.1:8787', 'https://localhost:8787'])
    assert.throws(() => start(false, publicUrl), /ATRIUM_PUBLIC_URL/, publicUrl)
  for (const publicUrl of ['http://localhost:8787', 'http://127.0.0.1:8787', 'http://[::1]:8787']) start(false, publicUrl)
})

test('what is no address brings the page again, with what was typed', async () => {
  for (const email of ['', 'ann', 'ann@', 'ann@example.com, bob@example.com', '"><b>@example.com']) {
    const res = await authorize(ask().params, { email, name: 'Ann' })
    const html = await res.text()
    assert.equal(res.status, 400, email)
    assert.match(html, /aria-invalid="true" aria-describedby="email-problem"/)
    assert.match(html, /value="Ann"/)
    assert.ok(!html.includes('<b>'))
  }
  const long = await tokenFor({ email: 'ann@example.com', name: '🌙'.repeat(200) })
  const { name } = JSON.parse(Buffer.from(long.split('.')[1]!, 'base64url').toString()) as { name: string }
  assert.equal(name, '🌙'.repeat(100))
})
