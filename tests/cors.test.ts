import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Operation } from '../packages/contract/src/operation.ts'
import { servedOperations } from '../packages/contract/src/table.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
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

/**
 * What a browser may call: operations under /v1 that need at most a publishable key, those with the control token of a
 * session, and the one with a summon key.
 */
const isForBrowsers = (op: Operation) =>
  op.caller === 'control' ||
  op.id === 'summonSession' ||
  (op.status === 'live' && (op.caller === 'publishable' || op.caller === 'anyone'))

const list = (value: unknown) =>
  String(value ?? '')
    .toLowerCase()
    .split(',')
    .map((part) => part.trim())

/** How a browser would treat the answer. */
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

test('browsers read what a publishable key may call, and every error', async () => {
  const callers: Record<string, CallOptions> = {
    'a publishable key': { key: tenant.publishable, headers: { 'sec-fetch-site': 'cross-site' } },
    'no key': {},
    'a secret key in a browser': { key: tenant.secret, headers: { 'sec-fetch-site': 'cross-site' } },
    'a page without an origin': { key: tenant.publishable, headers: { origin: 'null' } },
    'a page with cookies': { key: tenant.publishable, headers: { cookie: 'a=b' } },
    'an empty Idempotency-Key': { key: tenant.publishable, headers: { 'idempotency-key': '' } },
  }
  // Operations whose answers only a server or the operator may read, and that change nothing.
  const trusted = { 'a secret key, and the operator': { key: tenant.secret, operator: true } }
  for (const op of servedOperations) {
    for (const [name, options] of Object.entries<CallOptions>(op.method === 'GET' ? { ...callers, ...trusted } : callers)) {
      const answer = await send(op, options)
      const what = `${op.id} with ${name}: ${answer.status} ${JSON.stringify(answer.headers)}`
      const readable = isForBrowsers(op) || answer.status >= 400
      assert.equal(readableBy(options.headers?.['origin'] ?? page, answer), readable, what)
      if (!readable) continue
      const shown = list(answer.headers['access-control-expose-headers'])
      for (const header of exposed) assert.ok(shown.includes(header), `${what}: ${header} is exposed`)
    }
  }
})

test('a page may read the errors of unknown paths and of invalid requests', async () => {
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

test('a preflight allows the method and the headers of every operation, so that a refusal can be read', async () => {
  for (const op of servedOperations) {
    for (const from of [page, 'null', 'http://localhost:3000']) {
      const answer = await preflight(op, op.method, from)
      const what = `${op.id} from ${from}: ${answer.status} ${JSON.stringify(answer.headers)}`
      assert.ok(answer.status === 200 || answer.status === 204, what)
      assert.ok(readableBy(from, answer), what)
      assert.ok(list(answer.headers['access-control-allow-methods']).includes(op.method.toLowerCase()), what)
      const allowed = list(answer.headers['access-control-allow-headers'])
      // A wildcard is not enough, because it does not include Authorization.
      for (const header of sendable) assert.ok(allowed.includes(header), `${what}: ${header}`)
      assert.ok(!allowed.includes('x-admin-token'), what)
    }
  }
})

test('a preflight for an unknown path is answered, so that the page can read the error', async () => {
  const asked: [string, number, string][] = [
    ['POST /v1/collectons', 404, 'not_found'],
    ['PUT /v1/collections', 404, 'not_found'],
    ['GET /collections', 404, 'not_found'],
    ['GET /v1/collections/', 404, 'not_found'],
    [`GET /v1/collections/${'x'.repeat(300)}`, 400, 'invalid_request'],
    ['GET /v1/collections/%zz', 400, 'invalid_request'],
    ['GET /v1/collections/a%2Fb', 400, 'invalid_request'],
    [`PUT /v1/collections/${shelf.things.collection}`, 404, 'not_found'],
    ['GET /elsewhere', 404, 'not_found'],
    ['GET /', 200, ''],
  ]
  for (const [route, status, code] of asked) {
    const [method, path] = route.split(' ') as [string, string]
    const headers = { origin: page, 'access-control-request-method': method, 'access-control-request-headers': 'authorization' }
    const preflight = await call(origin, `OPTIONS ${path}`, { headers })
    assert.equal(preflight.status, 204, route)
    assert.match(String(preflight.headers['x-request-id']), /^req_/, route)
    assert.ok(readableBy(page, preflight), route)
    assert.ok(list(preflight.headers['access-control-allow-methods']).includes(method.toLowerCase()), route)
    const answer = await call(origin, route, { key: tenant.publishable, headers: { origin: page } })
    assert.deepEqual([answer.status, answer.code ?? ''], [status, code], route)
    assert.ok(readableBy(page, answer), route)
  }
})

test('a page that sends a secret key gets secret_key_in_browser from every operation', async () => {
  for (const op of servedOperations.filter(({ caller }) => caller === 'secret' || caller === 'publishable')) {
    assert.equal((await preflight(op)).status, 204)
    const answer = await send(op, { key: tenant.secret, headers: { 'sec-fetch-site': 'cross-site' } })
    assert.deepEqual([answer.status, answer.code], [401, 'secret_key_in_browser'], op.id)
    assert.ok(readableBy(page, answer), op.id)
  }
})

test('a preflight lets through what libraries add, but never the token of the operator', async () => {
  const headers = {
    origin: page,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,traceparent,X-Requested-With,x-admin-token,bad header,"x"',
  }
  const answer = await call(origin, 'OPTIONS /v1/tenants', { headers })
  const allowed = list(answer.headers['access-control-allow-headers'])
  for (const name of ['authorization', 'traceparent', 'x-requested-with']) assert.ok(allowed.includes(name), name)
  for (const name of ['x-admin-token', 'bad header', '"x"', '*']) assert.ok(!allowed.includes(name), name)
  assert.ok(list(answer.headers.vary).includes('access-control-request-headers'))
})

test('a preflight changes nothing', async () => {
  for (const op of servedOperations) assert.equal((await preflight(op, 'DELETE')).status, 204)
  assert.equal((await call(origin, `GET /v1/collections/${shelf.things.collection}`, { key: tenant.publishable })).status, 200)
})

test('with its control token a page reads how a session goes, and ends it', async () => {
  for (const route of [`GET /sessions/${shelf.things.session}`, `POST /sessions/${shelf.things.session}/stop`]) {
    const answer = await call(origin, route, { key: shelf.control, headers: { origin: page, 'sec-fetch-site': 'cross-site' } })
    assert.equal(answer.status, 200, answer.text)
    assert.ok(readableBy(page, answer), route)
  }
})
