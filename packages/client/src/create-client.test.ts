import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, beforeEach, describe, it } from 'node:test'
import { AtriumError } from './atrium-error.ts'
import { createClient } from './create-client.ts'
import { paginate } from './paginate.ts'

interface Answer {
  status?: number
  headers?: Record<string, string>
  body?: unknown
  /** Cuts the connection instead of answering. */
  cut?: boolean
  /** Never answers. */
  hang?: boolean
}
interface Seen {
  line: string
  headers: IncomingMessage['headers']
  body: string
}

const seen: Seen[] = []
const waitsMs: number[] = []
let answers: Answer[] = []

const server = createServer(async (req, res) => {
  let body = ''
  for await (const chunk of req) body += chunk
  seen.push({ line: `${req.method} ${req.url}`, headers: req.headers, body })
  const answer = answers.shift() ?? { status: 500 }
  if (answer.hang) return
  if (answer.cut) return req.socket.destroy()
  res.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers })
  res.end(typeof answer.body === 'string' ? answer.body : answer.body === undefined ? '' : JSON.stringify(answer.body))
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

after(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  seen.length = 0
  waitsMs.length = 0
  answers = []
})

const client = createClient({
  baseUrl: `${origin}/v1`,
  key: 'wpk_test',
  adminToken: 'operator',
  wait: async (ms) => void waitsMs.push(ms),
})
const id = 'col_4fRzK0vXcB1mQwErTy7uPa'
const error = (status: number, code: string, headers?: Record<string, string>): Answer => ({
  status,
  ...(headers ? { headers } : {}),
  body: { error: { code, message: `It is ${code}.`, request_id: 'req_1' } },
})

async function failureOf(call: Promise<unknown>): Promise<AtriumError> {
  const failure = await call.then(
    () => assert.fail('it went well'),
    (reason: unknown) => reason,
  )
  assert.ok(failure instanceof AtriumError, String(failure))
  return failure
}

describe('a call', () => {
  it('sends what the operation declares: path, query, key, token, idempotency key and body', async () => {
    answers = [{ status: 201, body: { data: { id: 'itm_1' } }, headers: { 'idempotency-status': 'stored' } }]
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

  it('sends the admin token to operator calls alone, and no key to keyless ones', async () => {
    answers = [{ body: { data: {} } }, { body: '<p>', headers: { 'content-type': 'text/html; charset=utf-8' } }]
    await client.createInvite({ body: {} })
    const page = await client.renderCollection({ id })
    assert.equal(seen[0]!.headers['x-admin-token'], 'operator')
    assert.equal(seen[0]!.headers.authorization, undefined)
    assert.equal(seen[1]!.headers['x-admin-token'], undefined)
    assert.equal(seen[1]!.headers.authorization, undefined)
    assert.equal(page.data, '<p>')
  })

  it('sends declared headers, and leaves out what is undefined', async () => {
    answers = [{ body: { data: {} } }, { body: { data: [] } }]
    await client.getItem({ id, itemId: 'itm_1', headers: { 'x-id-token': 'jwt' }, collectionToken: undefined })
    await client.listArtifacts({ id, query: { limit: 5 } })
    assert.equal(seen[0]!.headers['x-id-token'], 'jwt')
    assert.equal('x-collection-token' in seen[0]!.headers, false)
    assert.equal(seen[1]!.line, `GET /v1/collections/${id}/artifacts?limit=5`)
  })

  it('takes the origin alone as its address too', async () => {
    answers = [{ body: { data: { id: 'ten_1' } } }]
    await createClient({ baseUrl: `${origin}/`, key: 'wsk_test' }).getTenant()
    assert.equal(seen[0]!.line, 'GET /v1/tenant')
  })

  it('resolves a 204 without data, and raw JSON without an envelope', async () => {
    answers = [{ status: 204 }, { body: { version: '1.0' } }]
    const gone = await client.deleteCollection({ id, collectionToken: 'cat_test' })
    assert.equal(gone.status, 204)
    assert.equal('data' in gone, false)
    assert.deepEqual((await client.getOembed({ query: { url: 'https://x.example' } })).data, { version: '1.0' })
  })

  it('refuses a path parameter that is empty or a dot segment before sending', async () => {
    for (const bad of ['', '.', '..']) await assert.rejects(client.getCollection({ id: bad }), TypeError)
    assert.equal(seen.length, 0)
  })

  it('checks its input by the compiler', () => {
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
      // @ts-expect-error: proposed, not served
      void client.getEarnings()
    })
  })
})

describe('an error', () => {
  it('carries status, code, message, request id, reason, details and Retry-After', async () => {
    const details = [{ path: '/type', message: 'must be a string' }]
    answers = [
      {
        status: 403,
        headers: { 'retry-after': '7' },
        body: { error: { code: 'not_authorized', message: 'No.', request_id: 'req_9', reason: 'unsigned', details } },
      },
    ]
    const failure = await failureOf(client.getItem({ id, itemId: 'itm_1' }))
    const { status, code, message, requestId, reason, retryAfterSeconds } = failure
    assert.deepEqual(
      { status, code, message, requestId, reason, details: failure.details, retryAfterSeconds },
      {
        status: 403,
        code: 'not_authorized',
        message: 'No.',
        requestId: 'req_9',
        reason: 'unsigned',
        details,
        retryAfterSeconds: 7,
      },
    )
    assert.equal(seen.length, 1)
  })

  it('of a proxy in between is unexpected_answer, with the request id of the header', async () => {
    answers = [{ status: 502, body: '<html>', headers: { 'content-type': 'text/html', 'x-request-id': 'req_3' } }]
    const failure = await failureOf(client.getTenant())
    assert.equal(failure.status, 502)
    assert.equal(failure.code, 'unexpected_answer')
    assert.equal(failure.requestId, 'req_3')
  })

  it('of broken JSON in a success is unexpected_answer', async () => {
    answers = [{ body: '{"data":' }]
    assert.equal((await failureOf(client.getTenant())).code, 'unexpected_answer')
  })

  it('that is flat gives its error as the code', async () => {
    answers = [{ status: 403, body: { error: 'not_authorized', reason: 'not_on_list' } }]
    const failure = await failureOf(client.getTenant())
    assert.equal(failure.code, 'not_authorized')
    assert.equal(failure.reason, 'not_on_list')
  })
})

