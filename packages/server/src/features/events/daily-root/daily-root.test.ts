import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { after, before, beforeEach, test } from 'node:test'
import { leafOf } from '#features/transparency-log/entries.ts'
import { integrateLeaves } from '#features/transparency-log/integrate.ts'
import { publishCheckpoint } from '#features/transparency-log/publish.ts'
import { queueLeaves } from '#features/transparency-log/store.ts'
import { send } from '#testing/http.ts'
import { pullEvents } from '#testing/pull-events.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { clearOf } from '../../../../../../tests/support/clear-of.ts'
import { blocksOf, guidesFolder } from '../../../../../../tests/support/run-guide.ts'
import { skipWithout } from '../../../../../../tests/support/skip-without.ts'
import { logEventHeads } from './log-heads.ts'

const skip = skipWithout('python3')
const script = blocksOf(readFileSync(`${guidesFolder}event-chain.md`, 'utf8')).find(({ text }) => text.includes('/events/proof'))!

let api: TestApi
let tenant: TestTenant
let others: TestTenant[]
before(async () => {
  api = await startTestApi({ publicUrl: 'https://atrium.example.com' })
  await logEventHeads(api.ctx)
  tenant = await api.makeTenant()
  others = await Promise.all(Array.from({ length: 8 }, () => api.makeTenant()))
  for (const one of [tenant, ...others]) await pullEvents(api, one)
})
beforeEach(() => clearOf('day'))
after(() => api.close())

const rows = async (sql: string, values: unknown[] = []) => (await api.ctx.db.pool.query(sql, values)).rows
/** As if the roots had been made some days ago. */
const daysPass = async (days: number) => {
  for (const table of ['event_root_tiles', 'event_roots']) await rows(`update ${table} set day = day - $1::integer`, [days])
}
const proofOf = async ({ secretKey: key }: TestTenant, query = '') =>
  (await send(api, 'GET', `/events/proof${query}`, { key })).body.data
const logHeads = async () => {
  await daysPass(1)
  await logEventHeads(api.ctx)
  await integrateLeaves(api.ctx.db, 100)
  await publishCheckpoint(api.ctx)
}
const newEvents = (of: TestTenant, count: number) =>
  rows(
    `insert into event_outbox (tenant_id, id, type, data)
     select $1, 'evt_' || md5(random()::text), 'item.deleted', '{}' from generate_series(1, $2)`,
    [of.id, count],
  )

/** What the script of the guide prints last. */
function verify({ secretKey }: TestTenant, program = script.text): Promise<string> {
  const env = { ...process.env, ATRIUM: api.baseUrl, SK: secretKey, PYTHONUTF8: '1' }
  return new Promise((resolve) =>
    execFile('python3', ['-c', program], { env, timeout: 20_000 }, (_, out, err) =>
      resolve((out || err).trim().split('\n').at(-1)!),
    ),
  )
}

test('a tenant that had no event when the root was made has no proof', async () => {
  const { heads, proof } = await proofOf(tenant)
  assert.deepEqual([heads.chains, proof], [0, null])
  if (!skip) assert.match(await verify(tenant), /^there is no proof/)
})

test('the root of a day has the head of every chain, and is in the log', async () => {
  const leaves = Array.from({ length: 7 }, (_, n) => leafOf({ type: 'agent_card', sha256: String(n) }))
  await queueLeaves(api.ctx.db, leaves)
  await logHeads()
  await logEventHeads(api.ctx)
  assert.equal((await rows('select from event_roots')).length, 2, 'one root a day')
  const { heads, proof } = await proofOf(tenant)
  assert.equal(heads.chains, 9)
  const last = (await pullEvents(api, tenant)).at(-1)!
  assert.deepEqual([proof.sequence, proof.hash], [last.sequence, last.hash])
  const { status } = await fetch(heads.log_proof.replace('https://atrium.example.com', api.origin))
  assert.equal(status, 200)
})

test('each tenant proves its head to be in the logged root, with Python alone', { skip }, async () => {
  const { heads } = await proofOf(tenant)
  const last = (await pullEvents(api, tenant)).at(-1)!
  assert.equal(await verify(tenant), `logged on ${heads.day} ${last.sequence} ${last.hash} in atrium.example.com/log 9`)
  for (const one of others) assert.match(await verify(one), /^logged on /)
  // Further events continue the chain, and the head of the morning stays in it.
  await newEvents(tenant, 3)
  assert.match(await verify(tenant), new RegExp(`^logged on ${heads.day} ${last.sequence} `))
})

