import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'
import { recordCertificate } from './space-certificate.ts'

let api: TestApi
let operator: { headers: Record<string, string> }
before(async () => {
  api = await startTestApi()
  operator = { headers: { 'x-admin-token': api.adminToken } }
})
after(() => api.close())

const ask = async (method: 'GET' | 'POST', path: string) => {
  const answer = await send(api, method, path, operator)
  assert.ok(answer.status < 300, answer.text)
  return answer.body
}
const get = (path: string) => ask('GET', path)
const run = (sql: string) => api.ctx.db.pool.query(sql)

test('storage: sizes of tables with their partitions, of the disk, and tenants by their bytes', async () => {
  await run(`insert into tenants (id, name) select 'ten_' || lpad(i::text, 22, '0'), 'T' || i from generate_series(1, 5) i;
    insert into stored_bytes select 'ten_' || lpad(i::text, 22, '0'), case when i = 5 then 0 else i / 2 * 1000 + 1 end
    from generate_series(1, 5) i`)
  const { database, blobs } = (await get('/operator/storage')).data
  const names = database.tables.map(({ name }: { name: string }) => name)
  assert.ok(names.includes('tenants') && names.includes('webhook_deliveries') && !names.includes('webhook_deliveries_0'))
  assert.equal(new Set(names).size, names.length)
  assert.ok(database.bytes > 1_000_000)
  assert.deepEqual([blobs.store, blobs.artifact_bytes], ['disk', 1 + 1_001 + 1_001 + 2_001])
  assert.ok(blobs.free_bytes > 0 && blobs.disk_bytes >= blobs.free_bytes)
  const seen: string[] = []
  let cursor = ''
  do {
    const { data, meta } = await get(`/operator/storage/tenants?limit=1${cursor}`)
    seen.push(...data.map(({ name, stored_bytes: bytes }: { name: string; stored_bytes: number }) => `${name} ${bytes}`))
    cursor = meta?.next_cursor ? `&cursor=${meta.next_cursor}` : ''
  } while (cursor)
  assert.deepEqual(seen, ['T4 2001', 'T2 1001', 'T3 1001', 'T1 1'])
  const wrong = await send(
    api,
    'GET',
    `/operator/storage/tenants?cursor=${Buffer.from('processes:1 x').toString('base64url')}`,
    operator,
  )
  assert.equal(wrong.body.error.code, 'invalid_cursor')
})

test('the certificate of Space: recorded once, shown since when, and refused unless its key has signed it', async (t) => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { kty, crv, x, y } = createPublicKey(privateKey).export({ format: 'jwk' })
  const certificate = (gitCommit: string) => {
    const signed = JSON.stringify({
      v: 1,
      service: 'atrium-space',
      gitCommit,
      functionCodeSha256: 'c',
      egress: ['postgres'],
      sourceSha256: 's',
    })
    const sig = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')
    return JSON.stringify({ signed, sig, alg: 'ES256', pubkey: { kty, crv, x, y } })
  }
  let answer = certificate('a'.repeat(40))
  let status = 200
  const space = createServer((_req, res) => res.writeHead(status).end(answer)).listen(0, '127.0.0.1')
  await once(space, 'listening')
  api.ctx.config.spaceOrigin = `http://127.0.0.1:${(space.address() as AddressInfo).port}`
  t.after(() => space.close())

  const first = (await get('/operator/space')).data
  assert.deepEqual(
    [first.state, first.certificate.git_commit, first.certificate.first_seen_at],
    ['answering', 'a'.repeat(40), null],
  )
  await recordCertificate(api.ctx)
  await recordCertificate(api.ctx)
  const recorded = (await get('/operator/space')).data.certificate
  assert.match(recorded.first_seen_at, /^20/)
  assert.match(recorded.digest, /^[0-9a-f]{64}$/)
  answer = certificate('b'.repeat(40))
  await recordCertificate(api.ctx)
  const { data, meta } = await get('/operator/space/certificates?limit=1')
  assert.equal(data[0].git_commit, 'b'.repeat(40))
  const older = await get(`/operator/space/certificates?limit=1&cursor=${meta.next_cursor}`)
  assert.deepEqual(older.data, [recorded])

  answer = certificate('c'.repeat(40)).replaceAll('c'.repeat(40), 'd'.repeat(40))
  await recordCertificate(api.ctx)
  assert.deepEqual((await get('/operator/space')).data.state, 'invalid')
  // As of a proxy in front of the service.
  ;[status, answer] = [502, 'x'.repeat(100_000)]
  assert.deepEqual((await get('/operator/space')).data.state, 'unreachable')
  space.close()
  space.closeAllConnections()
  assert.deepEqual((await get('/operator/space')).data.state, 'unreachable')
  assert.equal((await get('/operator/space/certificates')).data.length, 2)
})

test('an audit that an operator starts is one at a time, and ends with its findings', async () => {
  const before = (await get('/operator/ledger')).data
  assert.deepEqual(before, { proof: null })
  const [one, two] = await Promise.all([ask('POST', '/operator/audits'), ask('POST', '/operator/audits')])
  assert.equal(one.data.id, two.data.id)
  assert.deepEqual([one.data.state, one.data.rules_checked, one.data.rules], ['queued', 0, 10])
  // As after the end of a process that had begun it.
  await run(`update ledger_audits set state = 'running', rules_checked = 3`)
  await run(`begin; set local session_replication_role = replica;
    insert into ledger_accounts (tenant_id, id, kind, balance) values ('t', 'i', 'issuer', 5); commit`)
  await api.ctx.askedAudits.run()
  const { data } = await get(`/operator/audits/${one.data.id}`)
  assert.deepEqual([data.state, data.rules_checked, data.finding_count], ['done', 10, data.findings.length])
  const rules = data.findings.map(({ rule }: { rule: string }) => rule)
  assert.deepEqual(rules, ['balance is the sum of its rows', 'debits equal credits'])
  // The rules one by one find what the statement of all rules finds.
  const atOnce = (await get('/operator/audit')).data
  assert.deepEqual(atOnce.findings, data.findings)
  const next = (await ask('POST', '/operator/audits')).data
  assert.notEqual(next.id, data.id)
  const page = await get('/operator/audits?limit=1')
  assert.deepEqual([page.data[0].id, page.data[0].findings], [next.id, undefined])
  const missing = await send(api, 'GET', '/operator/audits/lau_0000000000000000000000', operator)
  assert.equal(missing.body.error.code, 'not_found')
})
