import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { type CredentialKind, credentialPrefixes, makeCredential } from '@atrium/contract/tokens'
import { consoleLink, signIn } from '#testing/console.ts'
import { send, sendUntilServed, untilServed } from '#testing/http.ts'
import { pullEvents } from '#testing/pull-events.ts'
import { ReportSigner, sendReport, startReportKeyServer, type ReportKeyServer } from '#testing/report-signer.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'

const signer = new ReportSigner()
const url = 'https://github.com/octocat/Hello-World/blob/main/foo/bar.txt'

let keyServer: ReportKeyServer
let api: TestApi
before(async () => {
  keyServer = await startReportKeyServer(signer)
  api = await startTestApi({ egress: 'loopback', leaksKeysUrl: keyServer.url })
})
after(async () => {
  await api.close()
  keyServer.close()
})

const entry = (token: string, more: object = {}) => ({ token, type: 'atrium_secret_key', url, source: 'content', ...more })
const report = (entries: object[]) => sendReport(api, signer, JSON.stringify(entries))
const labels = (got: { body: { label: string }[] }) => got.body.map(({ label }) => label)
const works = async (key: string) => (await send(api, 'GET', '/tenant', { key })).status === 200
const leaksOf = async (key: string) => (await send(api, 'GET', '/tenant/keys/leaks', { key })).body.data
const make = (kind: CredentialKind) => makeCredential(kind, randomBytes)

async function secondKey(tenant: TestTenant): Promise<{ id: string; key: string; hint: string }> {
  const body = { kind: 'secret', name: 'ci' }
  return (await sendUntilServed(api, 'POST', '/tenant/keys', { key: tenant.secretKey, body })).body.data
}

const leakEvents = async (tenant: TestTenant) => (await pullEvents(api, tenant)).filter(({ type }) => type === 'key.leaked')

async function choose(tenant: TestTenant, action: string): Promise<void> {
  const chosen = await send(api, 'PUT', '/tenant/keys/leaks/policy', { key: tenant.secretKey, body: { action } })
  assert.deepEqual([chosen.status, chosen.body.data], [200, { action }])
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 20_000; !(await holds());) assert.ok(Date.now() < deadline, 'it never came true')
}

test('a reported secret key is revoked, and its tenant gets the event, the audit entry and the requests of the key', async () => {
  const tenant = await api.makeTenant()
  const leaked = await secondKey(tenant)
  for (let i = 0; i < 7; i++) await works(leaked.key)
  await send(api, 'GET', '/usage', { key: leaked.key, headers: { origin: 'https://thief.example' } })
  await works(tenant.secretKey)

  const got = await report([entry(leaked.key)])
  assert.equal(got.status, 200)
  const token_hash = createHash('sha256').update(leaked.key).digest('hex')
  assert.deepEqual(got.body, [{ token_hash, token_type: 'atrium_secret_key', label: 'true_positive' }])
  const [leak, ...others] = await leaksOf(tenant.secretKey)
  assert.deepEqual(others, [])
  const { requests, places, first_seen_at: at } = leak
  assert.deepEqual([leak.key_id, leak.key_name, leak.key_hint, leak.action], [leaked.id, 'ci', leaked.hint, 'revoked'])
  assert.deepEqual(places, [{ url, source: 'content', first_seen_at: at }])
  assert.equal(requests.count, 8)
  assert.deepEqual(requests.origins, [
    { origin: null, count: 7 },
    { origin: 'https://thief.example', count: 1 },
  ])
  assert.deepEqual(
    requests.last.map(({ path }: { path: string }) => path),
    ['/usage', '/tenant', '/tenant', '/tenant', '/tenant'],
  )
  assert.equal(requests.last_at, requests.last[0].created_at)
  assert.ok(requests.since < requests.last_at && requests.searched_from === null)
  // Only now, because a request that is still accepted is in the log.
  await until(async () => !(await works(leaked.key)))
  assert.ok(await works(tenant.secretKey))

  const events = await leakEvents(tenant)
  const data = {
    key_id: leaked.id,
    kind: 'secret',
    hint: leaked.hint,
    action: 'revoked',
    url,
    source: 'content',
    first_seen_at: at,
  }
  assert.deepEqual(
    events.map((event) => event.data),
    [data],
  )
  const [audited] = (await send(api, 'GET', '/tenant/audit-log', { key: tenant.secretKey })).body.data
  assert.deepEqual(
    [audited.operation, audited.actor.kind, audited.targets, audited.request_id],
    ['reportLeakedKeys', 'anyone', { key_id: leaked.id }, got.headers.get('x-request-id')],
  )
})

