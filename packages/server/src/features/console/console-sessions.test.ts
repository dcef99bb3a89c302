import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { passesOnce, startLoopClock } from '#testing/busy-machine.ts'
import { consoleLink, signIn } from '#testing/console.ts'
import { send } from '#testing/http.ts'
import { openStream } from '#testing/read-stream.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

const query = (text: string, values: unknown[] = []) => api.ctx.db.pool.query(text, values)

test('a link signs in once, and the cookie with its CSRF token reads and writes', async () => {
  const tenant = await api.makeTenant()
  const link = await consoleLink(api, { kind: 'tenant', tenant_id: tenant.id })
  assert.match(link.url, /^http:\/\/localhost:8787\/console#link=clk_\w+$/)
  const browser = await signIn(api, link)
  assert.deepEqual(browser.session.tenant, { id: tenant.id, name: 'Test' })
  assert.deepEqual([browser.session.kind, browser.session.role, browser.session.member], ['tenant', 'owner', null])
  const made = await browser.send('POST', '/tenant/keys', { kind: 'secret' })
  assert.equal(made.status, 201, made.text)
  assert.equal((await browser.send('GET', '/tenant')).body.data.id, tenant.id)
  const again = await signIn(api, link).catch((error: Error) => error)
  assert.match(String(again), /403 console_link_invalid/)
})

test('of two exchanges of one link at once, one signs in', async () => {
  const tenant = await api.makeTenant()
  const link = await consoleLink(api, { kind: 'tenant', tenant_id: tenant.id })
  const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => signIn(api, link)))
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
})

test('a stolen session cookie is useless without the CSRF part', async () => {
  const tenant = await api.makeTenant()
  const { cookies, csrf } = await signIn(api, await consoleLink(api, { kind: 'tenant', tenant_id: tenant.id }))
  const other = await signIn(api, await consoleLink(api, { kind: 'tenant', tenant_id: tenant.id }))
  const stolen = { cookie: cookies[0] ?? '' }
  const session = await send({ baseUrl: api.origin }, 'GET', '/console/session', { headers: stolen })
  assert.deepEqual([session.status, session.body.error.code], [401, 'no_console_session'])
  assert.ok(!session.text.includes(csrf))
  for (const headers of [{}, { 'x-atrium-csrf': '' }, { 'x-atrium-csrf': other.csrf }]) {
    const answer = await send(api, 'GET', '/tenant', { headers: { ...stolen, ...headers } })
    assert.deepEqual([answer.status, answer.body.error.code], [403, 'csrf_required'])
    const out = await send({ baseUrl: api.origin }, 'POST', '/console/sign-out', { headers: { ...stolen, ...headers } })
    assert.equal(out.body.error.code, 'csrf_required')
  }
})

test('a key in the request replaces the cookie, and a publishable key stays one', async () => {
  const [one, two] = [await api.makeTenant(), await api.makeTenant()]
  const { cookies } = await signIn(api, await consoleLink(api, { kind: 'tenant', tenant_id: one.id }))
  const headers = { cookie: cookies.join('; ') }
  assert.equal((await send(api, 'GET', '/tenant', { key: two.secretKey, headers })).body.data.id, two.id)
  assert.equal((await send(api, 'GET', '/tenant', { key: two.publishableKey, headers })).body.error.code, 'secret_key_required')
})

test('a session of a tenant is no operator, and that of an operator is no tenant', async () => {
  const tenant = await api.makeTenant()
  const owner = await signIn(api, await consoleLink(api, { kind: 'tenant', tenant_id: tenant.id }))
  const operator = await signIn(api, await consoleLink(api, { kind: 'operator' }))
  assert.deepEqual([operator.session.kind, operator.session.tenant, operator.session.role], ['operator', null, null])
  assert.equal((await owner.send('GET', '/tenants')).body.error.code, 'role_not_allowed')
  assert.equal((await operator.send('GET', '/tenant')).body.error.code, 'role_not_allowed')
  assert.equal((await operator.send('GET', '/tenants')).status, 200)
  await operator.send('POST', `/tenants/${tenant.id}/status`, { status: 'suspended' })
  const [entry] = (await operator.send('GET', `/operator/audit-log?tenant_id=${tenant.id}`)).body.data
  assert.deepEqual([entry.operation, entry.actor.kind, entry.actor.name], ['setTenantStatus', 'operator', 'console'])
  assert.equal((await owner.send('GET', '/tenant')).body.error.code, 'tenant_suspended')
})

