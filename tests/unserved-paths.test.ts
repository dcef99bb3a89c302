import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Operation } from '../packages/contract/src/operation.ts'
import { operations, servedOperations } from '../packages/contract/src/table.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { call, makeCollection, makeTenant, type CallOptions, type TestCollection, type TestTenant } from './support/call-api.ts'

let database: TestDatabase
let atrium: AtriumProcess
let origin: string
let tenant: TestTenant
let collection: TestCollection
before(async () => {
  database = await createTestDatabase()
  atrium = await startAtrium({ databaseUrl: database.url })
  origin = atrium.origin
  tenant = await makeTenant(origin)
  collection = await makeCollection(origin, tenant.publishable)
})
after(async () => {
  await atrium.end('SIGKILL')
  await database.drop()
})

test('legacy and unbuilt operations are 404 under /v1 for every caller', async () => {
  const absent = Object.values<Operation>(operations).filter(({ status }) => status !== 'live')
  assert.ok(absent.length > 0)
  const callers: CallOptions[] = [{}, { key: tenant.secret }, { key: tenant.publishable }, { key: 'wsk_x' }, { operator: true }]
  for (const op of absent) {
    const path = `/v1${op.path.replaceAll(/\{\w+\}/g, (name) => (name === '{id}' ? collection.id : 'x'))}`
    for (const caller of callers) {
      const body = op.method === 'GET' ? {} : { body: op.example?.body ?? {} }
      const { status, code } = await call(origin, `${op.method} ${path}`, { ...caller, ...body })
      assert.deepEqual([status, code], [404, 'not_found'], `${op.method} ${path} ${JSON.stringify(caller)}`)
    }
  }
})

test('a method that a path does not have is 404, and so is a path of another case, with a slash more or without a version', async () => {
  const rootOf = (op: Operation) => (op.status === 'live' ? '/v1' : '')
  const routes = servedOperations.map(
    (op) => new RegExp(`^${op.method} ${rootOf(op)}${op.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  )
  const paths = new Map(servedOperations.map((op) => [rootOf(op) + op.path, op]))
  const fill = (path: string) => path.replaceAll(/\{\w+\}/g, collection.id)
  const asked = [...paths].flatMap(([path, op]) => [
    ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
      .map((method) => `${method} ${fill(path)}`)
      .filter((asked) => !routes.some((route) => route.test(asked))),
    `GET /V1${fill(op.path)}`,
    `GET ${rootOf(op)}${fill(op.path.toUpperCase())}`,
    `GET ${fill(path)}/`,
    `GET ${rootOf(op)}/${fill(op.path)}`,
    `GET /${fill(path)}`,
    `GET /v2${fill(op.path)}`,
    `POST ${op.status === 'live' ? '' : '/v1'}${fill(op.path)}`,
  ])
  for (const route of asked) {
    const { status, code } = await call(origin, route, { key: tenant.secret, operator: true, token: collection.token, body: {} })
    assert.deepEqual([status, code], [404, 'not_found'], route)
  }
})
