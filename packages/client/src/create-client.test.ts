import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { servedOperations } from '@atrium/contract/table'
import { createClient } from './create-client.ts'
import { failureOf, startScriptedServer } from './testing/scripted-server.ts'

const server = await startScriptedServer()
after(() => server.stop())

const { origin, seen } = server
const client = createClient({ baseUrl: `${origin}/v1`, key: 'wpk_test', adminToken: 'operator', controlToken: 'sct_own' })
const id = 'col_4fRzK0vXcB1mQwErTy7uPa'

describe('a call', () => {
  test('a base URL or key that cannot be one is refused by name, and nothing is sent', async () => {
    for (const baseUrl of [
      'localhost:8787',
      'api.example/v1',
      `${origin}/v1?a=b`,
      `${origin}/#v1`,
      undefined as unknown as string,
    ])
      assert.throws(() => createClient({ baseUrl }), { name: 'TypeError', message: /^The base URL must be like .+, not / })
    await assert.rejects(createClient({ baseUrl: '/v1' }).getTenant(), { name: 'TypeError', message: /only in a page/ })
    assert.throws(() => createClient({ baseUrl: 'http://ada:hunter2@localhost/v1' }), {
      name: 'TypeError',
      message: 'The base URL must have no user name or password',
    })
    const placeholder = createClient({ baseUrl: origin, key: 'wpk_…' })
    const message = 'The header authorization must be printable ASCII. Is there a placeholder in its value?'
    await assert.rejects(placeholder.createCollection({ body: {} }), { name: 'TypeError', message })
    server.script({ body: { data: {} } })
    await createClient({ baseUrl: `${origin}/v1/\n`, key: 'wsk_test\n' }).getTenant()
    assert.deepEqual([seen[0]!.line, seen[0]!.headers.authorization], ['GET /v1/tenant', 'Bearer wsk_test'])
  })

  test('the error without an answer names the origin and the reason', async () => {
    const nobody = createClient({ baseUrl: 'http://127.0.0.1:9/v1', retries: 0 })
    await assert.rejects(nobody.getTenant(), {
      name: 'NetworkError',
      message: 'http://127.0.0.1:9 could not be reached: bad port',
    })
    const tls = createClient({ baseUrl: origin.replace('http:', 'https:'), retries: 0 })
    await assert.rejects(tls.getTenant(), { name: 'NetworkError', message: /^https:\S+ could not be reached: ERR_SSL_\w+$/ })
  })

  test('sends what the operation declares: path, query, key, token, idempotency key and body', async () => {
    server.script({ status: 201, body: { data: { id: 'itm_1' } }, headers: { 'idempotency-status': 'stored' } })
    const added = await client.addItem({
      id: 'col/../x',
      body: { type: 'message', content: { text: 'hello' } },
      collectionToken: 'cct_test',
      idempotencyKey: 'once',
    })
    assert.equal(added.status, 201)
    assert.equal(added.data.id, 'itm_1')
    assert.equal(added.headers.get('idempotency-status'), 'stored')
    const [request] = seen
    assert.equal(request!.line, 'POST /v1/collections/col%2F..%2Fx/items')
    assert.equal(request!.headers.authorization, 'Bearer wpk_test')
    assert.equal(request!.headers['x-collection-token'], 'cct_test')
    assert.equal(request!.headers['idempotency-key'], 'once')
    assert.equal(request!.headers['content-type'], 'application/json')
    assert.deepEqual(JSON.parse(request!.body), { type: 'message', content: { text: 'hello' } })
  })

  test('sends the admin token to operator calls alone, and no key to keyless ones', async () => {
    server.script({ body: { data: {} } }, { body: '<p>', headers: { 'content-type': 'text/html; charset=utf-8' } })
    await client.createInvite()
    const page = await client.renderCollection({ id })
    assert.equal(seen[0]!.headers['x-admin-token'], 'operator')
    assert.equal(seen[0]!.headers.authorization, undefined)
    assert.deepEqual([seen[0]!.body, seen[0]!.headers['content-type']], ['', undefined], 'a body that is optional is absent')
    assert.equal(seen[1]!.headers['x-admin-token'], undefined)
    assert.equal(seen[1]!.headers.authorization, undefined)
    assert.equal(page.data, '<p>')
  })

  test("session calls go to the root path with the call's control token, else the client's, and never the key", async () => {
    server.script({ body: { data: { status: 'running' } } }, { body: { data: { status: 'stopped' } } })
    await client.getSession({ id: 'ses_1' })
    await client.stopSession({ id: 'ses_1', controlToken: 'sct_other' })
    assert.deepEqual(
      seen.map(({ line, headers }) => [line, headers.authorization]),
      [
        ['GET /sessions/ses_1', 'Bearer sct_own'],
        ['POST /sessions/ses_1/stop', 'Bearer sct_other'],
      ],
    )
    server.script({ body: { data: {} } })
    await createClient({ baseUrl: origin, key: 'wsk_test' }).getSession({ id: 'ses_1' })
    assert.equal(seen[0]!.headers.authorization, undefined)
  })

  test('sends declared headers, and leaves out what is undefined', async () => {
    server.script({ body: { data: {} } }, { body: { data: [] } })
    await client.getItem({ id, itemId: 'itm_1', headers: { 'x-id-token': 'jwt' }, collectionToken: undefined })
    await client.listArtifacts({ id, query: { limit: 5 } })
    assert.equal(seen[0]!.headers['x-id-token'], 'jwt')
    assert.equal('x-collection-token' in seen[0]!.headers, false)
    assert.equal(seen[1]!.line, `GET /v1/collections/${id}/artifacts?limit=5`)
  })

  test('accepts an origin as its base URL', async () => {
    server.script({ body: { data: { id: 'ten_1' } } })
    await createClient({ baseUrl: `${origin}/`, key: 'wsk_test' }).getTenant()
    assert.equal(seen[0]!.line, 'GET /v1/tenant')
  })

  test('resolves a 204 without data, and raw JSON without an envelope', async () => {
    server.script({ status: 204 }, { body: { version: '1.0' } })
    const gone = await client.deleteCollection({ id, collectionToken: 'cat_test' })
    assert.equal(gone.status, 204)
    assert.equal('data' in gone, false)
    assert.deepEqual((await client.getOembed({ query: { url: 'https://x.example' } })).data, { version: '1.0' })
  })

  test('resolves to the warnings of the answer', async () => {
    const warnings = [{ path: '/metadata/share_titel', message: 'did you mean share_title?' }]
    server.script({ status: 201, body: { data: { id }, meta: { warnings } } })
    const made = await client.createCollection({ body: { metadata: { share_titel: 'Lantern night' } } })
    assert.deepEqual(made.warnings, warnings)
    server.script({ status: 201, body: { data: { id } } })
    assert.equal('warnings' in (await client.createCollection({ body: {} })), false)
  })

  test('refuses a path parameter that is empty or a dot segment before sending', async () => {
    server.script()
    for (const bad of ['', '.', '..']) await assert.rejects(client.getCollection({ id: bad }), TypeError)
    assert.equal(seen.length, 0)
  })

  test('checks its input by the compiler', () => {
    // Never run: each line must not compile.
    void (() => {
      // @ts-expect-error: the owner token is missing
      void client.deleteCollection({ id })
      // @ts-expect-error: the body is missing
      void client.addItem({ id })
      // @ts-expect-error: no such field
      void client.curateItem({ id, itemId: '', collectionToken: '', body: { heroic: true } })
      // @ts-expect-error: takes no idempotency key
      void client.getTenant({ idempotencyKey: '' })
      // @ts-expect-error: not a call about a session
      void client.getTenant({ controlToken: '' })
      // @ts-expect-error: proposed, not served
      void client.getEarnings()
    })
  })
})

