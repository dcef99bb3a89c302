import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startBeat } from '#processes/beat.ts'
import { insertSystemTenant } from '#features/tenants/store.ts'
import { systemTenantId } from '#features/tenants/tenant.ts'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

let api: TestApi
before(async () => {
  api = await startTestApi({ publicUrl: 'http://api.test', spacesUrl: 'https://spaces.test' })
})
after(() => api.close())

const status = async (path: string, accept: string) => {
  const res = await fetch(api.origin + path, { headers: { accept } })
  return { res, text: await res.text() }
}
const rows = async (sql: string) => (await api.ctx.db.pool.query(sql)).rows
const probe = () => api.ctx.revocationProbe.probe(new AbortController().signal)

test('a probe measures how long a revoked key works, and leaves no key, event or visible tenant', async () => {
  await api.ctx.db.transaction(insertSystemTenant)
  await rows(`insert into api_keys (tenant_id, id, kind, hint, key_hash, created_at)
    values ('${systemTenantId}', 'key_left', 'secret', 'canary', 'left', now() - interval '61 minutes')`)
  await probe()
  const worst = api.ctx.revocationProbe.worstMs()
  assert.ok(worst !== undefined && worst >= 1 && worst < 5_000, `${worst} ms`)
  assert.deepEqual(await rows('select id from api_keys'), [], 'also those of killed processes are deleted')
  assert.deepEqual(await rows('select id from events'), [])
  const operator = { headers: { 'x-admin-token': api.adminToken } }
  const listed = await send(api, 'GET', '/tenants', operator)
  assert.deepEqual(listed.body.data, [])
  for (const path of [`/tenants/${systemTenantId}/suspend`, `/tenants/${systemTenantId}/delete`]) {
    const answer = await send(api, 'POST', path, { ...operator, body: {} })
    assert.equal(answer.status, 404, `${path} ${answer.text}`)
  }
  const metrics = await (await fetch(`${api.origin}/metrics`)).text()
  assert.match(metrics, /^atrium_key_revocation_worst_seconds\S* [0-4](?:\.\d+)?$/m)
  assert.match(metrics, /^atrium_key_revocation_probes_total\{\S*outcome="measured"\S*\} 1$/m)
})

test('a key that works on after its revocation is measured', async () => {
  const { keyCache, revocationProbe } = api.ctx
  const forgetTenant = keyCache.forgetTenant.bind(keyCache)
  let delayed = 0
  keyCache.forgetTenant = (tenantId) => {
    delayed++
    setTimeout(forgetTenant, 300, tenantId)
  }
  try {
    await probe()
  } finally {
    keyCache.forgetTenant = forgetTenant
  }
  assert.equal(delayed, 1)
  const worst = revocationProbe.worstMs()!
  assert.ok(worst >= 250 && worst < 5_000, `${worst} ms`)
})

test('the status page is for browsers and programs, and says nothing of tenants', async () => {
  const tenant = await api.makeTenant('A tenant of the test')
  const stop = startBeat(api.ctx, 'api')
  try {
    for (let tries = 0; (await rows('select from processes')).length === 0; tries++) assert.ok(tries < 500)
    const { res, text } = await status('/status', '*/*')
    assert.equal(res.status, 200)
    assert.equal(res.headers.get('cache-control'), 'public, max-age=10')
    const { version, commit, ...said } = JSON.parse(text)
    assert.match(version, /^\d+\.\d+\.\d+/)
    assert.equal(commit, null)
    assert.deepEqual(said, {
      status: 'ok',
      space_certificate: 'https://spaces.test/cert.json',
      transparency_log: 'http://api.test/log/checkpoint',
      key_revocation: { worst_ms: api.ctx.revocationProbe.worstMs(), window_seconds: 3_600, limit_ms: 15_000 },
    })
    assert.equal((await status('/status.json', 'text/html')).text, text)
    const page = await status('/status', 'text/html')
    assert.match(page.res.headers.get('content-type') ?? '', /^text\/html/)
    assert.match(page.res.headers.get('content-security-policy') ?? '', /default-src 'none'/)
    assert.ok(page.text.includes(`<td>${api.ctx.revocationProbe.worstMs()} ms</td>`))
    assert.ok(page.text.includes(`<td>${version} (not a release archive: its commit is unknown)</td>`))
    for (const secret of [tenant.id, 'A tenant', systemTenantId]) assert.ok(!(text + page.text).includes(secret))
  } finally {
    await stop()
  }
})