test('entries after the end of a key do not hide its requests before', async () => {
  const tenant = await api.makeTenant()
  const leaked = await secondKey(tenant)
  await report([entry(leaked.key)])
  // Up to a minute after its end, other processes may still have accepted the key. In 200 chunks, 249 of 250 entries are
  // later; the next chunk has two requests of the key.
  await api.ctx.db.pool.query(
    `insert into request_log_chunks
       (tenant_id, id, first_at, last_at, started_at, requests, refused, failed, duration_sample, entries)
     select $1, 'req_' || n, f, f + c.ms * interval '1 ms', f, c.size, 0, 0, '{1}', (
       select json_agg(json_build_array('req_' || n || '-' || i, case when i = 1 then 0 else c.ms end, 'GET', '/tenant', 200, 1, c.key_id))
       from generate_series(1, c.size) i
     )
     from (values (1, 200, 250, 2000, 'key_other'), (201, 201, 2, 500, $2)) c (low, high, size, ms, key_id)
     cross join generate_series(c.low, c.high) n
     cross join lateral (
       select revoked_at + interval '59 s' - case when n = 201 then interval '1 hour' else interval '0' end as f
       from api_keys where tenant_id = $1 and id = $2
     ) k`,
    [tenant.id, leaked.id],
  )
  const [{ requests }] = await leaksOf(tenant.secretKey)
  assert.deepEqual([requests.count, requests.searched_from], [2, null])
})

test('the same report again, also at the same time, does nothing twice; another place is told', async () => {
  const tenant = await api.makeTenant()
  const leaked = await secondKey(tenant)
  const body = JSON.stringify([entry(leaked.key), entry(leaked.key)])
  const headers = signer.headers(body)
  const answers = await Promise.all([1, 2, 3].map(() => sendReport(api, signer, body, headers)))
  for (const got of answers) assert.deepEqual(labels(got), ['true_positive', 'true_positive'])
  assert.equal((await leakEvents(tenant)).length, 1)
  await report([entry(leaked.key, { url: `${url}#fork` })])
  const events = await leakEvents(tenant)
  assert.deepEqual(
    events.map(({ data }) => [data['url'], data['action']]),
    [
      [url, 'revoked'],
      [`${url}#fork`, 'revoked'],
    ],
  )
  assert.equal((await pullEvents(api, tenant)).filter(({ type }) => type === 'key.revoked').length, 1)
  assert.equal((await leaksOf(tenant.secretKey))[0].places.length, 2)
})

test('a tenant that chose notify keeps the key; after it chose revoke, the next report revokes', async () => {
  const tenant = await api.makeTenant()
  const leaked = await secondKey(tenant)
  const policy = await send(api, 'GET', '/tenant/keys/leaks/policy', { key: tenant.secretKey })
  assert.deepEqual(policy.body.data, { action: 'revoke' })
  await choose(tenant, 'notify')
  assert.deepEqual(labels(await report([entry(leaked.key)])), ['true_positive'])
  assert.ok(await works(leaked.key))
  assert.equal((await leaksOf(tenant.secretKey))[0].action, 'notified')
  await choose(tenant, 'revoke')
  await report([entry(leaked.key)])
  await until(async () => !(await works(leaked.key)))
  assert.equal((await leaksOf(tenant.secretKey))[0].action, 'revoked')
  assert.deepEqual(
    (await leakEvents(tenant)).map(({ data }) => data['action']),
    ['notified', 'revoked'],
  )
})

