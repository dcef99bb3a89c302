import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leastMs } from '#testing/busy-machine.ts'
import { type Got, send } from '#testing/http.ts'
import { startTestApi } from '#testing/test-api.ts'
import { fill } from '#testing/test-database.ts'

test('a tenant with 100,000 ended keys reads its log and rotates a key as quickly as any other', async (t) => {
  const api = await startTestApi()
  t.after(() => api.close())
  const { id, secretKey: key } = await api.makeTenant()
  await fill(
    api.databaseUrl,
    `insert into api_keys (tenant_id, id, kind, hint, key_hash, revoked_at)
     select $1, 'key_' || n, 'secret', 'wsk_…0000', sha256(n::text::bytea), now() from generate_series(1, 100000) n`,
    [id],
  )
  await api.ctx.db.pool.query('analyze api_keys')
  await send(api, 'GET', '/tenant', { key })
  const [operator, adminToken] = [`/tenants/${id}`, api.adminToken]
  const requests: [string, object][] = [
    ['/tenant/keys', { key }],
    ['/tenant/requests', { key }],
    [`/tenant/requests?key_hint=${key.slice(-4)}`, { key }],
    ['/tenant/keys/leaks', { key }],
    [operator, { headers: { 'x-admin-token': adminToken } }],
  ]
  const quickly = async (what: string, call: (begin: () => void) => Promise<Got>) => {
    const answers: Got[] = []
    const ms = await leastMs(400, async (begin) => {
      const got = await call(begin)
      assert.ok(got.status < 300, `${what}: ${got.text}`)
      answers.push(got)
    })
    assert.ok(ms < 400, `${what}: ${Math.round(ms)} ms`)
    return answers.at(-1)?.body?.data
  }
  for (const [path, who] of requests) {
    const data = await quickly(path, () => send(api, 'GET', path, who))
    if (path.startsWith('/tenant/requests')) assert.equal(data[0].key_hint, `wsk_…${key.slice(-4)}`)
    if (path === operator) assert.equal(data.active_keys, 2)
  }
  const firstPage = await send(api, 'GET', '/tenant/keys', { key })
  assert.equal(firstPage.body.data.length, 1_000)
  assert.ok(firstPage.text.length < 512 * 1024, `a page has ${firstPage.text.length} bytes`)
  assert.deepEqual(
    firstPage.body.data
      .filter((listed: any) => listed.revoked_at === null)
      .map(({ kind }: any) => kind)
      .toSorted(),
    ['publishable', 'secret'],
  )
  const add = (body: object) => send(api, 'POST', '/tenant/keys', { key, body: { kind: 'secret', ...body } })
  await quickly('a new key', () => add({}))
  for (const [what, end] of [
    ['a rotation', (id: string) => add({ rotates: id })],
    ['a revocation', (id: string) => send(api, 'DELETE', `/tenant/keys/${id}`, { key })],
  ] as const)
    await quickly(what, async (begin) => {
      const made = (await add({})).body.data
      begin()
      return end(made.id)
    })
  const ended = `select id from api_keys where tenant_id = $1 and id ~ '^key_\\d{1,6}$'`
  assert.equal((await api.ctx.db.pool.query(ended, [id])).rowCount, 100_000)
  assert.equal((await api.ctx.db.pool.query(`${ended} and xmax <> 0`, [id])).rowCount, 0, 'no ended key was locked')
})
