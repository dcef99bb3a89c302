import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { limits } from '../packages/contract/src/limits.ts'
import type { Operation } from '../packages/contract/src/operation.ts'
import { servedOperations } from '../packages/contract/src/table.ts'
import { leastMs } from '../packages/server/testing/busy-machine.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { assertRefused } from './support/assert-refused.ts'
import type { AtriumProcess } from './support/atrium-process.ts'
import { branchOf, brokenBodies, type JsonSchema } from './support/break-body.ts'
import { askGood, call, makeTenant, type Answer, type CallOptions, type TestTenant } from './support/call-api.ts'
import { jsonTraps } from './support/json-traps.ts'
import { mapConcurrently } from './support/map-concurrently.ts'
import { inviteMember, openConsole } from './support/role-cells.ts'
import { bodyFor, sessionFor, makeShelf, pathTo, signatureOf, startForShelves, type Shelf } from './support/matrix-world.ts'

let database: TestDatabase
let atrium: AtriumProcess
let origin: string
let tenant: TestTenant
let shelf: Shelf
/** A session of an owner in the console, for what no key may do. */
let owner: Record<string, string>
/** Of a tenant that is deleted, and whose deletion is cancelled. */
let deletingOwner: Record<string, string>
/** The targets of the operations. A change by one operation does not affect the others. */
const shelves = new Map<Operation, Shelf>()
const withBody = servedOperations.filter((op) => op.body && !op.flatErrors)
before(async () => {
  database = await createTestDatabase()
  atrium = await startForShelves(database.url)
  origin = atrium.origin
  tenant = await makeTenant(origin)
  shelf = await makeShelf(origin, tenant, { session: false })
  owner = await openConsole(origin, tenant.id)
  const [toSuspend, toDelete] = [await makeTenant(origin), await makeTenant(origin)]
  deletingOwner = await openConsole(origin, toDelete.id)
  await mapConcurrently(withBody, 8, async (op) => {
    const of = op.caller === 'operator' ? toSuspend : op.id === 'deleteOwnTenant' ? toDelete : tenant
    const target = await makeShelf(origin, of, { session: sessionFor(op) })
    if (op.sessionOnly) target.things.member = (await inviteMember(origin, owner)).id
    shelves.set(op, target)
  })
})
after(async () => {
  await atrium.end('SIGKILL')
  await database.drop()
  assert.deepEqual(
    atrium
      .output()
      .split('\n')
      .filter((line) => line.includes('request failed'))
      .slice(0, 3),
    [],
    'nothing broke on our side',
  )
})

/** Sends a valid request, except for the body and the changes of the options. */
async function send(op: Operation, body: unknown, options: CallOptions = {}): Promise<Answer> {
  const { things, owner: token, control, agentControl } = shelves.get(op)!
  const route = `${op.method} ${pathTo(op, things, origin)}`
  const key = ['rateAgent', 'topUpSession'].includes(op.id) ? control : op.caller === 'control' ? agentControl : tenant.secret
  const caller = op.caller === 'operator' ? { operator: true } : op.caller === 'anyone' || op.sessionOnly ? {} : { key }
  const session = op.id === 'deleteOwnTenant' ? deletingOwner : owner
  const headers = { ...(op.sessionOnly ? session : {}), ...signatureOf(op, body), ...options.headers }
  const required = op.idempotency === 'required' ? { idempotencyKey: randomUUID() } : {}
  const answer = await call(origin, route, {
    ...caller,
    ...(op.capability ? { token } : {}),
    ...required,
    body,
    ...options,
    headers,
  })
  // A session's agent is rated once.
  if (op.id === 'rateAgent' && answer.status < 300) shelves.set(op, await makeShelf(origin, tenant))
  // The requests after it use the tenant.
  if ((op.id === 'deleteTenant' || op.id === 'deleteOwnTenant') && answer.status < 300) {
    await call(origin, `DELETE /v1/tenants/${things.tenant}/deletion`, { operator: true })
    // The cancel has ended the sessions.
    if (op.id === 'deleteOwnTenant') deletingOwner = await openConsole(origin, things.tenant ?? '')
  }
  return answer
}

/**
 * The text of the body with a value inserted where the operation accepts any string or any JSON; none if it accepts
 * neither.
 */
function placesIn(op: Operation, body: object): { name: string; put: (json: string) => string }[] {
  const isList = Array.isArray(body)
  const schema = op.body as JsonSchema
  const { properties } = isList ? schema.items! : branchOf(schema, body)
  const put = (name: string, text: string) => {
    const changed = { ...entryOf(body), [name]: '@@' }
    return JSON.stringify(isList ? [changed] : changed).replace('"@@"', () => text)
  }
  return Object.entries(properties!).flatMap(([name, { type, additionalProperties, pattern }]) => {
    if (type === undefined) return [{ name, put: (json: string) => put(name, json) }]
    if (type === 'object' && additionalProperties === true) return [{ name, put: (json: string) => put(name, `{"a":${json}}`) }]
    return type === 'string' && !pattern ? [{ name, put: (json: string) => put(name, json) }] : []
  })
}

