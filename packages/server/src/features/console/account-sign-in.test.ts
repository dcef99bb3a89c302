import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { createTestProvider, type TestProvider } from '@atrium/identity/testing/provider'
import { ensureConsole } from '@atrium/web/build/ensure-console'
import { consoleLink, invite, openBrowser, signIn, type TestBrowser } from '#testing/console.ts'
import { openConsoleIdentity } from '#ports/console-identity.ts'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

let api: TestApi
let provider: TestProvider
/** What the provider answers for the next code, and the challenge that it checks the verifier against. */
let next: { claims: Record<string, unknown>; challenge: string }
const server = createServer((req, res) => {
  const answer = (status: number, body: unknown) =>
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  if (req.url === '/.well-known/openid-configuration') {
    const { issuer } = provider
    const endpoints = {
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
    }
    return void answer(200, { issuer, ...endpoints })
  }
  if (req.url === '/jwks') return void answer(200, { keys: [provider.publicJwk] })
  let text = ''
  req.on('data', (chunk: Buffer) => (text += chunk.toString()))
  req.on('end', () => {
    const verifier = new URLSearchParams(text).get('code_verifier') ?? ''
    const isRight =
      createHash('sha256').update(verifier).digest('base64url') === next.challenge &&
      req.headers.authorization === `Basic ${Buffer.from('console:hush%20hush').toString('base64')}`
    if (!isRight) return answer(400, { error: 'invalid_grant' })
    void provider.sign(next.claims).then((idToken) => answer(200, { id_token: idToken }))
  })
})

before(async () => {
  await ensureConsole()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  provider = await createTestProvider({ issuer, audience: 'console' })
  api = await startTestApi({
    consoleOidcIssuer: issuer,
    consoleOidcClientId: 'console',
    consoleOidcClientSecret: 'hush hush',
  })
})
after(async () => {
  await api.close()
  server.close()
  server.closeAllConnections()
})

const get = (path: string, cookie = '') => fetch(api.origin + path, { redirect: 'manual', headers: { cookie } })
const cookiesOf = (answer: Response) => answer.headers.getSetCookie().map((line) => line.split(';')[0] ?? '')

interface Attempt {
  claims: Record<string, unknown>
  /** Cookies that the browser already has. */
  cookies?: string[]
  query?: (params: URLSearchParams) => void
  /** The cookies of a session, which a browser sends to the start only: they have SameSite=Strict. */
  session?: string[]
}

/** Signs in at the provider, and returns the answer that leads back to the console. */
async function goThrough({ claims, cookies = [], query, session = [] }: Attempt): Promise<Response> {
  const started = await get('/console/oidc/start', session.join('; '))
  assert.equal(started.status, 303)
  const asked = new URL(started.headers.get('location') ?? '').searchParams
  assert.deepEqual([asked.get('client_id'), asked.get('code_challenge_method')], ['console', 'S256'])
  next = { claims: { nonce: asked.get('nonce'), ...claims }, challenge: asked.get('code_challenge') ?? '' }
  const params = new URLSearchParams({ code: 'a-code', state: asked.get('state') ?? '', iss: provider.issuer })
  query?.(params)
  return get(`/console/oidc/callback?${params.toString()}`, [...cookies, ...cookiesOf(started)].join('; '))
}

async function openBack(answer: Response): Promise<TestBrowser> {
  assert.equal(answer.headers.get('location'), 'http://localhost:8787/console')
  const set = answer.headers.getSetCookie().filter((line) => !line.includes('Max-Age=0'))
  for (const line of set) assert.match(line, /HttpOnly; SameSite=Strict/)
  return openBrowser(api, { status: 200, headers: answer.headers, text: '', body: undefined })
}

const problemOf = (answer: Response) => new URL(answer.headers.get('location') ?? '').searchParams.get('sign_in')

