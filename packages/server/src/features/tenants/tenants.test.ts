import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { passesOnce } from '#testing/busy-machine.ts'
import { send, untilServed } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

let api: TestApi
let operator: { headers: Record<string, string> }
before(async () => {
  api = await startTestApi()
  operator = { headers: { 'x-admin-token': api.adminToken } }
})
after(() => api.close())

const invite = async (body: object = {}) =>
  (await send(api, 'POST', '/tenants/invites', { ...operator, body })).body.data.invite_code
const signUp = (invite_code: string, more: object = {}) =>
  send(api, 'POST', '/tenants/signup', { body: { invite_code, name: 'Harbour', email: 'ada@harbour.example' }, ...more })
const signUpUntilServed = (code: string, idempotencyKey: string) => untilServed(() => signUp(code, { idempotencyKey }))

test('an invite signs up one tenant, whose keys work at once', async () => {
  const code = await invite()
  const first = await signUp(code)
  assert.equal(first.status, 201)
  assert.equal(first.headers.get('cache-control'), 'no-store')
  const who = await send(api, 'GET', '/tenant', { key: first.body.data.secret_key })
  assert.deepEqual(who.body.data, first.body.data.tenant)
  assert.deepEqual(who.body.data.roles, ['app', 'issuer'])
  assert.equal((await signUp(code)).body.error.code, 'invite_invalid')
})

test('an invite for three signs up exactly three of fifty concurrent requests', async () => {
  const code = await invite({ uses: 3 })
  const answers = await Promise.all(Array.from({ length: 50 }, () => signUpUntilServed(code, randomUUID())))
  assert.equal(answers.filter((answer) => answer.status === 201).length, 3)
  assert.equal(answers.filter((answer) => answer.body.error?.code === 'invite_invalid').length, 47)
})

test('a retried sign-up uses the invite once and returns the same keys', async () => {
  const code = await invite()
  const answers = await Promise.all(Array.from({ length: 10 }, () => signUpUntilServed(code, 'sign-up-1')))
  assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([201]))
  assert.equal(new Set(answers.map((answer) => answer.text)).size, 1)
})

test('wrong, expired and used-up invites are refused alike', async () => {
  const unknown = 'inv_000000000000000000000000000000000000'
  const texts = await Promise.all([unknown, 'nonsense'].map(async (code) => (await signUp(code)).body.error.message))
  const used = await invite()
  await signUp(used)
  texts.push((await signUp(used)).body.error.message)
  const { invite_code: late, id } = (await send(api, 'POST', '/tenants/invites', { ...operator, body: {} })).body.data
  await api.ctx.db.pool.query(`update invites set expires_at = now() - interval '1 s' where id = $1`, [id])
  const { status, body } = await signUp(late)
  assert.deepEqual([status, body.error?.code], [403, 'invite_invalid'])
  texts.push(body.error.message)
  assert.equal(new Set(texts).size, 1)
})

test('many who sign up at once with an unknown invite are all told so, however long it goes on', async () => {
  const refusals = async () => {
    const told = new Set<string>()
    const endsAtMs = performance.now() + 3_000
    const client = async () => {
      while (performance.now() < endsAtMs) told.add((await signUp('inv_000000000000000000000000000000000000')).body.error.code)
    }
    await Promise.all(Array.from({ length: 40 }, client))
    assert.deepEqual(told, new Set(['invite_invalid']))
  }
  // On a busy machine, the database may be silent for a second.
  await passesOnce(refusals)
})

test('an operator sets roles; without recorded roles a tenant has both', async () => {
  const make = async (body: object) => (await send(api, 'POST', '/tenants', { ...operator, body })).body.data.tenant.roles
  assert.deepEqual(await make({ name: 'A', roles: ['issuer'] }), ['issuer'])
  assert.deepEqual(await make({ name: 'B', roles: [] }), ['app', 'issuer'])
  assert.deepEqual(await make({ name: 'C' }), ['app', 'issuer'])
})

test('a suspension refuses every key, and an activation accepts them again', async () => {
  const { id, secretKey, publishableKey } = await api.makeTenant()
  const set = (status: string) => send(api, 'POST', `/tenants/${id}/status`, { ...operator, body: { status } })
  const codes = async () => [
    (await send(api, 'GET', '/tenant', { key: secretKey })).body.error?.code,
    (await send(api, 'POST', '/collections', { key: publishableKey, body: {} })).body.error?.code,
  ]
  assert.deepEqual(await codes(), [undefined, undefined])
  assert.equal((await set('suspended')).body.data.status, 'suspended')
  await until(async () => (await codes()).every((code) => code === 'tenant_suspended'))
  await set('active')
  await until(async () => (await codes()).every((code) => code === undefined))
})

async function until(holds: () => Promise<boolean>): Promise<void> {
  // Without notifications it would take 15 seconds.
  const deadline = Date.now() + 10_000
  while (!(await holds())) assert.ok(Date.now() < deadline, 'did not come to hold within ten seconds')
}
