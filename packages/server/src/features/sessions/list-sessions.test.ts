import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { send } from '#testing/http.ts'
import { startSessionWorld, type SessionWorld } from '#testing/session-world.ts'
import { fill } from '#testing/test-database.ts'

let world: SessionWorld
before(async () => {
  world = await startSessionWorld({ runner: false })
})
after(() => world.close())

const list = (query = '', key = world.tenant.secretKey) => send(world.api, 'GET', `/sessions${query}`, { key })
const idsOf = async (query: string) => {
  const seen: string[] = []
  for (let cursor = ''; ;) {
    const { status, body } = await list(`?${query}${cursor}`)
    assert.equal(status, 200, JSON.stringify(body))
    seen.push(...body.data.map((one: any) => one.id))
    if (!body.meta.next_cursor) return seen
    cursor = `&cursor=${body.meta.next_cursor}`
  }
}

test('a tenant lists its sessions, newest first, by status, agent and time, without what opens or pays for them', async () => {
  const { api, tenant } = world
  const [agent, other] = [await world.makeAgent(), await world.makeAgent()]
  const coupon = await world.makeCoupon(50)
  const made: { id: string; token: string; room: { room: string; mk: string } }[] = []
  for (const [agentId, more] of [
    [agent, {}],
    [agent, { arm: true }],
    [other, { metadata: { note: 'hush' } }],
  ] as const) {
    const room = world.newRoom()
    const { data } = (await world.launch(agentId, room, coupon, more)).body
    made.push({ id: data.id, token: data.control_token ?? data.summon_key, room })
  }
  const [launched, armed, last] = made as [(typeof made)[0], (typeof made)[0], (typeof made)[0]]
  await world.control('POST', `/sessions/${launched.id}/stop`, launched.token)
  for (const [n, { id }] of made.entries())
    await api.ctx.db.pool.query('update sessions set created_at = $2 where id = $1', [id, `2026-01-0${n + 1}T00:00:00Z`])

  const { body, text } = await list()
  assert.deepEqual(
    body.data.map((one: any) => [one.id, one.status]),
    [
      [last.id, 'launching'],
      [armed.id, 'armed'],
      [launched.id, 'stopped'],
    ],
  )
  const shown = (await world.control('GET', `/sessions/${last.id}`, last.token)).body.data
  assert.deepEqual(body.data[0], shown, 'a session as its control token shows it')
  for (const secret of [coupon, 'hush', ...made.flatMap(({ token, room }) => [token, room.mk])])
    assert.equal(text.includes(secret), false, secret)

  assert.deepEqual(await idsOf('limit=1'), [last.id, armed.id, launched.id])
  assert.deepEqual(await idsOf('status=armed'), [armed.id])
  assert.deepEqual(await idsOf(`agent_id=${agent}&limit=1`), [armed.id, launched.id])
  assert.deepEqual(await idsOf('from=2026-01-02T00:00:00Z'), [last.id, armed.id])
  assert.deepEqual(await idsOf('to=2026-01-02T01:00:00%2B01:00'), [launched.id])
  assert.deepEqual(await idsOf('from=2026-01-02T00:00:00Z&to=2026-01-03T00:00:00Z&limit=1'), [armed.id])

  const foreign = await api.makeTenant()
  assert.deepEqual((await list('', foreign.secretKey)).body.data, [])
  assert.equal((await list('', tenant.publishableKey)).body.error.code, 'secret_key_required')
  const { next_cursor: cursor } = (await list('?limit=1')).body.meta
  for (const query of [`?status=armed&cursor=${cursor}`, `?from=2026-01-01T00:00:00Z&cursor=${cursor}`, '?cursor=x'])
    assert.equal((await list(query)).body.error.code, 'invalid_cursor', query)
  assert.equal((await list(`?cursor=${cursor}`, foreign.secretKey)).body.error.code, 'invalid_cursor')
  for (const query of ['?status=gone', '?agent_id=x', '?from=yesterday', '?limit=0', '?order=oldest'])
    assert.equal((await list(query)).body.error.code, 'invalid_request', query)
  const pathsOf = async (query: string) => (await list(query)).body.error.details.map((detail: any) => detail.path)
  assert.deepEqual(await pathsOf('?limit=0'), ['/limit'])
  assert.deepEqual(await pathsOf('?cursor=x'), ['/cursor'], 'as every other parameter')
})

test('among many sessions each call reads a bounded number, and all are found', async () => {
  const { api } = world
  const tenant = await api.makeTenant()
  const agent = await world.makeAgent({}, tenant)
  const { body } = await send(api, 'POST', '/sessions', {
    key: tenant.secretKey,
    idempotencyKey: 'one',
    body: { agent_id: agent, room: world.newRoom(), coupon: await world.makeCoupon(5), arm: true },
  })
  await fill(
    api.databaseUrl,
    `insert into sessions (tenant_id, id, agent_tenant_id, agent_id, agent_version, is_remote, room, status, price, max_minutes, answered_seq,
       created_at, expires_at, stopped_at)
     select tenant_id, 'ses_' || lpad(n::text, 22, '0'), agent_tenant_id, agent_id, agent_version, false, 'r', 'stopped', 0, 1, 0,
       now() + n / 10 * interval '1 ms', now(), now()
     from sessions, generate_series(1, 60000) n where id = $1`,
    [body.data.id],
  )
  const page = async (query: string) => (await list(query, tenant.secretKey)).body
  const first = await page('?status=armed')
  assert.deepEqual(first.data, [])
  const second = await page(`?status=armed&cursor=${first.meta.next_cursor}`)
  assert.deepEqual(
    second.data.map((one: any) => one.id),
    [body.data.id],
  )
  assert.equal(second.meta.next_cursor, undefined)
  const seen = new Set<string>()
  for (let cursor = '', pages = 0; pages < 5; pages++) {
    const { data, meta } = await page(`?limit=7${cursor}`)
    for (const one of data) seen.add(one.id)
    cursor = `&cursor=${meta.next_cursor}`
  }
  assert.equal(seen.size, 35, 'also where many were made in the same millisecond')
})