test('the last secret key is revoked too, and the console makes the next one', async () => {
  const tenant = await api.makeTenant()
  await report([entry(tenant.secretKey)])
  await until(async () => !(await works(tenant.secretKey)))
  const owner = await signIn(api, await consoleLink(api, { kind: 'tenant', tenant_id: tenant.id }))
  const made = await owner.send('POST', '/tenant/keys', { kind: 'secret' })
  assert.equal(made.status, 201)
  assert.equal((await leaksOf(made.body.data.key))[0].action, 'revoked')
})

test('a key that was revoked before is reported as ended', async () => {
  const tenant = await api.makeTenant()
  const leaked = await secondKey(tenant)
  await send(api, 'DELETE', `/tenant/keys/${leaked.id}`, { key: tenant.secretKey })
  assert.deepEqual(labels(await report([entry(leaked.key)])), ['true_positive'])
  assert.equal((await leaksOf(tenant.secretKey))[0].action, 'ended')
})

test('the leaked keys that are still valid are listed apart from those that have ended', async () => {
  const tenant = await api.makeTenant()
  const [revoked, valid, expiring] = [await secondKey(tenant), await secondKey(tenant), await secondKey(tenant)]
  await report([entry(revoked.key)])
  await choose(tenant, 'notify')
  await report([entry(valid.key)])
  await report([entry(expiring.key)])
  const list = async (query: string) => {
    const { body } = await send(api, 'GET', `/tenant/keys/leaks?${query}`, { key: tenant.secretKey })
    return body.error?.code ?? body.data.map(({ key_id }: any) => key_id)
  }
  assert.deepEqual(await list('valid=true'), [expiring.id, valid.id])
  assert.deepEqual(await list('valid=false'), [revoked.id])
  const body = { kind: 'secret', rotates: expiring.id }
  assert.equal((await send(api, 'POST', '/tenant/keys', { key: tenant.secretKey, body })).status, 201)
  assert.deepEqual(await list('valid=true'), [valid.id])
  assert.deepEqual(await list(''), [expiring.id, valid.id, revoked.id])
  const page = await send(api, 'GET', '/tenant/keys/leaks?valid=false&limit=1', { key: tenant.secretKey })
  assert.deepEqual(await list(`valid=false&limit=1&cursor=${page.body.meta.next_cursor}`), [revoked.id])
  assert.equal(await list(`cursor=${page.body.meta.next_cursor}`), 'invalid_cursor')
  assert.equal(await list('valid=1'), 'invalid_request')
})

test('publishable keys, unknown keys and other texts are false positives, and change nothing', async () => {
  const tenant = await api.makeTenant()
  const broken = tenant.secretKey.slice(0, -1) + (tenant.secretKey.endsWith('0') ? '1' : '0')
  const tokens = [tenant.publishableKey, make('secretKey'), broken, make('operatorToken'), '', 'é', 'x'.repeat(10_000)]
  const got = await report(tokens.map((token) => entry(token)))
  assert.deepEqual(
    labels(got),
    tokens.map(() => 'false_positive'),
  )
  assert.ok(await works(tenant.secretKey))
  assert.equal((await send(api, 'POST', '/collections', { key: tenant.publishableKey, body: {} })).status, 201)
  assert.deepEqual(await leaksOf(tenant.secretKey), [])
})

test('credentials that cannot be found by their hash are true positives by their checksum', async () => {
  const looked = new Set(['secretKey', 'publishableKey', 'operatorToken'])
  const others = Object.keys(credentialPrefixes).filter((kind) => !looked.has(kind)) as CredentialKind[]
  const got = await report(others.map((kind) => entry(make(kind))))
  assert.deepEqual(
    labels(got),
    others.map(() => 'true_positive'),
  )
})

test('the token of an operator credential is revoked, and the audit log says so', async () => {
  const operator = { headers: { 'x-admin-token': api.adminToken } }
  const made = (await send(api, 'POST', '/operator/credentials', { ...operator, body: { name: 'leaky' } })).body.data
  const own = { headers: { 'x-admin-token': made.token } }
  assert.equal((await send(api, 'GET', '/operator/credentials', own)).status, 200)
  for (let i = 0; i < 2; i++) assert.deepEqual(labels(await report([entry(made.token)])), ['true_positive'])
  assert.equal((await send(api, 'GET', '/operator/credentials', own)).status, 401)
  const log = (await send(api, 'GET', '/operator/audit-log', operator)).body.data
  const entries = log.filter(
    ({ operation, targets }: any) => operation === 'reportLeakedKeys' && targets.credentialId === made.id,
  )
  assert.equal(entries.length, 1)
})