test('sign-out ends a session at once, and sign-out everywhere all of them', async () => {
  const tenant = await api.makeTenant()
  const open = async () => signIn(api, await consoleLink(api, { kind: 'tenant', tenant_id: tenant.id }))
  const [one, two, three] = [await open(), await open(), await open()]
  const listed = (await one.call('GET', '/console/sessions')).body.data
  assert.equal(listed.length, 3)
  assert.equal(listed.find(({ current }: { current: boolean }) => current).address, '127.0.0.1')
  const out = await one.call('POST', '/console/sign-out')
  assert.equal(out.status, 204)
  assert.match(out.headers.getSetCookie().join(), /atrium-console=; .*Max-Age=0/)
  assert.equal((await one.send('GET', '/tenant')).body.error.code, 'no_console_session')
  assert.equal((await two.send('GET', '/tenant')).status, 200)
  await two.call('POST', '/console/sign-out-everywhere')
  assert.equal((await three.send('GET', '/tenant')).body.error.code, 'no_console_session')
})

test('a sign-in ends the session that the browser had, with its streams, and no other one', async (t) => {
  const now = startLoopClock(t)
  await passesOnce(async () => {
    const [one, two] = [await api.makeTenant(), await api.makeTenant()]
    const linkTo = (tenant_id: string) => consoleLink(api, { kind: 'tenant', tenant_id })
    const [old, elsewhere] = [await signIn(api, await linkTo(one.id)), await signIn(api, await linkTo(one.id))]
    const cookie = old.cookies.join('; ')
    const stream = await openStream(api.baseUrl, '/events/stream', { headers: { cookie, 'x-atrium-csrf': old.csrf } })
    assert.equal(stream.status, 200)
    const refused = await signIn(api, { url: `/console#link=clk_${'x'.repeat(43)}` }, { cookie }).catch((error: Error) => error)
    assert.match(String(refused), /console_link_invalid/)
    assert.equal((await old.send('GET', '/tenant')).status, 200, 'a refused sign-in ends nothing')

    const streamEnded = stream.ended.then(now)
    const next = await signIn(api, await linkTo(two.id), { cookie })
    const signedInAt = now()
    assert.equal((await old.send('GET', '/tenant')).body.error.code, 'no_console_session')
    assert.equal((await next.send('GET', '/tenant')).body.data.id, two.id)
    assert.equal((await elsewhere.send('GET', '/tenant')).status, 200)
    assert.ok((await streamEnded) - signedInAt < 1_000, 'by the notification')
    const log = (await elsewhere.send('GET', '/tenant/audit-log')).body.data as { operation: string; actor: object }[]
    const [ended, ...more] = log.filter(({ operation }) => operation === 'signOutOfConsole')
    assert.deepEqual([ended?.actor, more], [log.findLast(({ operation }) => operation === 'signInToConsole')?.actor, []])

    const operator = await signIn(api, await consoleLink(api, { kind: 'operator' }), { cookie: next.cookies.join('; ') })
    assert.equal((await next.send('GET', '/tenant')).status, 401)
    await signIn(api, await linkTo(one.id), { cookie: operator.cookies.join('; ') })
    assert.equal((await operator.send('GET', '/tenants')).status, 401)
  })
})

test('a sign-in to a suspended tenant ends no session, and does not use the link up', async () => {
  const [one, two] = [await api.makeTenant(), await api.makeTenant()]
  const old = await signIn(api, await consoleLink(api, { kind: 'tenant', tenant_id: one.id }))
  const link = await consoleLink(api, { kind: 'tenant', tenant_id: two.id })
  const setStatus = (status: string) =>
    send(api, 'POST', `/tenants/${two.id}/status`, { headers: { 'x-admin-token': api.adminToken }, body: { status } })
  await setStatus('suspended')
  const body = { link_secret: link.url.split('#link=')[1] }
  const refused = await send({ baseUrl: api.origin }, 'POST', '/console/sign-in', {
    body,
    headers: { cookie: old.cookies.join('; ') },
  })
  assert.deepEqual([refused.status, refused.body.error.code], [401, 'tenant_suspended'])
  assert.deepEqual(refused.headers.getSetCookie(), [])
  assert.equal((await old.send('GET', '/tenant')).status, 200)
  await setStatus('active')
  assert.equal((await signIn(api, link)).session.tenant.id, two.id)
})