/** Invites the address, and begins to accept the invitation. */
async function beginInvitation(email: string) {
  const tenant = await api.makeTenant()
  const owner = await signIn(api, await consoleLink(api, { kind: 'tenant', tenant_id: tenant.id }))
  const { invitation, ...member } = (await owner.send('POST', '/tenant/members', { email, role: 'developer' })).body.data
  const body = { link_secret: invitation.url.split('#link=')[1] }
  const begun = await send({ baseUrl: api.origin }, 'POST', '/console/sign-in', { body })
  assert.deepEqual(begun.body.data, { sign_in_at: '/console/oidc/start' })
  const cookies = begun.headers.getSetCookie()
  assert.match(cookies.join(), /^atrium-console-invitation=clk_\w+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/)
  return { tenant, owner, member, cookies: cookies.map((line) => line.split(';')[0] ?? '') }
}

test('the first sign-in through an invitation binds the account, which signs in from then on', async () => {
  const claims = { sub: 'ada', email: 'Ada@harbour.example', name: 'Ada' }
  const { tenant, member, owner, cookies } = await beginInvitation('ada@harbour.example')
  const browser = await openBack(await goThrough({ claims, cookies }))
  assert.deepEqual(browser.session.member, { id: member.id, email: 'ada@harbour.example', name: 'Ada', role: 'developer' })
  // The address may change at the provider: the subject counts.
  const again = await openBack(await goThrough({ claims: { ...claims, email: 'lovelace@harbour.example' } }))
  assert.equal(again.session.tenant.id, tenant.id)
  await owner.send('DELETE', `/tenant/members/${member.id}`)
  assert.equal(problemOf(await goThrough({ claims })), 'not_a_member')
  assert.equal((await again.send('GET', '/tenant')).status, 401)
})

test('another account cannot accept the invitation, and the invited one still can', async () => {
  const { cookies, member } = await beginInvitation('grace@harbour.example')
  const eve = { sub: 'eve', email: 'eve@harbour.example' }
  assert.equal(problemOf(await goThrough({ claims: eve, cookies })), 'invitation_invalid')
  const unverified = { sub: 'eve', email: 'grace@harbour.example', email_verified: false }
  assert.equal(problemOf(await goThrough({ claims: unverified, cookies })), 'failed')
  const browser = await openBack(await goThrough({ claims: { sub: 'grace', email: 'grace@harbour.example' }, cookies }))
  assert.equal(browser.session.member.id, member.id)
})

test('a sign-in with an account ends the session that the browser had at its start; one that fails does not', async () => {
  const claims = { sub: 'hedy', email: 'hedy@harbour.example' }
  const { cookies, owner } = await beginInvitation('hedy@harbour.example')
  const session = owner.cookies
  assert.equal(problemOf(await goThrough({ claims: { ...claims, aud: 'atrium' }, cookies, session })), 'failed')
  assert.equal((await owner.send('GET', '/tenant')).status, 200)
  const member = await openBack(await goThrough({ claims, cookies, session }))
  assert.equal((await owner.send('GET', '/tenant')).status, 401)
  const again = await openBack(await goThrough({ claims, session: member.cookies }))
  assert.equal((await member.send('GET', '/tenant')).status, 401)
  // Browsers that send the cookie also after the return.
  await openBack(await goThrough({ claims, cookies: again.cookies.filter((cookie) => cookie.startsWith('atrium-console=')) }))
  assert.equal((await again.send('GET', '/tenant')).status, 401)
})

test('a request of another site for a sign-in is answered with the page, and begins none', async () => {
  const start = (site: string) =>
    fetch(`${api.origin}/console/oidc/start?tenant=x`, { redirect: 'manual', headers: { 'sec-fetch-site': site } })
  for (const site of ['cross-site', 'same-site']) {
    const answer = await start(site)
    assert.deepEqual([answer.status, answer.headers.getSetCookie(), answer.headers.get('location')], [200, [], null])
    assert.match(answer.headers.get('content-type') ?? '', /^text\/html/)
    assert.match(answer.headers.get('vary') ?? '', /sec-fetch-site/)
    assert.match(answer.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/)
  }
  for (const site of ['same-origin', 'none']) assert.equal((await start(site)).status, 303)
})

