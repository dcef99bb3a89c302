import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Operation } from '../packages/contract/src/operation.ts'
import { servedOperations } from '../packages/contract/src/table.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import type { AtriumProcess } from './support/atrium-process.ts'
import { call, makeTenant, type TestTenant } from './support/call-api.ts'
import { makeShelf, pathTo, startForShelves, type Shelf } from './support/matrix-world.ts'

let database: TestDatabase
let atrium: AtriumProcess
let origin: string
let tenant: TestTenant
let shelf: Shelf
before(async () => {
  database = await createTestDatabase()
  atrium = await startForShelves(database.url)
  origin = atrium.origin
  tenant = await makeTenant(origin)
  shelf = await makeShelf(origin, tenant)
})
after(async () => {
  await atrium.end('SIGKILL')
  await database.drop()
})

/** The credentials' headers that the operation declares. */
function credentialsOf({ caller, capability, headers }: Operation): string[] {
  return [
    ...(caller === 'secret' || caller === 'publishable' ? ['authorization', 'x-api-key'] : []),
    ...(caller === 'control' ? ['authorization'] : []),
    ...(caller === 'operator' ? ['x-admin-token'] : []),
    ...(capability ? ['x-collection-token'] : []),
    ...Object.keys(headers?.properties ?? {}).filter((name) => ['x-id-token', 'x-spk'].includes(name)),
  ]
}

test('a GET that depends on a credential names its header to caches, and may be kept by none of them', async () => {
  const asked = servedOperations.filter((op) => op.method === 'GET' && credentialsOf(op).length > 0)
  assert.ok(asked.length > 15)
  let good = 0
  for (const op of asked) {
    const key = op.caller === 'control' ? shelf.control : op.caller === 'publishable' ? tenant.publishable : tenant.secret
    for (const token of [undefined, shelf.owner]) {
      const options = { key, operator: true, ...(token ? { token } : {}) }
      const { status, headers } = await call(origin, `GET ${pathTo(op, shelf.things, origin)}`, options)
      const what = `${op.id}: ${status} ${JSON.stringify(headers)}`
      if (status === 200) good++
      const vary = String(headers.vary).toLowerCase().split(', ')
      for (const name of credentialsOf(op)) assert.ok(vary.includes(name), what)
      assert.match(String(headers['cache-control']), /no-store/, what)
    }
  }
  assert.ok(good > 20, `most of them are answered: ${good}`)
})