test('1,000 tokens of several tenants in one report are judged in their order, and each tenant sees its own', async () => {
  const tenants = await Promise.all([api.makeTenant(), api.makeTenant(), api.makeTenant()])
  const leaked = await Promise.all(tenants.map(secondKey))
  const tokens = Array.from({ length: 1_000 }, (_, i) => (i % 400 === 7 ? leaked[(i - 7) / 400]!.key : make('secretKey')))
  const got = await report(
    tokens.map((token, i) => entry(token, { url: `https://github.com/octocat/Hello-World/blob/main/${i}` })),
  )
  assert.deepEqual(
    labels(got).flatMap((label, i) => (label === 'true_positive' ? [i] : [])),
    [7, 407, 807],
  )
  for (const [i, tenant] of tenants.entries()) {
    assert.deepEqual(
      (await leaksOf(tenant.secretKey)).map(({ key_id }: { key_id: string }) => key_id),
      [leaked[i]!.id],
    )
    assert.equal((await leakEvents(tenant)).length, 1)
  }
})

test('at most 20 places of a key are kept, and no text that contains the key', async () => {
  const tenant = await api.makeTenant()
  const leaked = await secondKey(tenant)
  const places = Array.from({ length: 30 }, (_, i) =>
    entry(leaked.key, { url: i === 0 ? `${url}?key=${leaked.key}` : `${url}?${i}` }),
  )
  await report(places)
  const [leak] = await leaksOf(tenant.secretKey)
  assert.equal(leak.places.length, 20)
  assert.equal(leak.places[0].url, null)
  assert.equal((await leakEvents(tenant)).length, 20)
  const { rows } = await api.ctx.db.pool.query('select to_jsonb(k)::text as text from key_leaks k')
  assert.ok(!JSON.stringify([rows, leak, await pullEvents(api, tenant)]).includes(leaked.key))
})

test('a place that has the key of another tenant is not stored and not sent', async () => {
  const [tenant, other] = [await api.makeTenant(), await api.makeTenant()]
  const [leaked, foreign] = [await secondKey(tenant), await secondKey(other)]
  await report([entry(leaked.key, { url: `https://example.com/${foreign.key}.json`, source: `file ${foreign.key}` })])
  const [leak] = await leaksOf(tenant.secretKey)
  assert.deepEqual([leak.places.length, leak.places[0].url, leak.places[0].source], [1, null, null])
  const { rows } = await api.ctx.db.pool.query('select to_jsonb(k)::text as text from key_leaks k')
  assert.ok(!JSON.stringify([rows, leak, await pullEvents(api, tenant)]).includes(foreign.key))
})

test('a report of an operator has the same effects, and the audit log names the operator', async () => {
  const tenant = await api.makeTenant()
  const leaked = await secondKey(tenant)
  const operator = { headers: { 'x-admin-token': api.adminToken } }
  const own = (await send(api, 'POST', '/operator/credentials', { ...operator, body: { name: 'scanner' } })).body.data
  const reportAs = (token: string) =>
    send(api, 'POST', '/tenant/keys/leaks', { headers: { 'x-admin-token': token }, body: [entry(leaked.key)] })
  for (const token of ['opt_unknown', make('operatorToken'), '']) {
    const refused = await reportAs(token)
    assert.deepEqual([refused.status, refused.body.error.code], [401, 'unauthorized'])
  }
  assert.ok(await works(leaked.key))
  // A signature does not help a wrong token.
  const body = JSON.stringify([entry(leaked.key)])
  const both = await sendReport(api, signer, body, { ...signer.headers(body), 'x-admin-token': make('operatorToken') })
  assert.equal(both.status, 401)
  assert.deepEqual(labels(await reportAs(own.token)), ['true_positive'])
  await until(async () => !(await works(leaked.key)))
  assert.deepEqual(labels(await reportAs(api.adminToken)), ['true_positive'])
  assert.equal((await leaksOf(tenant.secretKey))[0].action, 'revoked')
  assert.equal((await leakEvents(tenant)).length, 1)
  const log = (await send(api, 'GET', '/operator/audit-log', operator)).body.data
  const audited = log.filter(({ operation, targets }: any) => operation === 'reportLeakedKeys' && targets.key_id === leaked.id)
  assert.deepEqual(
    audited.map(({ actor }: any) => actor),
    [{ kind: 'operator', id: own.id, name: 'scanner' }],
  )
})

