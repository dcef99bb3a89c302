import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { consoleLink, signIn, type TestBrowser } from '#testing/console.ts'
import { send } from '#testing/http.ts'
import { eventually } from '#testing/session-world.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'
import { fill } from '#testing/test-database.ts'

let api: TestApi
const cut = new AbortController()
before(async () => {
  api = await startTestApi()
})
after(async () => {
  cut.abort()
  await api.close()
})

/** A tenant with far more data than sockets buffer, so that an export that nobody reads stays open. */
async function largeTenant() {
  const tenant = await api.makeTenant()
  const { id } = (await send(api, 'POST', '/collections', { key: tenant.secretKey, body: {} })).body.data
  await fill(
    api.databaseUrl,
    `insert into items (tenant_id, collection_id, id, seq, type, content)
     select $1, $2, 'itm_' || n, n, 'message', json_build_object('text', repeat('x', 10000)) from generate_series(1, 2000) n`,
    [tenant.id, id],
  )
  return { tenant, owner: await signIn(api, await consoleLink(api, { kind: 'tenant', tenant_id: tenant.id })) }
}

const answers: Response[] = []
/** Starts an export and reads nothing of it. Resolves to its status. */
async function open(path: string, headers: Record<string, string>): Promise<number> {
  const answer = await fetch(`${api.baseUrl}${path}`, { headers, signal: cut.signal })
  // Else a proxy would hold a part of the export that a cut does not reach.
  assert.equal(answer.headers.get('x-accel-buffering'), answer.status === 200 ? 'no' : null)
  if (answer.status === 200) answers.push(answer)
  return answer.status
}
const openOwn = ({ cookies, csrf }: TestBrowser) => open('/tenant/export', { cookie: cookies.join('; '), 'x-atrium-csrf': csrf })
const isWhole = (text: string) => text.trimEnd().endsWith('}') && text.includes('{"end":true')
const openAsOperator = (id: string) => open(`/tenants/${id}/export`, { 'x-admin-token': api.adminToken })

test('owners and operators have slots of their own: neither keeps the other from an export', async (t) => {
  let aheadMs = 0
  const now = performance.now.bind(performance)
  t.mock.method(performance, 'now', () => now() + aheadMs)
  const worlds = await Promise.all(Array.from({ length: 5 }, largeTenant))
  const [first, ...others] = worlds as [(typeof worlds)[number], ...typeof worlds]
  assert.deepEqual([await openOwn(first.owner), await openOwn(first.owner)], [200, 429], 'one for each tenant')
  const statuses = []
  for (const { owner } of others) statuses.push(await openOwn(owner))
  assert.deepEqual(statuses, [200, 200, 200, 429], 'four for all owners')

  const { id } = first.tenant
  const ofOperators = []
  for (let n = 0; n < 5; n++) ofOperators.push(await openAsOperator(id))
  assert.deepEqual(ofOperators, [200, 200, 200, 200, 429], 'an operator has as many as without owners')
  assert.equal(await openAsOperator(others[0]!.tenant.id), 200)

  // Of the owners that do not read for ten seconds, one makes room. The clock is then back where no other is slow yet.
  const last = others[3]!.owner
  aheadMs = 11_000
  await eventually(async () => (await openOwn(last)) === 200, 'another owner is let in', 20_000)
  aheadMs = 0
  assert.deepEqual([await openOwn(last), await openOwn(first.owner)], [429, 429])
  const ofOwners = await Promise.all(answers.slice(0, 4).map((answer) => answer.text().then(isWhole, () => false)))
  assert.deepEqual(ofOwners.toSorted(), [false, true, true, true], 'those that read again get the rest')
})