test('a proof tells nothing about other tenants', async () => {
  const { text } = await send(api, 'GET', '/events/proof', { key: tenant.secretKey })
  for (const { id } of others) assert.ok(!text.includes(id))
  const { proof } = JSON.parse(text).data
  assert.deepEqual(Object.keys(proof.path[0]).toSorted(), ['chains', 'hash', 'side'])
  const chains = proof.path.reduce((sum: number, step: { chains: number }) => sum + step.chains, 1)
  assert.equal(chains, 9)
})

test('a chain that was rewritten after its head was logged is noticed, also if the proof is made anew', { skip }, async () => {
  const [victim] = others
  const { heads, proof } = await proofOf(victim!)
  // Another content with right hashes, from the first event on: the chain in itself is whole.
  await rows('delete from events where tenant_id = $1', [victim!.id])
  await rows('update event_heads set last_sequence = 0, chain_sequence = 0, chain_hash = null where tenant_id = $1', [victim!.id])
  await newEvents(victim!, 5)
  assert.equal((await pullEvents(api, victim!)).length, 5)
  assert.match(await verify(victim!), new RegExp(`the chain was rewritten since ${heads.day}: event ${proof.sequence} had`))
  const now = (await pullEvents(api, victim!))[proof.sequence - 1]!
  await rows('update event_root_tiles set heads = array_replace(heads, $1, $2)', [
    proof.head,
    `${victim!.id}/${proof.sequence}/${now.hash}`,
  ])
  assert.match(await verify(victim!), /the head does not lead to the root$/)
  await rows("update event_roots set root = sha256('another')")
  assert.match(await verify(victim!), /the head does not lead to the root$|404/)
})

test('a root that is not in the log is noticed', { skip }, async () => {
  await logHeads()
  assert.match(await verify(tenant), /^logged on /)
  const other = script.text.replace('"type": "event_heads"', '"type": "event_head"')
  assert.match(await verify(tenant, other), /404/)
})

test('a removed tenant is in no later root, and proofs are kept for a week', async () => {
  const { heads } = await proofOf(tenant)
  await rows('delete from event_heads where tenant_id = $1', [others[1]!.id])
  await logHeads()
  assert.equal((await proofOf(tenant)).heads.chains, heads.chains - 1)
  assert.equal((await proofOf(others[1]!)).proof, null)
  await daysPass(5)
  await logEventHeads(api.ctx)
  const [old] = await rows("select to_char(min(day), 'YYYY-MM-DD') as day from event_root_tiles where level = 0")
  assert.equal((await proofOf(tenant, `?day=${old!['day']}`)).proof.sequence > 0, true)
  await daysPass(9)
  await logEventHeads(api.ctx)
  const [first] = await rows(
    "select to_char(max(day), 'YYYY-MM-DD') as day from event_roots where chains > 0 and day < now() - interval '2 days'",
  )
  const then = await proofOf(tenant, `?day=${first!['day']}`)
  assert.deepEqual([then.heads.day, then.proof], [first!['day'], null])
  assert.deepEqual(await proofOf(tenant, '?day=2001-01-01'), { heads: null, proof: null })
})

test('only a secret key gets a proof, and a wrong day is refused', async () => {
  const ask = async (key: string | undefined, query = '') => {
    const { status, body } = await send(api, 'GET', `/events/proof${query}`, key === undefined ? {} : { key })
    return [status, body.error?.code]
  }
  assert.deepEqual(await ask(undefined), [401, 'unauthorized'])
  assert.deepEqual(await ask('wsk_wrong'), [401, 'unauthorized'])
  assert.deepEqual(await ask(tenant.publishableKey), [403, 'secret_key_required'])
  for (const query of ['?day=yesterday', '?day=2026-13-01', '?other=1'])
    assert.deepEqual(await ask(tenant.secretKey, query), [400, 'invalid_request'], query)
})

test('many chains, in more than one tile, and processes that make the root at once', async () => {
  await rows(
    `insert into event_heads (tenant_id, last_sequence, chain_sequence, chain_hash)
     select 'ten_' || lpad(n::text, 22, '0'), n, n, sha256(n::text::bytea) from generate_series(1, 2500) n`,
  )
  await daysPass(1)
  await Promise.allSettled(Array.from({ length: 4 }, () => logEventHeads(api.ctx)))
  const { heads, proof } = await proofOf(tenant)
  const [{ count }] = (await rows('select count(*)::integer from event_heads where chain_hash is not null')) as [
    { count: number },
  ]
  assert.equal(heads.chains, count)
  assert.equal(
    proof.path.reduce((sum: number, step: { chains: number }) => sum + step.chains, 1),
    count,
  )
})