test('the session of a suspended tenant is refused, also by a process whose clock is ahead', async (t) => {
  const tenant = await api.makeTenant()
  const owner = await signIn(api, await consoleLink(api, { kind: 'tenant', tenant_id: tenant.id }))
  await query(`update tenants set status = 'suspended' where id = $1`, [tenant.id])
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 13 * 3_600_000 })
  assert.equal((await owner.call('GET', '/console/session')).body.error.code, 'tenant_suspended')
  assert.equal((await owner.send('GET', '/tenant')).body.error.code, 'tenant_suspended')
})

test('a process whose clock is ahead keeps the stream of a session open', async (t) => {
  const tenant = await api.makeTenant()
  const owner = await signIn(api, await consoleLink(api, { kind: 'tenant', tenant_id: tenant.id }))
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 13 * 3_600_000 })
  const headers = { cookie: owner.cookies.join('; '), 'x-atrium-csrf': owner.csrf }
  const stream = await openStream(api.baseUrl, '/events/stream', { headers })
  assert.equal(stream.status, 200)
  // Longer than the time between two checks of streams.
  assert.equal(await Promise.race([stream.ended.then(() => 'ended'), delay(4_000, 'open')]), 'open')
  stream.close()
})

test('a session ends without use, and after its time', async () => {
  const tenant = await api.makeTenant()
  const ended = async (column: string, age: string) => {
    const browser = await signIn(api, await consoleLink(api, { kind: 'tenant', tenant_id: tenant.id }))
    await query(`update console_sessions set ${column} = ${column} - $1::interval where tenant_id = $2`, [age, tenant.id])
    return (await browser.send('GET', '/tenant')).status
  }
  assert.deepEqual(await ended('last_used_at', '11 hours 59 min'), 200)
  assert.deepEqual(await ended('last_used_at', '12 hours 1 s'), 401)
  assert.deepEqual(await ended('expires_at', '6 days 23 hours'), 200)
  assert.deepEqual(await ended('expires_at', '7 days 1 s'), 401)
})

test('a link expires after ten minutes, and a page of another site cannot exchange one', async () => {
  const tenant = await api.makeTenant()
  const link = await consoleLink(api, { kind: 'tenant', tenant_id: tenant.id })
  const foreign = await signIn(api, link, { origin: 'https://evil.example' }).catch((error: Error) => error)
  assert.match(String(foreign), /403 csrf_required/)
  await query(`update console_links set expires_at = expires_at - interval '10 minutes'`)
  const late = await signIn(api, link, { origin: 'http://localhost:8787' }).catch((error: Error) => error)
  assert.match(String(late), /403 console_link_invalid/)
})

const readLink = (link_secret: string, headers: Record<string, string> = {}, at: TestApi = api) =>
  send({ baseUrl: at.origin }, 'POST', '/console/link', { body: { link_secret }, headers })
const secretOf = ({ url }: { url: string }) => url.split('#link=')[1] ?? ''

test('a link says what it opens before it is used, and is not used up by that', async () => {
  const { id } = await api.makeTenant('Harbour')
  const tenant = { id, name: 'Harbour' }
  const link = await consoleLink(api, { kind: 'tenant', tenant_id: id })
  assert.deepEqual((await readLink(secretOf(link))).body.data, { kind: 'tenant', tenant, role: 'owner', email: null })
  const owner = await signIn(api, link)
  const body = { email: 'Ada@harbour.example', role: 'analyst' }
  const { invitation } = (await owner.send('POST', '/tenant/members', body)).body.data
  const wanted = { kind: 'member', tenant, role: 'analyst', email: 'ada@harbour.example' }
  for (let n = 0; n < 2; n++) assert.deepEqual((await readLink(secretOf(invitation))).body.data, wanted)
  const operator = secretOf(await consoleLink(api, { kind: 'operator' }))
  assert.deepEqual((await readLink(operator)).body.data, { kind: 'operator', tenant: null, role: null, email: null })
  assert.equal((await signIn(api, invitation)).session.role, 'analyst')
})