test('there is a method for each served operation, which sends what the contract says: method, address, credential, key for retries', async () => {
  assert.deepEqual(Object.keys(client).sort(), servedOperations.map((op) => op.id).sort())
  for (const op of servedOperations) {
    server.script({ status: 422 })
    const call = client[op.id as keyof typeof client] as (input: object) => Promise<unknown>
    const params = Object.fromEntries([...op.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, 'x1']))
    assert.equal((await failureOf(call(params))).status, 422)
    const { line, headers } = seen[0]!
    const path = op.path.replaceAll(/\{\w+\}/g, 'x1')
    assert.equal(line, `${op.method} ${op.status === 'legacy' ? '' : '/v1'}${path}`)
    const bearer = { secret: 'wpk_test', publishable: 'wpk_test', control: 'sct_own', operator: undefined, anyone: undefined }
    assert.equal(headers.authorization, bearer[op.caller] && `Bearer ${bearer[op.caller]}`, op.id)
    assert.equal(headers['x-admin-token'], op.caller === 'operator' ? 'operator' : undefined, op.id)
    assert.equal('idempotency-key' in headers, op.idempotency !== undefined, op.id)
  }
})

test('only answers without an envelope in the contract are returned unparsed', async () => {
  for (const op of servedOperations) {
    server.script({ body: { data: 1 } })
    const call = client[op.id as keyof typeof client] as (input: object) => Promise<{ data: unknown }>
    const params = Object.fromEntries([...op.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, 'x1']))
    const isRaw = Object.values(op.answers).some((answer) => answer.raw)
    assert.deepEqual((await call(params)).data, isRaw ? { data: 1 } : 1, op.id)
  }
})
