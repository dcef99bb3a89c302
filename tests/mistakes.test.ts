import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { assertTeaches, type Mistake } from './support/assert-teaches.ts'
import { askGood, call, type CallOptions, type TestTenant } from './support/call-api.ts'
import type { Shelf } from './support/matrix-world.ts'
import { openShelfWorld, type ShelfWorld } from './support/shelf-world.ts'

/*
 * Common mistakes, each against a running server. The answer must name what is wrong and what to do about it.
 * ATRIUM_TEST_MISTAKES=FILE writes every answer to a file, so that you can read them as a new user would.
 */

let world: ShelfWorld
let origin: string
let tenant: TestTenant
let shelf: Shelf
let collection: string
const answers: string[] = []

before(async () => {
  world = await openShelfWorld()
  ;({ origin, tenant, shelf } = world)
  collection = shelf.things.collection ?? ''
})
after(async () => {
  await world.close()
  const file = process.env['ATRIUM_TEST_MISTAKES']
  if (file) await writeFile(file, answers.join('\n'))
})

const assertTaught = async (mistake: Mistake) => answers.push(await assertTeaches(world, mistake))

const assertAllTaught = async (mistakes: Mistake[]) => {
  for (const mistake of mistakes) await assertTaught(mistake)
}

const swapLast = (text: string) => text.slice(0, -1) + (text.endsWith('a') ? 'b' : 'a')