/** The object itself, or the first one of a list. */
const entryOf = (body: object): object => (Array.isArray(body) ? body[0] : body)

describe('JSON that JSON.parse forgives, or does not', () => {
  for (const op of withBody) {
    test(op.id, async () => {
      const good = (await bodyFor(op, origin, shelves.get(op)!)) as object
      for (const { name, put } of placesIn(op, good)) {
        for (const [trap, json] of Object.entries(jsonTraps))
          assertRefused(await send(op, put(json)), 'invalid_request', `${trap} in ${name}`)
      }
      const text = JSON.stringify(good)
      const [first, value] = Object.entries(entryOf(good))[0]!
      const twice = text.replace('{', `{${JSON.stringify(first)}:${JSON.stringify(value)},`)
      const bodies = {
        twice,
        'cut off': text.slice(0, -1),
        'more after it': `${text}{}`,
        'two of them': text + text,
        'JSON lines': `${text}\n${text}`,
      }
      for (const [name, body] of Object.entries(bodies)) assertRefused(await send(op, body), 'invalid_request', name)
      if (!op.bodyOptional) assertRefused(await send(op, ''), 'invalid_request', 'no body')
      for (const body of [' ', '[]', '"a"', '1', 'null', 'true', `[${text}]`, JSON.stringify(text), '\ufeff', '{', 'hello']) {
        assertRefused(await send(op, body), 'invalid_request', `${JSON.stringify(body)} as the body`)
      }
      assert.ok((await send(op, text)).status < 300, 'without all that it is good')
    })
  }
})

describe('a body that breaks its schema in one place is refused, and the place is named', () => {
  for (const op of withBody) {
    test(op.id, async (t) => {
      const good = await bodyFor(op, origin, shelves.get(op)!)
      // An empty text sends nothing.
      const bodies = brokenBodies(op.body!, good).filter(({ body }) => !op.bodyOptional || body !== '')
      await mapConcurrently(bodies, 16, async ({ name, pointer, body }) => {
        const { details } = assertRefused(await send(op, body), 'invalid_request', name)
        const paths = (details ?? []).map(({ path }) => path)
        assert.ok(
          paths.some((path) => path === pointer || path.startsWith(`${pointer}/`)),
          `${name}: ${paths.join()} names it`,
        )
      })
      t.diagnostic(`${bodies.length} bodies`)
    })
  }
})

test('a compressed body is refused by the name of its header, as is one that only says so', async () => {
  for (const op of withBody) {
    const text = JSON.stringify(await bodyFor(op, origin, shelves.get(op)!))
    for (const coding of ['gzip', 'br', 'gzip, identity']) {
      const answer = await send(op, text, { headers: { 'content-encoding': coding } })
      assertRefused(answer, 'invalid_request', `${op.id} with ${coding}`)
      assert.match(answer.text, /Content-Encoding/, op.id)
    }
    const plain = await send(op, JSON.stringify(await bodyFor(op, origin, shelves.get(op)!)), {
      headers: { 'content-encoding': 'identity' },
    })
    assert.ok(plain.status < 300, `${op.id} with identity: ${plain.status} ${plain.text}`)
  }
})

test('a body must be JSON with a JSON content type', async () => {
  const types = [
    'text/plain',
    'text/plain; charset=utf-8',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/json',
    'application/jsonx',
    'application/xml',
    'json',
    '*/*',
    '',
    'application/json, text/plain',
  ]
  for (const op of withBody) {
    const text = JSON.stringify(await bodyFor(op, origin, shelves.get(op)!))
    for (const type of types)
      assertRefused(await send(op, text, { headers: { 'content-type': type } }), 'invalid_request', `${op.id} as ${type}`)
    for (const good of ['application/json; charset=utf-8', 'Application/JSON', 'application/json;charset=UTF-8']) {
      const answer = await send(op, JSON.stringify(await bodyFor(op, origin, shelves.get(op)!)), {
        headers: { 'content-type': good },
      })
      assert.ok(answer.status < 300, `${op.id} as ${good}: ${answer.status} ${answer.text}`)
    }
    const bare = await send(op, undefined)
    if (op.bodyOptional) assert.ok(bare.status < 300, `${op.id}: ${bare.status} ${bare.text}`)
    else assertRefused(bare, 'invalid_request', `${op.id} without a body`)
  }
})

test('no key of an object reaches a prototype', async () => {
  const metadata = JSON.parse(
    '{"constructor":{"prototype":{"admin":true}},"toString":"x","hasOwnProperty":1,"prototype":{"a":1}}',
  ) as object
  const options = { key: tenant.secret, token: shelf.owner }
  const path = `/v1/collections/${shelf.things.collection}`
  await askGood(origin, `PATCH ${path}`, { ...options, body: { metadata } })
  await askGood(origin, `PATCH ${path}`, {
    ...options,
    body: { metadata: { constructor: { prototype: { more: 1 } }, toString: null } },
  })
  const { data } = await askGood(origin, `GET ${path}`, options)
  const seen = (data as unknown as { metadata: Record<string, unknown> }).metadata
  assert.deepEqual(seen['constructor'], { prototype: { admin: true, more: 1 } })
  assert.ok(!Object.hasOwn(seen, 'toString'))
  const other = await askGood(origin, 'POST /v1/collections', { key: tenant.secret, body: {} })
  assert.ok(!other.text.includes('admin"') && !other.text.includes('more'))
  assert.equal(
    (await call(origin, `GET ${path}/items`, { key: tenant.publishable })).code,
    'owner_token_required',
    'nobody became an owner',
  )
})

