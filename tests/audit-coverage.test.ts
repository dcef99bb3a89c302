import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { isAudited } from '../packages/contract/src/operation.ts'
import { servedOperations } from '../packages/contract/src/table.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import type { AtriumProcess } from './support/atrium-process.ts'
import { askGood, call, makeTenant } from './support/call-api.ts'
import { inviteMember, openConsole } from './support/role-cells.ts'
import { bodyFor, makeShelf, pathTo, signatureOf, startForShelves } from './support/matrix-world.ts'

/** Operations of operators and secret keys that leave no entry, each with the reason. */
const exempt: Record<string, string> = {
  testWebhook: 'sends one test event and changes nothing',
  resendDelivery: 'repeats a delivery, which the list of deliveries shows',
  grantCoupon: 'a movement of the ledger, which is never changed and has its actor',
  createCheckout: 'the checkout itself is the record',
}

let database: TestDatabase
let atrium: AtriumProcess
before(async () => {
  database = await createTestDatabase()
  atrium = await startForShelves(database.url)
})
after(async () => {
  await atrium.end('SIGKILL')
  await database.drop()
})

test('an operation of an operator or a secret key that changes something is audited, or has a reason not to be', () => {
  const changing = servedOperations.filter(
    ({ caller, method }) => (caller === 'operator' || caller === 'secret') && method !== 'GET',
  )
  const without = changing.filter((op) => !isAudited(op)).map(({ id }) => id)
  assert.deepEqual(without.sort(), Object.keys(exempt).sort())
})

for (const op of servedOperations.filter(isAudited))
  test(`${op.id} leaves an entry`, async () => {
    const { origin } = atrium
    const tenant = await makeTenant(origin, 'Audited')
    const shelf = await makeShelf(origin, tenant, { session: false })
    const headers = op.sessionOnly ? await openConsole(origin, tenant.id) : undefined
    if (headers) shelf.things.member = (await inviteMember(origin, headers)).id
    const body = await bodyFor(op, origin, shelf)
    const answer = await call(origin, `${op.method} ${pathTo(op, shelf.things, origin)}`, {
      ...(op.caller === 'operator' ? { operator: true } : {}),
      ...(headers ? {} : op.caller === 'secret' ? { key: tenant.secret } : {}),
      headers: { ...headers, ...signatureOf(op, body) },
      ...(op.idempotency ? { idempotencyKey: randomUUID() } : {}),
      body,
    })
    assert.ok(answer.status < 300, answer.text)
    const { data } = await askGood(origin, 'GET /v1/operator/audit-log?limit=200', { operator: true })
    const entries = data as unknown as { operation: string; outcome: string; request_id: string; actor: { kind: string } }[]
    const [entry, ...more] = entries.filter(({ request_id: id }) => id === answer.headers['x-request-id'])
    assert.deepEqual([entry?.operation, entry?.outcome, more.length], [op.id, 'done', 0])
    const actors = { operator: 'operator', secret: 'key', anyone: 'anyone' } as Record<string, string>
    assert.equal(entry?.actor.kind, headers ? 'member' : actors[op.caller])
  })
