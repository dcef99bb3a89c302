import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync } from 'node:crypto'
import { after, before, test } from 'node:test'
import { parseVerifier } from '@atrium/log/note'
import { verifyProof } from '@atrium/log/proof'
import { integrateLeaves } from '#features/transparency-log/integrate.ts'
import { publishCheckpoint } from '#features/transparency-log/publish.ts'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { logAgentCards } from './log-cards.ts'

const registration = { name: 'Lamplighter', description: 'd', instructions: 'Be brief.', price_credits: 5, max_minutes: 30 }

let api: TestApi
let root: { baseUrl: string }
let tenant: TestTenant
before(async () => {
  api = await startTestApi({ publicUrl: 'https://atrium.example.com' })
  root = { baseUrl: api.origin }
  tenant = await api.makeTenant()
})
after(() => api.close())

const setStatus = (id: string, status: string) =>
  send(root, 'PUT', `/agents/${id}/status`, { key: tenant.secretKey, body: { status } })
const change = (id: string, body: object) => send(root, 'PATCH', `/agents/${id}`, { key: tenant.secretKey, body })
async function register(status: string, more: object = {}): Promise<string> {
  const { body } = await send(root, 'POST', '/agents', { key: tenant.secretKey, body: { ...registration, ...more } })
  await setStatus(body.data.id, status)
  return body.data.id
}
const inCatalog = async (id: string) => {
  const { body } = await send(api, 'GET', '/catalog?limit=200', { key: tenant.publishableKey })
  return body.data.find((one: { id: string }) => one.id === id)
}
const rows = async (sql: string, values: unknown[] = []) => (await api.ctx.db.pool.query(sql, values)).rows
const leafCount = async () => Number((await rows("select count(*) from log_leaves where entry like '%agent_card%'"))[0]!.count)
const tenMinutesPass = (id: string) => rows("update agents set carded_at = now() - interval '11 minutes' where id = $1", [id])

test('an active agent has an inclusion proof of what the catalog shows', async () => {
  const id = await register('active', { avatar_url: 'https://img.example.com/a.png', credits_per_1k_tokens: 3 })
  assert.equal((await inCatalog(id)).logged, undefined, 'not logged yet')
  assert.equal(await logAgentCards(api.ctx, 100), 1)
  assert.equal(await logAgentCards(api.ctx, 100), 0, 'a card is logged once')
  await integrateLeaves(api.ctx.db, 100)
  await publishCheckpoint(api.ctx)
  const { logged, rating: _, ...shown } = await inCatalog(id)
  assert.deepEqual(JSON.parse(logged.card), shown)
  const sha256 = createHash('sha256').update(`${logged.salt}${logged.card}`).digest('hex')
  const entry = Buffer.from(`{"type":"agent_card","sha256":"${sha256}"}`)
  const proof = await (await fetch(logged.log_proof.replace('https://atrium.example.com', api.origin))).text()
  const vkey = parseVerifier((await (await fetch(`${api.origin}/log/vkey`)).text()).trim())
  assert.equal(verifyProof(proof, entry, [vkey]).size, 1)
  const [leaf] = await rows('select entry from log_leaves')
  assert.deepEqual(leaf!.entry, entry, 'the log has the type and the hash, and nothing else')
})

test('drafts, private and held agents are never logged', async () => {
  const before = await leafCount()
  for (const status of ['draft', 'private']) await register(status)
  const held = await register('active')
  const headers = { 'x-admin-token': api.adminToken }
  await send(api, 'POST', `/operator/agents/${held}/status`, { headers, body: { status: 'suspended' } })
  assert.equal(await logAgentCards(api.ctx, 100), 0)
  assert.equal(await leafCount(), before)
})