test('a link that is unknown, used or expired gets the same answer, and a page of another site none', async () => {
  const tenant = await api.makeTenant()
  const make = () => consoleLink(api, { kind: 'tenant', tenant_id: tenant.id })
  const [used, expired, good] = [await make(), await make(), await make()]
  await signIn(api, used)
  const hash = createHash('sha256').update(secretOf(expired)).digest()
  const { rowCount } = await query(`update console_links set expires_at = now() where secret_hash = $1`, [hash])
  assert.equal(rowCount, 1)
  const secrets = [secretOf(used), secretOf(expired), `${secretOf(good).slice(0, -6)}AAAAAA`, 'x']
  const answers = await Promise.all(secrets.map((secret) => readLink(secret)))
  for (const { status, body } of answers) {
    assert.deepEqual([status, body.error.code, body.error.message], [403, 'console_link_invalid', answers[0]?.body.error.message])
  }
  const foreign = await readLink(secretOf(good), { origin: 'https://evil.example' })
  assert.deepEqual([foreign.status, foreign.body.error.code], [403, 'csrf_required'])
})

test('readers of links are limited by address, and can still sign in', async () => {
  const limited = await startTestApi({ rateLimit: '1' })
  try {
    const tenant = await limited.makeTenant()
    const link = await consoleLink(limited, { kind: 'tenant', tenant_id: tenant.id })
    const statuses = []
    for (let n = 0; n < 13; n++) statuses.push((await readLink('x', {}, limited)).status)
    assert.deepEqual(new Set(statuses.slice(0, 12)), new Set([403]))
    assert.equal(statuses[12], 429)
    await signIn(limited, link)
  } finally {
    await limited.close()
  }
})

test('no secret of a link or a session is stored', async () => {
  const tenant = await api.makeTenant()
  const link = await consoleLink(api, { kind: 'tenant', tenant_id: tenant.id })
  const { cookies, csrf } = await signIn(api, link)
  const { rows } = await query(`select (select jsonb_agg(to_jsonb(s)) from console_sessions s)::text
    || (select jsonb_agg(to_jsonb(a)) from audit_log a)::text as text`)
  for (const secret of [link.url.split('=')[1], cookies[0]?.split('=')[1], csrf])
    assert.ok(secret && !JSON.stringify(rows).includes(secret.slice(4, 34)))
})

test('the owner of a session curates without the token of the collection, and the audit log names the session', async () => {
  const tenant = await api.makeTenant()
  const { id } = (await send(api, 'POST', '/collections', { key: tenant.secretKey, body: {} })).body.data
  const owner = await signIn(api, await consoleLink(api, { kind: 'tenant', tenant_id: tenant.id }))
  assert.equal((await owner.send('GET', `/collections/${id}/items`)).status, 200)
  assert.equal((await owner.send('PATCH', `/collections/${id}`, { metadata: { share_title: 'Pier' } })).status, 200)
  await owner.send('POST', `/collections/${id}/tokens`, { rotate: ['admin_token'] })
  const [entry, first] = (await owner.send('GET', '/tenant/audit-log')).body.data
  assert.deepEqual([entry.operation, entry.actor.kind], ['rotateCollectionTokens', 'member'])
  assert.deepEqual([first.operation, first.actor.id], ['signInToConsole', entry.actor.id])
})

test('a key without the owner token does not get the stored answer of a session', async () => {
  const tenant = await api.makeTenant()
  const { id } = (await send(api, 'POST', '/collections', { key: tenant.secretKey, body: {} })).body.data
  const owner = await signIn(api, await consoleLink(api, { kind: 'tenant', tenant_id: tenant.id }))
  const body = { metadata: { share_title: 'Pier' } }
  const stored = await owner.send('PATCH', `/collections/${id}`, body, { 'idempotency-key': 'k-1' })
  assert.equal(stored.headers.get('idempotency-status'), 'stored')
  const answer = await send(api, 'PATCH', `/collections/${id}`, { key: tenant.publishableKey, idempotencyKey: 'k-1', body })
  assert.equal(answer.body.error.code, 'owner_token_required')
})

test('the addresses of calls show the page to somebody who types them, and JSON to the page itself', async () => {
  for (const path of ['/console/session', '/console/sessions', '/console/sign-in']) {
    const typed = await send({ baseUrl: api.origin }, 'GET', path, { headers: { 'sec-fetch-dest': 'document' } })
    assert.match(typed.headers.get('content-type') ?? '', /^text\/html/, path)
    const asked = await send({ baseUrl: api.origin }, 'GET', path, { headers: { 'sec-fetch-dest': 'empty' } })
    assert.match(asked.headers.get('content-type') ?? '', /^application\/json/, path)
  }
})