test('a report without a signature, with a wrong one, or of a changed body is refused, and does nothing', async () => {
  const tenant = await api.makeTenant()
  const text = JSON.stringify([entry(tenant.secretKey)])
  const right = signer.headers(text)
  const stranger = new ReportSigner()
  const wrong: Record<string, Record<string, string>> = {
    unsigned: {},
    'without an identifier': { 'github-public-key-signature': right['github-public-key-signature']! },
    'without a signature': { 'github-public-key-identifier': signer.identifier },
    'unknown identifier': stranger.headers(text),
    'signature of another key': { ...stranger.headers(text), 'github-public-key-identifier': signer.identifier },
    'signature of another body': signer.headers(`${text} `),
    'no base64': { ...right, 'github-public-key-signature': '%%%' },
    'raw signature': { ...right, 'github-public-key-signature': randomBytes(64).toString('base64') },
  }
  const asked = keyServer.asked
  for (const [name, headers] of Object.entries(wrong)) {
    const got = await sendReport(api, signer, text, headers)
    assert.deepEqual([got.status, got.body.error.code], [401, 'unauthorized'], name)
    assert.ok(!got.text.includes(tenant.secretKey))
  }
  assert.equal((await sendReport(api, signer, `${text} `, right)).status, 401)
  assert.ok(keyServer.asked <= asked + 1, 'made-up identifiers do not become requests')
  assert.ok(await works(tenant.secretKey))
  assert.deepEqual(await leaksOf(tenant.secretKey), [])
})

test('a body in another form is refused, and one with more fields is accepted', async () => {
  for (const body of ['{}', '[]', '[{}]', '[{"token":1,"type":""}]', '[', ''])
    assert.equal((await sendReport(api, signer, body)).body.error.code, 'invalid_request', body)
  const tenant = await api.makeTenant()
  assert.deepEqual(labels(await report([{ token: tenant.secretKey, type: 't', new_field: 1 }])), ['true_positive'])
  const large = JSON.stringify(Array.from({ length: 3_000 }, () => entry(make('secretKey'))))
  assert.equal((await sendReport(api, signer, large)).status, 413)
})

test('64 reports of keys of one tenant at once are all taken', async () => {
  const tenant = await api.makeTenant()
  const leaked = await Promise.all(Array.from({ length: 64 }, () => secondKey(tenant)))
  const answers = await Promise.all(leaked.map(({ key }) => untilServed(() => report([entry(key)]))))
  assert.deepEqual(
    answers.map(({ status }) => status),
    answers.map(() => 200),
  )
  assert.equal((await leakEvents(tenant)).length, 64)
})

test('leaks are listed page by page, and one tenant cannot use the cursor of another', async () => {
  const [tenant, other] = [await api.makeTenant(), await api.makeTenant()]
  const leaked = [await secondKey(tenant), await secondKey(tenant), await secondKey(tenant)]
  for (const { key } of leaked) await report([entry(key)])
  const path = (cursor: string) => `/tenant/keys/leaks?limit=2${cursor}`
  const first = await send(api, 'GET', path(''), { key: tenant.secretKey })
  const second = await send(api, 'GET', path(`&cursor=${first.body.meta.next_cursor}`), { key: tenant.secretKey })
  assert.deepEqual(
    [...first.body.data, ...second.body.data].map(({ key_id }) => key_id),
    leaked.map(({ id }) => id).toReversed(),
  )
  assert.equal(second.body.meta.next_cursor, undefined)
  const stolen = await send(api, 'GET', path(`&cursor=${first.body.meta.next_cursor}`), { key: other.secretKey })
  assert.equal(stolen.body.error.code, 'invalid_cursor')
})