test('an agent that leaves the catalog loses card and salt at once, and its leaf stays', async () => {
  const id = await register('active')
  await logAgentCards(api.ctx, 100)
  const before = await leafCount()
  const { logged } = await inCatalog(id)
  for (const leave of [
    () => setStatus(id, 'private'),
    () =>
      send(api, 'POST', `/operator/agents/${id}/status`, {
        headers: { 'x-admin-token': api.adminToken },
        body: { status: 'pending' },
      }),
  ]) {
    await leave()
    const [row] = await rows('select card, card_salt from agents where id = $1', [id])
    assert.deepEqual(row, { card: null, card_salt: null })
    await send(api, 'POST', `/operator/agents/${id}/status`, {
      headers: { 'x-admin-token': api.adminToken },
      body: { status: 'lifted' },
    })
    await setStatus(id, 'active')
    assert.equal((await inCatalog(id)).logged, undefined)
    assert.equal(await logAgentCards(api.ctx, 100), 0, 'an agent is logged at most once in ten minutes')
    await tenMinutesPass(id)
    assert.equal(await logAgentCards(api.ctx, 100), 1)
  }
  assert.equal(await leafCount(), before + 2)
  const again = (await inCatalog(id)).logged
  assert.equal(again.card, logged.card)
  assert.notEqual(again.log_proof, logged.log_proof, 'the salt is another one')
})

test('the encryption key of a remote agent is on its card, and a card with another key goes at once', async () => {
  const keys = [1, 2].map(() => {
    const { x = '', y = '' } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
    return { kty: 'EC', crv: 'P-256', x, y }
  })
  const id = await register('active', { endpoint: 'https://agent.example.com/', encryption_key: keys[0] })
  await logAgentCards(api.ctx, 100)
  const { logged, encryption_key: shown } = await inCatalog(id)
  assert.deepEqual([shown, JSON.parse(logged.card).encryption_key], [keys[0], keys[0]])
  await change(id, { encryption_key: keys[1] })
  const after = await inCatalog(id)
  assert.deepEqual([after.logged, after.encryption_key], [undefined, keys[1]])
})

test('a changed card is logged again, and a change that the catalog does not show is none', async () => {
  const id = await register('active')
  await logAgentCards(api.ctx, 100)
  const { logged } = await inCatalog(id)
  await change(id, { instructions: 'Be long.', greeting: 'Hello' })
  assert.deepEqual((await inCatalog(id)).logged, logged)
  const changes = [
    { name: 'B' },
    { description: 'e' },
    { price_credits: 6 },
    { credits_per_1k_tokens: 1 },
    { credits_per_tool_call: 1 },
    { max_minutes: 31 },
    { avatar_url: 'https://img.example.com/b.png' },
    { endpoint: 'https://agent.example.com/run', credits_per_1k_tokens: 0, credits_per_tool_call: 0 },
  ]
  for (const body of changes) {
    const { status, text } = await change(id, body)
    assert.equal(status, 200, text)
    assert.equal((await inCatalog(id)).logged, undefined, JSON.stringify(body))
    await tenMinutesPass(id)
    assert.equal(await logAgentCards(api.ctx, 100), 1)
    const { logged: now, rating: _, ...shown } = await inCatalog(id)
    assert.deepEqual(JSON.parse(now.card), shown)
  }
})

test('a sweep waits for no change, and processes that sweep at once log an agent once', async () => {
  const ids = [await register('active'), await register('active', { name: 'Two' })]
  const before = await leafCount()
  const client = await api.ctx.db.pool.connect()
  try {
    await client.query('begin')
    await client.query('update agents set name = $1 where id = $2', ['Changed', ids[0]])
    const counts = await Promise.all(Array.from({ length: 5 }, () => logAgentCards(api.ctx, 100)))
    assert.equal(
      counts.reduce((sum, count) => sum + count),
      1,
    )
    await client.query('commit')
  } finally {
    client.release()
  }
  assert.equal(await logAgentCards(api.ctx, 100), 1)
  assert.equal(JSON.parse((await inCatalog(ids[0]!)).logged.card).name, 'Changed')
  assert.equal(await leafCount(), before + 2)
})
