import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { passesOnce, startLoopClock } from '#testing/busy-machine.ts'
import { consoleLink, invite, signIn } from '#testing/console.ts'
import { send } from '#testing/http.ts'
import { pullEvents } from '#testing/pull-events.ts'
import { openStream } from '#testing/read-stream.ts'
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

test('an invited member signs in with the link, has the role, and is named in the audit log', async () => {
  const { tenant, owner } = await openConsole()
  const { member, browser } = await invite(api, owner, 'moderator')
  assert.equal(member.status, 'invited')
  assert.deepEqual([browser.session.role, browser.session.member.id], ['moderator', member.id])
  assert.equal((await browser.send('GET', '/tenant/members')).body.data[0].status, 'active')
  const { id } = (await browser.send('POST', '/collections', {})).body.data
  assert.equal((await browser.send('PATCH', `/collections/${id}`, { wall: true })).status, 200)
  const refused = await browser.send('POST', '/tenant/keys', { kind: 'secret' })
  assert.deepEqual([refused.status, refused.body.error.code], [403, 'role_not_allowed'])
  await owner.send('PATCH', `/tenant/members/${member.id}`, { role: 'developer' })
  assert.equal((await browser.send('POST', '/tenant/keys', { kind: 'secret' })).status, 201)
  const log = (await send(api, 'GET', '/tenant/audit-log', { key: tenant.secretKey })).body.data
  const entry = log.find(({ operation }: { operation: string }) => operation === 'createKey')
  assert.deepEqual(entry.actor, { kind: 'member', id: member.id, name: null })
  const changes = new Set(log.map(({ operation }: { operation: string }) => operation))
  for (const operation of ['createMember', 'updateMember']) assert.ok(changes.has(operation), operation)
  assert.ok(!JSON.stringify(log).includes(member.email))
})

test('the name of a member is changed, kept and removed', async () => {
  const { owner } = await openConsole()
  const { member } = await invite(api, owner, 'analyst')
  const nameAfter = async (body: object) =>
    (await owner.send('PATCH', `/tenant/members/${member.id}`, body)).body.data?.name as string | null | undefined
  assert.equal(await nameAfter({ name: 'Ada' }), 'Ada')
  assert.equal(await nameAfter({ role: 'analyst' }), 'Ada')
  assert.equal(await nameAfter({ name: '' }), undefined)
  assert.equal(await nameAfter({ name: null }), null)
  const listed = (await owner.send('GET', '/tenant/members')).body.data
  assert.equal(listed.find(({ id }: { id: string }) => id === member.id).name, null)
})

test('a removed member is out with the next request, and its streams end', async (t) => {
  const now = startLoopClock(t)
  await passesOnce(async () => {
    const { tenant, owner } = await openConsole()
    const { member, browser } = await invite(api, owner, 'analyst')
    const headers = { cookie: browser.cookies.join('; '), 'x-atrium-csrf': browser.csrf }
    const stream = await openStream(api.baseUrl, '/events/stream', { headers })
    const ended = stream.ended.then(now)
    assert.equal((await owner.send('DELETE', `/tenant/members/${member.id}`)).status, 204)
    const removedAt = now()
    assert.equal((await browser.send('GET', '/tenant')).body.error.code, 'no_console_session')
    assert.ok((await ended) - removedAt < 1_000, 'by the notification')
    const events = await pullEvents(api, tenant)
    const ofMembers = events.filter(({ type }) => type.startsWith('member.'))
    assert.deepEqual(
      ofMembers.map(({ type, data }) => [type, data]),
      [
        ['member.added', { member_id: member.id, role: 'analyst' }],
        ['member.removed', { member_id: member.id }],
      ],
    )
  })
})

test('no key changes members, and neither does another role or another tenant', async () => {
  const { tenant, owner } = await openConsole()
  const { member } = await invite(api, owner, 'analyst')
  const { browser: developer } = await invite(api, owner, 'developer')
  const other = await openConsole()
  const body = { email: 'eve@harbour.example', role: 'owner' }
  for (const key of [tenant.secretKey, tenant.publishableKey]) {
    const refused = await send(api, 'POST', '/tenant/members', { key, body })
    assert.equal(refused.status, 403)
    assert.equal((await send(api, 'DELETE', `/tenant/members/${member.id}`, { key })).status, 403)
  }
  assert.equal((await developer.send('POST', '/tenant/members', body)).body.error.code, 'role_not_allowed')
  for (const method of ['PATCH', 'DELETE']) {
    const path = `/tenant/members/${member.id}`
    const answer = await other.owner.send(method, path, method === 'PATCH' ? { role: 'owner' } : undefined)
    assert.equal(answer.body.error.code, 'not_found')
  }
  assert.equal((await send(api, 'GET', '/tenant/members', { key: tenant.secretKey })).body.data.length, 2)
})

test('the last owner stays, also when two leave at once', async () => {
  const { owner } = await openConsole()
  const [one, two] = [await invite(api, owner, 'owner'), await invite(api, owner, 'owner')]
  const answers = await Promise.all([
    one.browser.send('PATCH', `/tenant/members/${one.member.id}`, { role: 'analyst' }),
    two.browser.send('DELETE', `/tenant/members/${two.member.id}`),
  ])
  assert.equal(answers.filter(({ status }) => status < 300).length, 1)
  const refused = answers.find(({ status }) => status >= 300)
  assert.equal(refused?.body.error.code, 'state_conflict')
})

test('a new invitation replaces the old one, and an address is invited once', async () => {
  const { owner } = await openConsole()
  const body = { email: 'Ada@Harbour.example', role: 'analyst' }
  const made = (await owner.send('POST', '/tenant/members', body)).body.data
  assert.equal((await owner.send('POST', '/tenant/members', body)).body.error.code, 'state_conflict')
  const again = (await owner.send('PATCH', `/tenant/members/${made.id}`, { invite: true })).body.data
  const old = await signIn(api, made.invitation).catch((error: Error) => error)
  assert.match(String(old), /403 console_link_invalid/)
  assert.equal((await signIn(api, again.invitation)).session.member.id, made.id)
})

test('of a removal and a sign-in at once, no session is left', async () => {
  const { owner } = await openConsole()
  for (let round = 0; round < 5; round++) {
    const body = { email: `round${round}@harbour.example`, role: 'analyst' }
    const made = (await owner.send('POST', '/tenant/members', body)).body.data
    const [signed, removed] = await Promise.all([
      signIn(api, made.invitation).catch(() => undefined),
      delay(round).then(() => owner.send('DELETE', `/tenant/members/${made.id}`)),
    ])
    assert.equal(removed.status, 204, removed.text)
    if (signed) assert.equal((await signed.send('GET', '/tenant')).body.error.code, 'no_console_session')
  }
})
