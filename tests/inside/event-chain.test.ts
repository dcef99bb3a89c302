import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { makeTenant, type TestTenant } from '../support/call-api.ts'
import { queryDatabase } from '../support/query-database.ts'
import { blocksOf, guidesFolder } from '../support/run-guide.ts'
import { skipWithout } from '../support/skip-without.ts'

const skip = skipWithout('python3')
const script = blocksOf(readFileSync(join(guidesFolder, 'event-chain.md'), 'utf8')).find(({ language }) => language === 'py')!

let database: TestDatabase
let atrium: AtriumProcess
before(async () => {
  if (skip) return
  database = await createTestDatabase()
  atrium = await startAtrium({ databaseUrl: database.url })
})
after(async () => {
  await atrium?.end()
  await database?.drop()
})

/** What the script of the guide prints last, after the given sequence and hash. */
function verify(tenant: TestTenant, from = '0, None'): Promise<string> {
  const text = script.text.replace('last, end = 0, None', `last, end = ${from}`)
  const env = { ...process.env, ATRIUM: `${atrium.origin}/v1`, SK: tenant.secret, PYTHONUTF8: '1' }
  return new Promise((resolve) =>
    execFile('python3', ['-c', text], { env, timeout: 20_000 }, (_, out, err) =>
      resolve((out || err).trim().split('\n').at(-1)!),
    ),
  )
}

const change = (text: string, values: unknown[]) => queryDatabase(database.url, text, values)

/** A tenant whose events have data of any form. */
async function makeEvents(): Promise<TestTenant> {
  const tenant = await makeTenant(atrium.origin)
  const odd = { b: 'é\u{1f600}\u0007"\\/\u2028\u007f<', a: [null, true, { z: 0, y: -12345678901234 }], a_: '', A: {} }
  await change(
    `insert into event_outbox (tenant_id, id, type, data)
     select $1, 'evt_' || $3 || lpad(n::text, 4, '0'), 'item.deleted', $2 from generate_series(1, 450) n`,
    [tenant.id, JSON.stringify(odd), tenant.id.slice(4, 22)],
  )
  return tenant
}

test(
  'the script of the guide, which shares no code with the server, follows the chain over pages and runs',
  { skip },
  async () => {
    const tenant = await makeEvents()
    const first = await verify(tenant)
    assert.match(first, /^complete: 452 [0-9a-f]{64}$/)
    const [, last, hash] = first.split(' ')
    await change(`insert into event_outbox (tenant_id, id, type, data) values ($1, 'evt_9', 'item.deleted', '{}')`, [tenant.id])
    assert.match(await verify(tenant, `${last}, "${hash}"`), /^complete: 453 /)
    await change('delete from events where tenant_id = $1', [tenant.id])
    await change(`insert into event_outbox (tenant_id, id, type, data) values ($1, 'evt_10', 'item.deleted', '{}')`, [tenant.id])
    assert.match(await verify(tenant, `${last}, "${hash}"`), /event 454 does not follow 452$/)
  },
)

for (const [what, sql, said] of [
  ['is missing', 'delete from events where tenant_id = $1 and sequence = 230', /event 231 does not follow 229$/],
  ['was changed', `update events set data = '{"b":1}' where tenant_id = $1 and sequence = 230`, /event 230 was changed$/],
  ['has another time', `update events set created_at = now() where tenant_id = $1 and sequence = 230`, /event 230 was changed$/],
  [
    'is missing, and those after it have its numbers',
    `with gone as (delete from events where tenant_id = $1 and sequence = 452)
     update events e set id = n.id, data = n.data, created_at = n.created_at, hash = n.hash, hash_before = n.hash_before
     from events n where n.tenant_id = $1 and n.sequence = e.sequence + 1 and e.tenant_id = $1 and e.sequence >= 230 and e.sequence < 452`,
    /event 230 was changed$/,
  ],
] as const)
  test(`the script of the guide notices an event that ${what}`, { skip }, async () => {
    const tenant = await makeEvents()
    assert.match(await verify(tenant), /^complete: 452 /)
    await change(sql, [tenant.id])
    assert.match(await verify(tenant), said)
  })