test('a great many keys cost no time, and make no great answer', async () => {
  const many = (make: (n: number) => string) => `{${Array.from({ length: 20_000 }, (_, n) => make(n)).join()}}`
  const bodies = {
    unknown: many((n) => `"k${n}":1`),
    numeric: many((n) => `"${n}":1`),
    'the same': many(() => '"a":1'),
    'of length zero and one': `{"":1,${many((n) => `"${n}":1`).slice(1)}`,
    metadata: `{"metadata":${many((n) => `"k${n}":1`)}}`,
    'long list': `{"metadata":[${'0,'.repeat(100_000)}0]}`,
  }
  for (const op of withBody) {
    for (const [name, body] of Object.entries(bodies)) {
      const tookMs = await leastMs(1_000, async () => assertRefused(await send(op, body), 'invalid_request', `${op.id}: ${name}`))
      assert.ok(tookMs < 1_000, `${op.id}: ${name} took ${tookMs} ms`)
    }
  }
})

test('an error does not repeat all of a long key', async () => {
  for (const op of withBody)
    assertRefused(await send(op, { ['k'.repeat(200_000)]: 1 }), 'invalid_request', `${op.id}: a key of 200,000 characters`)
})

describe('what the contract limits beyond the schema', () => {
  const kib = (count: number, more = 0) => 'x'.repeat(count * 1024 + more)
  /** 64 KiB of JSON text, which includes the quotes and the key. */
  const object = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) })
  const path = () => `/v1/collections/${shelf.things.collection}`
  const cases: Record<string, [route: () => string, good: unknown, bad: unknown[]]> = {
    metadata: [
      () => 'POST /v1/collections',
      { metadata: object(16_384) },
      [{ metadata: object(16_385) }, { metadata: { a: 'é'.repeat(8_189) } }],
    ],
    app_state: [() => 'POST /v1/collections', { app_state: object(16_384) }, [{ app_state: object(16_385) }]],
    content: [
      () => `POST ${path()}/items`,
      { type: 'x', content: kib(64, -2) },
      [
        { type: 'x', content: kib(64, -1) },
        { type: 'x', content: kib(200) },
        { type: 'x', content: '\u00e9'.repeat(32 * 1024) },
      ],
    ],
    'the address of an artifact': [
      () => `POST ${path()}/artifacts`,
      { kind: 'image', url: 'https://a.example/b' },
      [
        'http://a.example/',
        'javascript:alert(1)',
        'data:image/png;base64,AA',
        '//a.example/',
        '/a',
        'https://',
        'https:',
        'ftp://a.example/',
        'https://u:p@a.example/',
        'https://a b/',
        'file:///etc/passwd',
      ].map((url) => ({ kind: 'image', url })),
    ],
    'the end of a key': [
      () => 'POST /v1/tenant/keys',
      { kind: 'secret', expires_at: '2999-12-31T23:59:59.999Z' },
      [
        '2020-01-01T00:00:00.000Z',
        '2999-13-01T00:00:00Z',
        '2999-02-30T00:00:00Z',
        '2999-01-01',
        'tomorrow',
        '999999-01-01T00:00:00Z',
        '2999-01-01T25:00:00Z',
        '2999-01-01T00:00:00',
        '32503680000',
      ].map((expires_at) => ({ kind: 'secret', expires_at })),
    ],
    overlap: [() => 'POST /v1/tenant/keys', { kind: 'secret' }, [{ kind: 'secret', overlap_seconds: 1 }]],
  }
  for (const [name, [route, good, bad]] of Object.entries(cases)) {
    test(name, async () => {
      const options = { key: tenant.secret, token: shelf.owner }
      await askGood(origin, route(), { ...options, body: good })
      for (const body of bad)
        assertRefused(await call(origin, route(), { ...options, body }), 'invalid_request', JSON.stringify(body).slice(0, 120))
    })
  }
})

test('a body has at most 256 KiB', async () => {
  for (const op of withBody) {
    const padded = async (bytes: number) => {
      const text = JSON.stringify(await bodyFor(op, origin, shelves.get(op)!))
      return text + ' '.repeat(bytes - Buffer.byteLength(text))
    }
    for (const bytes of [limits.bodyBytes - 1, limits.bodyBytes]) {
      const answer = await send(op, await padded(bytes))
      assert.ok(answer.status < 300, `${op.id} of ${bytes} bytes: ${answer.status} ${answer.text}`)
    }
    for (const bytes of [limits.bodyBytes + 1, limits.bodyBytes * 4]) {
      assertRefused(await send(op, await padded(bytes)), 'payload_too_large', `${op.id} of ${bytes} bytes`)
    }
  }
})