test('keys and tokens', async () => {
  const { secret, publishable } = tenant
  const items = `GET /v1/collections/${collection}/items`
  const bearer = (authorization: string) => ({ headers: { authorization } })
  const key401 = (what: string, options: CallOptions, ...says: RegExp[]) => ({
    what,
    route: 'GET /v1/tenant',
    options,
    expect: '401 unauthorized',
    says,
  })
  const token403 = (what: string, token: string | undefined, ...says: RegExp[]) => ({
    what,
    route: items,
    options: { key: publishable, ...(token === undefined ? {} : { token }) },
    expect: '403 owner_token_required',
    says: [/X-Collection-Token/, /cat_/, ...says],
  })
  await assertAllTaught([
    key401('no key', {}, /has no key/, /Authorization: Bearer/),
    key401('Bearer without a value', bearer('Bearer'), /no key after "Bearer"/),
    key401('the key alone, without Bearer', bearer(secret), /without the word "Bearer"/),
    key401('Basic', bearer('Basic abc'), /must read "Bearer <key>"/),
    key401('one character changed', { key: swapLast(secret) }, /checksum/),
    key401('a key cut short', { key: secret.slice(0, 20) }, /20 characters instead of 40/),
    key401('a key in quotation marks', { key: `"${secret}"` }, /quotation marks/),
    key401('a key with an escaped line break', { key: `${secret}\\n` }, /line break/),
    key401('an id as key', { key: collection }, /id of an object/),
    key401('another provider’s key', { key: 'sk_test_4eC39HqLyjWDarjtT1zdp7dc' }, /not a key/, /wsk_ or wpk_/),
    key401('owner token as Bearer', { key: shelf.owner }, /admin token/, /X-Collection-Token/),
    key401('control token under /v1', { key: shelf.control }, /control token/, /without \/v1/),
    { ...key401('key in the query string', {}, /query string/, /revoke/), route: `GET /v1/tenant?key=${secret}` },
    key401('collection token without a key', { token: shelf.owner }, /does not replace the key/),
    {
      ...key401('two keys', { key: publishable, headers: { 'x-api-key': secret } }, /another key in Authorization/, /send one/),
      expect: '400 invalid_request',
    },
    {
      ...key401('the operator token as Bearer', { key: 'x'.repeat(40) }, /X-Admin-Token is missing/),
      route: 'POST /v1/tenants/invites',
    },
    {
      what: 'a publishable key where a secret one is needed',
      route: 'GET /v1/tenant',
      options: { key: publishable },
      expect: '403 secret_key_required',
      says: [/secret key \(wsk_/],
    },
    {
      what: 'a secret key from a browser',
      route: 'GET /v1/tenant',
      options: { key: secret, headers: { 'sec-fetch-site': 'cross-site' } },
      expect: '401 secret_key_in_browser',
      says: [/publishable key/, /revoke/],
    },
    token403('no X-Collection-Token', undefined, /is missing/),
    token403('an empty X-Collection-Token', '', /is empty/),
    token403('the owner token of another collection', await newOwnerToken(), /belongs to another one, or it was rotated/),
    token403('a contributor token for an owner operation', shelf.contributor, /contributor token/),
    token403('a key in X-Collection-Token', secret, /is a key/, /Authorization/),
    token403('a mistyped owner token', swapLast(shelf.owner), /checksum/),
    token403('anything else', 'letmein', /not a token of a collection/),
    {
      what: 'an item without the contributor token',
      route: `POST /v1/collections/${collection}/items`,
      options: { key: publishable, body: { type: 'message', content: 'x' } },
      expect: '403 contributor_token_required',
      says: [/is missing/, /contributor_token \(cct_/],
    },
  ])
  for (const options of [
    { key: secret },
    bearer(`bearer ${secret}`),
    bearer(`BEARER   ${secret}`),
    { headers: { 'x-api-key': secret } },
    { key: secret, headers: { 'x-api-key': secret } },
    // The key of a gateway in front.
    { key: secret, headers: { 'x-api-key': 'a-gateway-of-its-own' } },
  ])
    assert.equal((await call(origin, 'GET /v1/tenant', options)).status, 200)
})

async function newOwnerToken(): Promise<string> {
  return (await askGood(origin, 'POST /v1/collections', { key: tenant.secret, body: {} })).data.admin_token
}

test('a revoked key', async () => {
  const { data } = await askGood(origin, 'POST /v1/tenant/keys', { key: tenant.secret, body: { kind: 'secret' } })
  await askGood(origin, `DELETE /v1/tenant/keys/${data.id}`, { key: tenant.secret })
  const says = [/expired or revoked|revoked|unknown/]
  await assertTaught({
    what: 'a revoked key',
    route: 'GET /v1/tenant',
    options: { key: data.key },
    expect: '401 unauthorized',
    says,
  })
})

test('addresses', async () => {
  const key = tenant.secret
  const path = `/collections/${collection}`
  const found404 = (what: string, route: string, ...says: RegExp[]) => ({
    what,
    route,
    options: { key },
    expect: '404 not_found',
    says,
  })
  await assertAllTaught([
    found404('a trailing slash', `GET /v1${path}/`, /Did you mean \/v1\/collections\/col_\w+\?/),
    found404('a double slash', `GET /v1/${path}`, /Did you mean \/v1\/collections\/col_\w+\?/),
    found404('no /v1', `GET ${path}`, /Did you mean \/v1\/collections/),
    found404('/V1', `GET /V1${path}`, /Did you mean \/v1\/collections/),
    found404('/v2', `GET /v2${path}`, /\/v1\/collections/),
    found404('a legacy path under /v1', `POST /v1/sessions/${shelf.things.session}/stop`, /Did you mean \/sessions\//),
    found404('PUT instead of PATCH', `PUT /v1${path}`, /PUT is not a method/, /PATCH/),
    found404('GET on a POST operation', `GET /v1${path}/paint`, /GET is not a method/, /POST/),
    found404(
      'an id of another kind',
      `GET /v1/collections/${shelf.things.item}`,
      /is that of an item/,
      /takes an id of a collection: col_/,
    ),
    found404('an id cut short', `GET /v1/collections/${collection.slice(0, 12)}`, /incomplete/, /col_ and 22 letters and digits/),
    found404('an id with spaces', `GET /v1/collections/${collection}%20`, /other characters/),
    found404('a name instead of an id', 'GET /v1/collections/guest-book', /is not an id/),
    found404('a template that was not filled in', 'GET /v1/collections/{id}', /is not an id/),
    found404('undefined', 'GET /v1/collections/undefined/items', /is not an id/),
    found404('/collections/ alone', 'GET /v1/collections/', /ends with a slash/, /leave out the slash/),
    found404('a typo in the path', `GET /v1/colections/${collection}`, /Did you mean \/v1\/collections/),
    found404('a singular', `GET /v1/collection/${collection}/items`, /Did you mean \/v1\/collections\/col_\w+\/items/),
    found404('a room sent to the API', 'GET /v1/space', /Rooms are opened at/),
    found404('an id that names nothing', 'GET /v1/collections/col_0000000000000000000000', /Not found/, /Check the id/),
    found404('nothing like it', 'GET /v1/users', /Not found/),
  ])
})

test('bodies', async () => {
  const options = { key: tenant.secret, token: shelf.owner }
  const add400 = (what: string, body: unknown, ...says: RegExp[]) => ({
    what,
    route: `POST /v1/collections/${collection}/items`,
    options: { ...options, body },
    expect: '400 invalid_request',
    says,
  })
  const good = { type: 'message', content: 'x' }
  await assertAllTaught([
    add400('no body', undefined, /JSON body is required/),
    add400('an array', [], /must be an object/),
    add400('a string', '"hello"', /must be an object/),
    {
      ...add400('form data', undefined, /application\/json/),
      options: { ...options, body: 'type=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    },
    add400('a byte order mark', '\ufeff{"type":"x","content":1}', /byte order mark/, /without/),
    add400('a comment', '{"type":"x", /* hi */ "content":1}', /not valid JSON at line 1, column 14/),
    add400('a trailing comma', '{"type":"x","content":1,}', /JSON/),
    add400('single quotes', "{'type':'x'}", /JSON/),
    add400('a duplicate key', '{"type":"x","type":"y","content":1}', /twice|duplicate/),
    add400('content missing', { type: 'message' }, /\/content required/),
    add400('type with capitals', { ...good, type: 'Message' }, /\/type/),
    add400('type missing', { content: 1 }, /\/type required/),
    add400('null for a required field', { ...good, type: null }, /\/type must be a string/),
    add400('an unknown field', { ...good, colour: 'red' }, /\/colour unknown field/),
    add400('a misspelt field', { type: 'message', contents: 'x' }, /\/contents unknown field; did you mean content\?/),
    { ...add400('300 KiB', { type: 'message', content: 'x'.repeat(300 * 1024) }, /256 KiB/), expect: '413 payload_too_large' },
    {
      ...add400('a field for a body that has none', { a: 1 }, /\/a unknown field/),
      route: 'POST /v1/tenant/webhooks/test',
      options: { key: tenant.secret, body: { a: 1 } },
    },
    { ...add400('metadata as text', { metadata: 'x' }, /\/metadata must be an object/), route: 'POST /v1/collections' },
    {
      ...add400('a state that does not exist', { state: 'done' }, /\/state/, /open, ready, closed/),
      route: `POST /v1/collections/${collection}/state`,
    },
    {
      ...add400('an expiry in the past', { kind: 'publishable', expires_at: '2020-01-01T00:00:00Z' }, /expires_at/, /future/),
      route: 'POST /v1/tenant/keys',
    },
    {
      ...add400(
        'a date without a zone',
        { kind: 'publishable', expires_at: '2030-01-01T00:00:00' },
        /expires_at/,
        /Z|offset|zone/,
      ),
      route: 'POST /v1/tenant/keys',
    },
  ])
  const answer = await call(origin, 'GET /v1/tenant', { key: tenant.secret, body: {} })
  assert.equal(answer.status, 200, '{} is no body')
})

test('metadata that looks like a mistake is accepted, with warnings', async () => {
  const options = { key: tenant.secret }
  const warningsOf = async (route: string, body: object, token?: string) => {
    const answer = await askGood(origin, route, { ...options, ...(token === undefined ? {} : { token }), body })
    answers.push(`${JSON.stringify(body)}\n  ${route}\n  ${answer.status} ${answer.text}\n`)
    return (JSON.parse(answer.text) as { meta?: { warnings: { path: string; message: string }[] } }).meta?.warnings
  }
  const made = await warningsOf('POST /v1/collections', {
    metadata: { title: 'Lantern night', theme: 'purple', shareDescription: 'x' },
  })
  assert.deepEqual(
    made?.map(({ path }) => path),
    ['/metadata/title', '/metadata/shareDescription', '/metadata/theme'],
  )
  assert.match(JSON.stringify(made), /share_title.*share_description.*light, dark, paper, neon/)
  const theme = { background: '#123456', font: 'x', text: 'url(x)' }
  const colours = await warningsOf(`PATCH /v1/collections/${collection}`, { metadata: { theme } }, shelf.owner)
  assert.deepEqual(
    colours?.map(({ path }) => path),
    ['/metadata/theme/font', '/metadata/theme/text'],
  )
  const fine = { share_title: 'x', share_description: 'x', theme: 'neon', title: 'mine', seats: 12, 'a/b~c': 1 }
  assert.equal(await warningsOf('POST /v1/collections', { metadata: fine }), undefined)
  const layout = await warningsOf('POST /v1/collections', { metadata: { wall_layout: 'grid' } })
  assert.match(JSON.stringify(layout), /wall_layout.*cards, book, stage/)
  const removed = { metadata: { titel: null, share_titel: null } }
  assert.equal(await warningsOf(`PATCH /v1/collections/${collection}`, removed, shelf.owner), undefined)
})

test('headers and flow', async () => {
  const { secret: key } = tenant
  const list = `GET /v1/collections/${collection}/items`
  const options = { key, token: shelf.owner }
  const query400 = (what: string, query: string, ...says: RegExp[]) => ({
    what,
    route: `${list}?${query}`,
    options,
    expect: '400 invalid_request',
    says,
  })
  const done = (await askGood(origin, 'POST /v1/collections', { key, body: {} })).data
  const owner = { key, token: done.admin_token }
  await askGood(origin, `POST /v1/collections/${done.id}/state`, { ...owner, body: { state: 'closed' } })
  const idempotencyKey = 'a-key-that-was-used'
  await askGood(origin, 'POST /v1/collections', { key, idempotencyKey, body: { metadata: { n: 1 } } })
  const webhook400 = (what: string, url: string, ...says: RegExp[]) => ({
    what,
    route: 'PUT /v1/tenant/webhooks',
    options: { key, body: { url, events: ['item.created'] } },
    expect: '400 invalid_request',
    says: [/\/url/, ...says],
  })
  await assertAllTaught([
    query400('limit=0', 'limit=0', /limit/, /1/),
    query400('limit=1000', 'limit=1000', /limit/, /\d+/),
    query400('limit=ten', 'limit=ten', /limit must be an integer/),
    query400('an unknown parameter', 'ordr=oldest', /^\/ordr unknown field; did you mean order\?/m),
    { ...query400('a cursor that is none', 'cursor=abc', /cursor/), expect: '400 invalid_cursor' },
    {
      what: 'no Idempotency-Key where one is required',
      route: 'POST /v1/wallets/grant',
      options: { key, body: { amount: 5 } },
      expect: '400 idempotency_key_required',
      says: [/Idempotency-Key/, /UUID/],
    },
    {
      what: 'the same Idempotency-Key with another body',
      route: 'POST /v1/collections',
      options: { key, idempotencyKey, body: { metadata: { n: 2 } } },
      expect: '409 idempotency_key_reused',
      says: [/new key/],
    },
    {
      what: 'an Idempotency-Key that is too long',
      route: 'POST /v1/collections',
      options: { key, idempotencyKey: 'k'.repeat(300), body: {} },
      expect: '400 invalid_request',
      says: [/Idempotency-Key/, /255/],
    },
    {
      what: 'an item for a closed collection',
      route: `POST /v1/collections/${done.id}/items`,
      options: { ...owner, body: { type: 'message', content: 1 } },
      expect: '409 collection_not_open',
      says: [/closed/],
    },
    {
      what: 'a state backwards',
      route: `POST /v1/collections/${done.id}/state`,
      options: { ...owner, body: { state: 'open' } },
      expect: '409 state_conflict',
      says: [/only moves forward|forward|current state|closed/],
    },
    ...['5', 0.5, -1, 0].map((amount) => ({
      what: `amount ${JSON.stringify(amount)}`,
      route: 'POST /v1/wallets/grant',
      options: { key, idempotencyKey: 'an-amount', body: { amount } },
      expect: '400 invalid_request',
      says: [/^\/amount: must be (an integer|at least 1|at most \d+)/],
    })),
    {
      what: 'a coupon that does not exist',
      route: 'POST /v1/wallets/lookup',
      options: { key, body: { wallet_code: 'wlt_x' } },
      expect: '404 not_found',
      says: [/mistyped, unknown, expired or spent/],
    },
    webhook400('a webhook that is no URL', 'example.com/hook', /https/),
    webhook400('a webhook with ftp', 'ftp://example.com/hook', /https/),
  ])
})