test('the answer counts with the state, nonce, verifier, audience and issuer of this sign-in only', async () => {
  const claims = { sub: 'joan', email: 'joan@harbour.example' }
  const { cookies } = await beginInvitation('joan@harbour.example')
  await openBack(await goThrough({ claims, cookies }))
  const refused = {
    'another state': await goThrough({ claims, query: (params) => params.set('state', 'x'.repeat(43)) }),
    'no code': await goThrough({ claims, query: (params) => params.delete('code') }),
    'another issuer': await goThrough({ claims, query: (params) => params.set('iss', 'https://evil.example') }),
    'another nonce': await goThrough({ claims: { ...claims, nonce: 'another' } }),
    'a token for rooms': await goThrough({ claims: { ...claims, aud: 'atrium' } }),
    'no cookie of the sign-in': await get('/console/oidc/callback?code=a-code&state=x'),
  }
  for (const [name, answer] of Object.entries(refused)) {
    assert.equal(problemOf(answer), 'failed', name)
    assert.ok(!answer.headers.getSetCookie().some((line) => /console=css_/.test(line)), name)
  }
  next.challenge = 'another'
})

test('a link of the operator signs in without the provider, and an account of two tenants chooses one', async () => {
  assert.deepEqual(await (await get('/console/sign-in')).json(), { data: { oidc: true, development: false } })
  const tenant = await api.makeTenant()
  const owner = await signIn(api, await consoleLink(api, { kind: 'tenant', tenant_id: tenant.id }))
  await assert.rejects(invite(api, owner, 'analyst'))
  const claims = { sub: 'mary', email: 'mary@harbour.example' }
  const [one, two] = [await beginInvitation('mary@harbour.example'), await beginInvitation('mary@harbour.example')]
  for (const { cookies } of [one, two]) await openBack(await goThrough({ claims, cookies }))
  const started = await get(`/console/oidc/start?tenant=${one.tenant.id}`)
  const asked = new URL(started.headers.get('location') ?? '').searchParams
  next = { claims: { nonce: asked.get('nonce'), ...claims }, challenge: asked.get('code_challenge') ?? '' }
  const back = await get(`/console/oidc/callback?code=a-code&state=${asked.get('state')}`, cookiesOf(started).join('; '))
  assert.equal((await openBack(back)).session.tenant.id, one.tenant.id)
})

test('an account signs in to a tenant that is not suspended, and is told where all are', async () => {
  const claims = { sub: 'rosa', email: 'rosa@harbour.example' }
  const suspend = (id: string) =>
    send(api, 'POST', `/tenants/${id}/status`, { headers: { 'x-admin-token': api.adminToken }, body: { status: 'suspended' } })
  const [one, two] = [await beginInvitation('rosa@harbour.example'), await beginInvitation('rosa@harbour.example')]
  for (const { cookies } of [one, two]) await openBack(await goThrough({ claims, cookies }))
  await suspend(two.tenant.id)
  const browser = await openBack(await goThrough({ claims }))
  assert.equal(browser.session.tenant.id, one.tenant.id)
  await suspend(one.tenant.id)
  const refused = await goThrough({ claims, session: browser.cookies })
  assert.equal(problemOf(refused), 'tenant_suspended')
  assert.ok(!refused.headers.getSetCookie().some((line) => /console=css_/.test(line)))
})

test('if the provider cannot be reached, the console says that the sign-in did not succeed', async (t) => {
  const consoleOidcIssuer = 'http://127.0.0.1:1'
  const other = await startTestApi({ consoleOidcIssuer, consoleOidcClientId: 'console', consoleOidcClientSecret: 'hush' })
  t.after(() => other.close())
  const answer = await fetch(`${other.origin}/console/oidc/start`, { redirect: 'manual' })
  assert.deepEqual([answer.status, problemOf(answer)], [303, 'failed'])
})

test('if the provider refuses a code, the error has the address of the provider and its reason', async () => {
  const identity = openConsoleIdentity({ issuer: provider.issuer, clientId: 'console', clientSecret: 'before' }, false)
  const redemption = { code: 'a-code', redirectUri: 'https://atrium.example/', verifier: 'v', nonce: 'n' }
  await assert.rejects(identity.redeem(redemption), /^SignInFailedError: http:.*\/token answered 400 invalid_grant$/)
})
