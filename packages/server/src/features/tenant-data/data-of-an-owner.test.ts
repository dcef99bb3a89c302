import assert from 'node:assert/strict'
import { after, before, describe, test, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { passesOnce, startLoopClock } from '#testing/busy-machine.ts'
import { consoleLink, invite, signIn, type TestBrowser } from '#testing/console.ts'
import { send } from '#testing/http.ts'
import { eventually } from '#testing/session-world.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

async function openConsole() {
  const tenant = await api.makeTenant()
  return { tenant, owner: await signIn(api, await consoleLink(api, { kind: 'tenant', tenant_id: tenant.id })) }
}
const operator = () => ({ headers: { 'x-admin-token': api.adminToken } })

test('an owner can export all data of their tenant; a key or another role cannot', async () => {
  const { tenant, owner } = await openConsole()
  await send(api, 'POST', '/collections', { key: tenant.secretKey, body: { metadata: { share_title: 'Wall' } } })
  const got = await owner.send('GET', '/tenant/export')
  assert.equal(got.status, 200, got.text)
  const lines = got.text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.equal(lines[0].tenant_id, tenant.id)
  assert.ok(lines.some(({ table, row }) => table === 'collections' && row.metadata.share_title === 'Wall'))
  assert.equal(lines.at(-1).end, true)
  assert.ok(!got.text.includes(tenant.secretKey))
  const { browser: developer } = await invite(api, owner, 'developer')
  assert.equal((await developer.send('GET', '/tenant/export')).body.error.code, 'role_not_allowed')
  const byKey = await send(api, 'GET', '/tenant/export', { key: tenant.secretKey })
  assert.equal(byKey.body.error.code, 'role_not_allowed', byKey.text)
  const { data } = (await owner.send('GET', '/tenant/audit-log')).body
  assert.ok(data.some(({ operation }: { operation: string }) => operation === 'exportOwnTenant'))
})

test('an owner can delete their tenant: it is suspended at once and nobody can sign in; after a cancel, all must sign in again', async () => {
  const [{ tenant, owner }, stranger] = [await openConsole(), await openConsole()]
  const other = stranger.tenant
  const remove = (id: string, by = owner) => by.send('POST', '/tenant/deletion', { tenant_id: id })
  const { browser: developer } = await invite(api, owner, 'developer')
  assert.equal((await remove(tenant.id, developer)).body.error.code, 'role_not_allowed')
  assert.deepEqual([(await remove(other.id)).status, (await remove(other.id)).body.error.code], [400, 'invalid_request'])
  const [first, second] = await Promise.all([remove(tenant.id), remove(tenant.id)])
  const done = [first, second].find(({ status }) => status === 202)
  assert.ok(done, first.text)
  const { state, due_at, requested_at } = done.body.data
  assert.deepEqual([state, Date.parse(due_at) - Date.parse(requested_at)], ['scheduled', 7 * 86_400_000])
  assert.equal((await owner.send('GET', '/tenant')).body.error.code, 'tenant_suspended')
  assert.equal((await send(api, 'GET', '/tenant', { key: tenant.secretKey })).body.error.code, 'tenant_suspended')
  assert.equal((await send(api, 'GET', '/tenant', { key: other.secretKey })).status, 200)
  assert.equal((await send(api, 'DELETE', `/tenants/${tenant.id}/deletion`, operator())).status, 204)
  // The session that asked may be a stolen one, and so may any other.
  for (const browser of [owner, developer])
    assert.equal((await browser.send('GET', '/tenant')).body.error.code, 'no_console_session')
  assert.equal((await stranger.owner.send('GET', '/tenant')).status, 200)
  const again = await signIn(api, await consoleLink(api, { kind: 'tenant', tenant_id: tenant.id }))
  assert.equal((await again.send('GET', '/tenant')).status, 200)
  const roles = (await again.send('GET', '/tenant/members')).body.data.map(({ role }: { role: string }) => role)
  assert.deepEqual(roles, ['developer'])
  const isActive = async () => (await send(api, 'GET', '/tenant', { key: tenant.secretKey })).status === 200
  await eventually(isActive, 'the process that remembers the suspended tenant is told')
  // There is nothing to cancel now, so nobody is signed out.
  assert.equal((await send(api, 'DELETE', `/tenants/${tenant.id}/deletion`, operator())).status, 204)
  assert.equal((await again.send('GET', '/tenant')).status, 200)
})

describe('an export is aborted within a second if its caller may no longer read it', () => {
  let tenant: { id: string; secretKey: string }
  let owner: TestBrowser
  before(async () => {
    ;({ tenant, owner } = await openConsole())
    // Without another one, the last owner could neither be removed nor get another role.
    await invite(api, owner, 'owner')
    const { id } = (await send(api, 'POST', '/collections', { key: tenant.secretKey, body: {} })).body.data
    // Far more than what sockets buffer.
    await api.ctx.db.pool.query(
      `insert into items (tenant_id, collection_id, id, seq, type, content)
       select $1, $2, 'itm_' || n, n, 'message', json_build_object('text', repeat('x', 10000)) from generate_series(1, 4000) n`,
      [tenant.id, id],
    )
  })

  /** Begins to read, and stops. `rest` reads what still comes, and returns the last line. */
  const beginExport = async (path: string, headers: Record<string, string>) => {
    const answer = await fetch(api.baseUrl + path, { headers })
    assert.equal(answer.status, 200)
    const reader = answer.body!.getReader()
    await reader.read()
    return async () => {
      let text = ''
      for (const decoder = new TextDecoder(); ;) {
        const { done, value } = await reader.read()
        if (done) return text.trimEnd().split('\n').at(-1)!
        text = (text + decoder.decode(value, { stream: true })).slice(-100_000)
      }
    }
  }
  const asBrowser = ({ cookies, csrf }: TestBrowser) => ({ cookie: cookies.join('; '), 'x-atrium-csrf': csrf })
  /** The code of the newest refusal that the audit log has, as soon as it has one more than `known`. */
  const refusedWithin = async (t: TestContext, ms: number, known: number) => {
    const now = startLoopClock(t)
    for (const deadline = now() + ms; now() < deadline; await wait(20)) {
      const found = await refusals()
      if (found.length > known) return found[0].code
    }
    return 'not cut'
  }
  const refusals = async () =>
    (await send(api, 'GET', `/operator/audit-log?tenant_id=${tenant.id}`, operator())).body.data.filter(
      ({ operation, outcome }: any) => /^export(?:Own)?Tenant$/.test(operation) && outcome === 'refused',
    )

  /** Reads the rest first: an export that stays open takes the place of the next try, and its late refusal counts there. */
  const assertCut = async (rest: () => Promise<string>, refusal: string, code: string) => {
    const read = await rest().then(
      () => 'the end',
      () => 'cut',
    )
    assert.equal(refusal, code)
    assert.equal(read, 'cut', 'a reader would take a part for the whole')
  }

  const ends: Record<string, [code: string, (id: string, other: TestBrowser) => Promise<{ status: number }>]> = {
    'gets another role': ['role_not_allowed', (id) => owner.send('PATCH', `/tenant/members/${id}`, { role: 'developer' })],
    'is removed': ['no_console_session', (id) => owner.send('DELETE', `/tenant/members/${id}`)],
    'signs out everywhere': ['no_console_session', (_, other) => other.call('POST', '/console/sign-out-everywhere')],
  }
  for (const [what, [code, act]] of Object.entries(ends))
    test(`an owner ${what} in the middle`, (t) =>
      passesOnce(async () => {
        const { member, browser } = await invite(api, owner, 'owner')
        const rest = await beginExport('/tenant/export', asBrowser(browser))
        const known = (await refusals()).length
        const { status } = await act(member.id, browser)
        assert.ok(status < 300, String(status))
        await assertCut(rest, await refusedWithin(t, 1_000, known), code)
      }))

  test('an operator whose credential is revoked', (t) =>
    passesOnce(async (n) => {
      const made = await send(api, 'POST', '/operator/credentials', { ...operator(), body: { name: `backup ${n}` } })
      assert.equal(made.status, 201, made.text)
      const rest = await beginExport(`/tenants/${tenant.id}/export`, { 'x-admin-token': made.body.data.token })
      const known = (await refusals()).length
      const revoked = await send(api, 'DELETE', `/operator/credentials/${made.body.data.id}`, operator())
      assert.equal(revoked.status, 204, revoked.text)
      await assertCut(rest, await refusedWithin(t, 1_000, known), 'unauthorized')
    }))

  test('an owner who signed in with a link of the operator, and an operator, read on to the end', async () => {
    const known = (await refusals()).length
    const mine = await beginExport('/tenant/export', asBrowser(owner))
    const signedIn = await signIn(api, await consoleLink(api, { kind: 'operator' }))
    const theirs = await beginExport(`/tenants/${tenant.id}/export`, asBrowser(signedIn))
    // Long enough for two checks.
    await wait(1_200)
    for (const rest of [mine, theirs]) assert.match(await rest(), /^\{"end":true,/)
    assert.equal((await refusals()).length, known)
  })
})
