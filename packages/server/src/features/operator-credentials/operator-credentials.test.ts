import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { send, untilServed } from '#testing/http.ts'
import { eventually } from '#testing/session-world.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

let api: TestApi
let operator: { headers: Record<string, string> }
before(async () => {
  api = await startTestApi()
  operator = as(api.adminToken)
})
after(() => api.close())

const as = (token: string) => ({ headers: { 'x-admin-token': token } })
const add = (body: object, who = operator) => send(api, 'POST', '/operator/credentials', { ...who, body })
const made = async (body: object) => {
  const answer = await add(body)
  assert.equal(answer.status, 201, answer.text)
  return answer.body.data
}
const query = (text: string, values: unknown[] = []) => api.ctx.db.pool.query(text, values)

test('a credential operates the installation, and its token is shown once and stored as a hash', async () => {
  const answer = await add({ name: 'ada' })
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  const { token, ...shown } = answer.body.data
  assert.match(token, /^opt_/)
  assert.equal((await send(api, 'GET', '/tenants', as(token))).status, 200)
  const listed = (await send(api, 'GET', '/operator/credentials', as(token))).body.data
  const ada = listed.find(({ id }: { id: string }) => id === shown.id)
  assert.equal(ada.token, undefined)
  assert.notEqual(ada.last_used_at, null)
  const { rows } = await query('select to_jsonb(c)::text as text from operator_credentials c')
  assert.ok(!JSON.stringify(rows).includes(token.slice(4, 34)))
})

test('a revoked credential is refused from the next call on, and an expired one with its time', async () => {
  const { id, token } = await made({ name: 'grace' })
  assert.equal((await send(api, 'DELETE', `/operator/credentials/${id}`, operator)).status, 204)
  assert.equal((await send(api, 'DELETE', `/operator/credentials/${id}`, operator)).status, 204)
  const refused = (await send(api, 'GET', '/tenants', as(token))).body.error
  assert.equal(refused.code, 'unauthorized')
  assert.match(refused.message, /was revoked/)
  const late = await made({ name: 'late', expires_at: '2099-01-01T00:00:00.000Z' })
  await query(`update operator_credentials set expires_at = now() - interval '1 s' where id = $1`, [late.id])
  const expired = (await send(api, 'GET', '/tenants', as(late.token))).body.error
  assert.equal(expired.code, 'unauthorized')
  assert.match(expired.message, /expired at 20/)
  // The name of an expired one is free.
  await made({ name: 'late' })
})

for (const [aheadMinutes, isOver, status] of [
  [-10, true, 401],
  [10, false, 200],
] as const)
  test(`a credential ends by the clock of the database, where that of the process is wrong by ${aheadMinutes} minutes`, async (t) => {
    const { id, token } = await made({ name: `clock ${aheadMinutes}`, expires_at: '2099-01-01T00:00:00.000Z' })
    const end = isOver ? "now() - interval '1 s'" : "now() + interval '5 minutes'"
    await query(`update operator_credentials set expires_at = ${end} where id = $1`, [id])
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + aheadMinutes * 60_000 })
    assert.equal((await send(api, 'GET', '/tenants', as(token))).status, status)
  })

test('names differ, and no more than twenty credentials are active, however many are asked for at once', async () => {
  await made({ name: 'twin' })
  assert.equal((await add({ name: 'twin' })).body.error.code, 'state_conflict')
  const answers = await Promise.all(Array.from({ length: 25 }, (_, n) => untilServed(() => add({ name: `many ${n}` }))))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201, 409]))
  const { rows } = await query(
    'select count(*)::int as active from operator_credentials where revoked_at is null and (expires_at is null or expires_at > now())',
  )
  assert.deepEqual(rows, [{ active: 20 }])
})

test('calls do not wait for a change of the credentials', async () => {
  await query('update operator_credentials set revoked_at = now()')
  const { token } = await made({ name: 'caller' })
  await query('create table holds as select 1 as hold')
  await query(`create function hold() returns trigger language plpgsql as $$ begin
    while exists (select from holds) loop perform pg_sleep(0.01); end loop;
    return new;
  end $$`)
  await query('create trigger hold before insert on operator_credentials for each row execute function hold()')
  const change = add({ name: 'held' })
  const held = `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`
  await eventually(async () => (await query(held)).rows.length > 0, 'the change holds its lock')
  const answer = await send(api, 'GET', '/tenants', as(token))
  await query('delete from holds')
  await change
  await query('drop trigger hold on operator_credentials')
  assert.equal(answer.status, 200)
})

test('an Idempotency-Key belongs to one credential: another operator does not get the stored secret', async () => {
  await query('update operator_credentials set revoked_at = now()')
  const [one, two] = [await made({ name: 'one' }), await made({ name: 'two' })]
  const ask = (token: string) => send(api, 'POST', '/tenants', { ...as(token), idempotencyKey: 'k-1', body: { name: 'T' } })
  const first = await ask(one.token)
  assert.equal((await ask(one.token)).text, first.text)
  assert.notEqual((await ask(two.token)).body.data.secret_key, first.body.data.secret_key)
})

test('the bootstrap token can be switched off, and then the last credential stays', async (t) => {
  const off = await startTestApi()
  t.after(() => off.close())
  const post = (name: string) => send(off, 'POST', '/operator/credentials', { ...as(off.adminToken), body: { name } })
  const [first, second] = [(await post('first')).body.data, (await post('second')).body.data]
  // As a start with ATRIUM_BOOTSTRAP_TOKEN=off has it.
  off.ctx.config.bootstrapToken = false
  const refused = (await send(off, 'GET', '/tenants', as(off.adminToken))).body.error
  assert.equal(refused.code, 'unauthorized')
  assert.match(refused.message, /switched off/)
  const revoke = (id: string) => send(off, 'DELETE', `/operator/credentials/${id}`, as(first.token))
  assert.equal((await revoke(second.id)).status, 204)
  assert.equal((await revoke(first.id)).body.error.code, 'state_conflict')
})