describe('retries', () => {
  it('a GET is tried again after a cut connection, a 503 and a 429, and no more than that', async () => {
    answers = [{ cut: true }, error(503, 'unavailable'), { body: { data: { id: 'ten_1' } } }]
    assert.equal((await client.getTenant()).data.id, 'ten_1')
    answers = [error(429, 'rate_limited'), error(429, 'rate_limited'), error(429, 'rate_limited'), { body: { data: {} } }]
    assert.equal((await failureOf(client.getTenant())).code, 'rate_limited')
    assert.equal(seen.length, 6)
  })

  it('a POST without an idempotency key is never tried again', async () => {
    answers = [error(503, 'unavailable'), { cut: true }]
    const input = { id, body: { type: 'message', content: 1 } }
    assert.equal((await failureOf(client.addItem(input))).code, 'unavailable')
    assert.equal((await failureOf(client.addItem(input))).code, 'network_error')
    assert.equal(seen.length, 2)
  })

  it('a POST with an idempotency key is repeated with the same key and the same bytes', async () => {
    answers = [
      { cut: true },
      error(409, 'idempotency_in_progress', { 'retry-after': '1' }),
      { status: 201, body: { data: { id: 'itm_1' } } },
    ]
    await client.addItem({ id, body: { type: 'message', content: [1] }, idempotencyKey: 'once' })
    assert.equal(seen.length, 3)
    assert.deepEqual(new Set(seen.map(({ headers, body }) => `${headers['idempotency-key']} ${body}`)).size, 1)
  })

  it('other errors are not tried again', async () => {
    answers = [error(500, 'internal_error'), error(409, 'idempotency_key_reused')]
    await failureOf(client.getTenant())
    await failureOf(client.addItem({ id, body: { type: 'message', content: 1 }, idempotencyKey: 'once' }))
    assert.equal(seen.length, 2)
  })

  it('wait at least as long as Retry-After says, and not at all when it is more than a minute', async () => {
    answers = [
      error(429, 'rate_limited', { 'retry-after': '2' }),
      { body: { data: {} } },
      error(503, 'unavailable', { 'retry-after': '61' }),
    ]
    await client.getTenant()
    assert.equal(waitsMs.length, 1)
    assert.ok(waitsMs[0]! >= 2_000 && waitsMs[0]! < 2_250, String(waitsMs[0]))
    await failureOf(client.getTenant())
    assert.equal(waitsMs.length, 1)
  })

  it('end when the caller aborts, with its reason', async () => {
    const aborting = new AbortController()
    const impatient = createClient({
      baseUrl: origin,
      wait: async (_, signal) => {
        aborting.abort(new Error('enough'))
        signal?.throwIfAborted()
      },
    })
    answers = [error(503, 'unavailable')]
    await assert.rejects(impatient.getTenant({ signal: aborting.signal }), /enough/)
    await assert.rejects(client.getTenant({ signal: aborting.signal }), /enough/)
    assert.equal(seen.length, 1)
  })

  it('a server that says nothing counts as a network error', async () => {
    answers = [{ hang: true }]
    const hasty = createClient({ baseUrl: origin, timeoutMs: 50, retries: 0 })
    const failure = await failureOf(hasty.getTenant())
    assert.equal(failure.code, 'network_error')
    assert.match(failure.message, /50 ms/)
  })

  it('a redirect is not followed: tokens stay where they were sent', async () => {
    answers = [{ status: 302, headers: { location: `${origin}/elsewhere` } }]
    const failure = await failureOf(client.deleteCollection({ id, collectionToken: 'cat_test' }))
    assert.equal(failure.code, 'network_error')
    assert.equal(seen.length, 1)
  })
})

describe('paginate', () => {
  it('yields every entry of a list, page after page, with the other parameters as they were', async () => {
    answers = [
      { body: { data: [{ id: 'art_1' }, { id: 'art_2' }], meta: { next_cursor: 'c&1' } } },
      { body: { data: [{ id: 'art_3' }] } },
    ]
    const ids: string[] = []
    for await (const artifact of paginate(client.listArtifacts, { id, query: { limit: 2 } })) ids.push(artifact.id)
    assert.deepEqual(ids, ['art_1', 'art_2', 'art_3'])
    assert.deepEqual(
      seen.map(({ line }) => line.split('?')[1]),
      ['limit=2', 'limit=2&cursor=c%261'],
    )
  })

  it('yields data.items where the answer is an object, and fetches no page that is not needed', async () => {
    answers = [{ body: { data: { items: [{ id: 'itm_1' }] }, meta: { next_cursor: 'more' } } }]
    for await (const item of paginate(client.listItems, { id, collectionToken: 'cat_test' })) {
      assert.equal(item.id, 'itm_1')
      break
    }
    assert.equal(seen.length, 1)
  })

  it('throws what the call throws', async () => {
    answers = [error(400, 'invalid_cursor')]
    const list = paginate(client.listArtifacts, { id })
    assert.equal((await failureOf(list.next())).code, 'invalid_cursor')
  })
})
