import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Operation } from '../packages/contract/src/operation.ts'
import { servedOperations } from '../packages/contract/src/table.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/src/testing/test-database.ts'
import type { AtriumProcess } from './support/atrium-process.ts'
import { call, makeTenant, type Answer, type CallOptions, type TestTenant } from './support/call-api.ts'
import { bodyFor, makeShelf, pathTo, startForShelves, type Shelf } from './support/matrix-world.ts'

const page = 'https://app.example'
const exposed = ['idempotency-status', 'x-request-id', 'ratelimit', 'ratelimit-policy', 'retry-after']
const sendable = ['authorization', 'x-api-key', 'content-type', 'idempotency-key', 'x-collection-token', 'x-id-token', 'x-spk']

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

/** What a browser may call: all that needs no more than a publishable key, under /v1, or the control token of a session. */
const isForBrowsers = (op: Operation) =>
  op.caller === 'control' || (op.status === 'live' && (op.caller === 'publishable' || op.caller === 'anyone'))

const list = (value: unknown) =>
  String(value ?? '')
    .toLowerCase()
    .split(',')
    .map((part) => part.trim())

/** What a browser would make of the answer for the page. */
function readableBy(from: string, { headers }: Answer): boolean {
  const allowed = headers['access-control-allow-origin']
  assert.equal(headers['access-control-allow-credentials'], undefined, 'never with credentials')
  if (allowed === from) assert.ok(list(headers.vary).includes('origin'), 'an answer for one origin says so to caches')
  return allowed === '*' || allowed === from
}

async function send(op: Operation, options: CallOptions, things = shelf.things): Promise<Answer> {
  const body = await bodyFor(op, origin, shelf)
  return call(origin, `${op.method} ${pathTo(op, things, origin)}`, {
    ...options,
    body,
    headers: { origin: page, ...options.headers },
  })
}

function preflight(op: Operation, method = op.method, from = page): Promise<Answer> {
  const headers = {
    origin: from,
    'access-control-request-method': method,
    'access-control-request-headers': sendable.join(', '),
    'sec-fetch-site': 'cross-site',
  }
  return call(origin, `OPTIONS ${pathTo(op, shelf.things, origin)}`, { headers })
}

test('browsers read what a publishable key may call, errors included, and nothing else', async () => {
  const callers: Record<string, CallOptions> = {
    'a publishable key': { key: tenant.publishable, headers: { 'sec-fetch-site': 'cross-site' } },
    'no key': {},
    'a secret key in a browser': { key: tenant.secret, headers: { 'sec-fetch-site': 'cross-site' } },
    'a page without an origin': { key: tenant.publishable, headers: { origin: 'null' } },
    'a page with cookies': { key: tenant.publishable, headers: { cookie: 'a=b' } },
    'an empty Idempotency-Key': { key: tenant.publishable, headers: { 'idempotency-key': '' } },
  }
  for (const op of servedOperations) {
    for (const [name, options] of Object.entries(callers)) {
      const answer = await send(op, options)
      const what = `${op.id} with ${name}: ${answer.status} ${JSON.stringify(answer.headers)}`
      assert.equal(readableBy(options.headers?.['origin'] ?? page, answer), isForBrowsers(op), what)
      if (!isForBrowsers(op)) continue
      const shown = list(answer.headers['access-control-expose-headers'])
      for (const header of exposed) assert.ok(shown.includes(header), `${what}: ${header} is exposed`)
    }
  }
})

test('what a browser asks for and is not there, or is not valid, it may read too', async () => {
  for (const op of servedOperations.filter(isForBrowsers)) {
    const asked = [
      await call(origin, `${op.method} ${pathTo(op, shelf.things, origin)}`, {
        headers: { origin: page },
        key: tenant.publishable,
        body: '{"',
      }),
      await send(op, { key: tenant.publishable }, Object.fromEntries(Object.keys(shelf.things).map((kind) => [kind, 'x']))),
    ]
    for (const answer of asked) assert.ok(readableBy(page, answer), `${op.id}: ${answer.status} ${answer.text}`)
  }
})

test('a preflight allows the method and the headers of what browsers may call', async () => {
  for (const op of servedOperations.filter(isForBrowsers)) {
    for (const from of [page, 'null', 'http://localhost:3000']) {
      const answer = await preflight(op, op.method, from)
      const what = `${op.id} from ${from}: ${answer.status} ${JSON.stringify(answer.headers)}`
      assert.ok(answer.status === 200 || answer.status === 204, what)
      assert.ok(readableBy(from, answer), what)
      assert.ok(list(answer.headers['access-control-allow-methods']).includes(op.method.toLowerCase()), what)
      const allowed = list(answer.headers['access-control-allow-headers'])
      // A wildcard would not do: it leaves Authorization out.
      for (const header of sendable) assert.ok(allowed.includes(header), `${what}: ${header}`)
      assert.ok(!allowed.includes('x-admin-token'), what)
    }
  }
})

test('a preflight for an operation of secret keys or operators allows nothing', async () => {
  const refused = servedOperations.filter((op) => !isForBrowsers(op))
  assert.ok(refused.length > 5)
  for (const op of refused) {
    const answer = await preflight(op)
    assert.ok(answer.status < 500, `${op.id}: ${answer.status}`)
    const allowed =
      readableBy(page, answer) && list(answer.headers['access-control-allow-methods']).includes(op.method.toLowerCase())
    assert.equal(allowed, false, `${op.id}: ${answer.status} ${JSON.stringify(answer.headers)}`)
  }
})

test('a preflight does not allow a method that the path does not have, and is no way to change anything', async () => {
  for (const op of servedOperations.filter(isForBrowsers)) {
    const answer = await preflight(op, 'PUT')
    const known = servedOperations.some((other) => other.path === op.path && other.method === 'PUT' && isForBrowsers(other))
    assert.equal(list(answer.headers['access-control-allow-methods']).includes('put'), known, op.id)
  }
  assert.equal((await call(origin, `GET /v1/collections/${shelf.things.collection}`, { key: tenant.publishable })).status, 200)
})

test('with its control token a page reads how a session goes, and ends it', async () => {
  for (const route of [`GET /sessions/${shelf.things.session}`, `POST /sessions/${shelf.things.session}/stop`]) {
    const answer = await call(origin, route, { key: shelf.control, headers: { origin: page, 'sec-fetch-site': 'cross-site' } })
    assert.equal(answer.status, 200, answer.text)
    assert.ok(readableBy(page, answer), route)
  }
})
