import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { call, makeCollection, makeTenant, type TestCollection, type TestTenant } from './support/call-api.ts'

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

const items = () => `/v1/collections/${collection.id}/items`
const addItem = async () =>
  (await call(origin, `POST ${items()}`, { key: tenant.publishable, body: { type: 'm', content: 1 } })).data.id

test('an operation without a body takes none, an empty one of any type, and {}', async () => {
  const spellings: [string | undefined, string | undefined][] = [
    [undefined, undefined],
    [undefined, 'application/json'],
    [undefined, 'application/x-www-form-urlencoded'],
    ['', undefined],
    ['', 'application/json'],
    ['', 'application/x-www-form-urlencoded'],
    ['', 'text/plain;charset=UTF-8'],
    ['{}', 'application/json'],
    [' {\r\n} \n', 'application/json; charset=utf-8'],
  ]
  for (const [body, type] of spellings) {
    const length = body === undefined ? {} : { 'content-length': String(body.length) }
    const headers = { ...length, ...(type === undefined ? {} : { 'content-type': type }) }
    const options = { key: tenant.publishable, token: collection.token, headers, ...(body === undefined ? {} : { body }) }
    const { status, text } = await call(origin, `DELETE ${items()}/${await addItem()}`, options)
    assert.equal(status, 204, `${JSON.stringify([body, type])}: ${text}`)
  }
})

test('an operation without a body accepts only an empty one or {}, and the error names both', async () => {
  const id = await addItem()
  for (const body of ['{"a":1}', '[]', 'null', '""', '0', '{', '{}{}']) {
    const answer = await call(origin, `DELETE ${items()}/${id}`, { key: tenant.publishable, token: collection.token, body })
    assert.deepEqual([answer.status, answer.code], [400, 'invalid_request'], body)
    if (body.length > 1 && body !== '{}{}') assert.match(answer.text, /accepts only an empty body or \{\}/, body)
  }
  const text = { 'content-type': 'text/plain' }
  const typed = await call(origin, `DELETE ${items()}/${id}`, {
    key: tenant.publishable,
    token: collection.token,
    headers: text,
    body: '{}',
  })
  assert.deepEqual([typed.status, typed.code], [400, 'invalid_request'])
})

test('the scheme Bearer has no case, for keys and for control tokens', async () => {
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEARER', 'Bearer  ']) {
    const answer = await call(origin, 'GET /v1/tenant', { headers: { authorization: `${scheme} ${tenant.secret}` } })
    assert.equal(answer.status, 200, scheme)
    const control = await call(origin, 'GET /sessions/ses_4fRzK0vXcB1mQwErTy7uPa', {
      headers: { authorization: `${scheme} sct_x` },
    })
    assert.match(control.text, /control token/, scheme)
  }
  for (const wrong of [tenant.secret, `Basic ${tenant.secret}`, `Bearer${tenant.secret}`, 'Bearer', 'Bearer ']) {
    const answer = await call(origin, 'GET /v1/tenant', { headers: { authorization: wrong } })
    assert.deepEqual([answer.status, answer.code], [401, 'unauthorized'], wrong)
    assert.match(answer.text, /Bearer/, 'it says how')
  }
})

test('an empty grant or revoke changes nothing', async () => {
  const path = `${items()}/${await addItem()}`
  for (const body of [{ grant: [] }, { revoke: [] }, { access: 'email', grant: ['ada@example.com'], revoke: [] }]) {
    const answer = await call(origin, `PATCH ${path}`, { key: tenant.publishable, token: collection.token, body })
    assert.equal(answer.status, 200, answer.text)
  }
})

test('JSON is JSON whatever its media type adds, and in whatever case', async () => {
  const types = [
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
    'application/json ; charset=utf-8',
    'Application/JSON',
    'application/json;',
  ]
  for (const type of types) {
    const answer = await call(origin, `POST ${items()}`, {
      key: tenant.publishable,
      headers: { 'content-type': type },
      body: ' {"type":"m","content":1}\r\n',
    })
    assert.equal(answer.status, 201, `${type}: ${answer.text}`)
  }
})

test('HEAD answers what GET does, without the body', async () => {
  const paths = [
    `/v1/collections/${collection.id}`,
    `/v1/collections/${collection.id}/render`,
    '/v1/openapi.json',
    '/readyz',
    '/',
  ]
  for (const path of paths) {
    const headers = { authorization: `Bearer ${tenant.publishable}` }
    const [head, get] = [await fetch(origin + path, { method: 'HEAD', headers }), await fetch(origin + path, { headers })]
    assert.deepEqual([head.status, get.status, await head.text()], [200, 200, ''], path)
    for (const name of ['content-type', 'content-length', 'etag', 'cache-control', 'vary'])
      assert.equal(head.headers.get(name), get.headers.get(name), `${path} ${name}`)
  }
})

test('a credential in the place of a key gets an error that names the right header', async () => {
  const shown: [string, RegExp][] = [
    [collection.token, /X-Collection-Token/],
    ['nonsense', /wsk_/],
  ]
  for (const [key, place] of shown) {
    const answer = await call(origin, 'GET /v1/tenant', { key })
    assert.deepEqual([answer.status, answer.code], [401, 'unauthorized'])
    assert.match(answer.text, place)
    assert.ok(!answer.text.includes(key), 'and not repeated')
  }
})
