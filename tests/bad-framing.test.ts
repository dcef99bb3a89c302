import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { assertRefused } from './support/assert-refused.ts'
import { startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { makeTenant, type TestTenant } from './support/call-api.ts'
import { exchange, requestText, type ExchangeOptions } from './support/raw-http.ts'

let database: TestDatabase
let atrium: AtriumProcess
let origin: string
let tenant: TestTenant
before(async () => {
  database = await createTestDatabase()
  atrium = await startAtrium({ databaseUrl: database.url })
  origin = atrium.origin
  tenant = await makeTenant(origin)
})
after(async () => {
  await atrium.end('SIGKILL')
  await database.drop()
  // A client that disconnects within its body is not a fault of the server.
  const faults = atrium
    .output()
    .split('\n')
    .filter((line) => line.includes('request failed') && !line.includes('"aborted"'))
  assert.deepEqual(faults.slice(0, 3), [], 'nothing broke on our side')
})

const key = () => `Authorization: Bearer ${tenant.secret}`
const send = (bytes: string | Buffer | (string | Buffer)[], options?: ExchangeOptions) => exchange(origin, bytes, options)
const asJson = 'Content-Type: application/json'

/** If this path is requested, the server took the bytes after the first request for another request. It is the last one. */
const second = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'

describe('a length that can be read in two ways is refused, and nothing after it is taken for a request', () => {
  const body = '{"metadata":{}}'
  const post = (headers: string[], text = body) =>
    requestText('POST /v1/collections', ['Authorization: @', asJson, ...headers], text) + second
  const length = `Content-Length: ${body.length}`
  const chunked = 'Transfer-Encoding: chunked'
  const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  const cases: Record<string, string> = {
    'both lengths': post([length, chunked], chunks),
    'both lengths, the other way round': post([chunked, length], chunks),
    'CL.TE': post(['Content-Length: 6', chunked], '0\r\n\r\nG'),
    'TE.CL': post([chunked, 'Content-Length: 4'], '5c\r\nGPOST / HTTP/1.1\r\n\r\n0\r\n\r\n'),
    'two lengths': post([length, 'Content-Length: 0']),
    'the same length twice': post([length, length]),
    'two lengths in one': post([`${length}, 0`]),
    'the same length in one': post([`${length}, ${body.length}`]),
    'a negative length': post(['Content-Length: -1']),
    'a length with a plus': post([`Content-Length: +${body.length}`]),
    'a length in hexadecimal': post(['Content-Length: 0xf']),
    'a length with a word': post(['Content-Length: 15a']),
    'a fraction of a length': post(['Content-Length: 15.0']),
    'an empty length': post(['Content-Length: ']),
    'a length past 64 bits': post(['Content-Length: 18446744073709551631']),
    'a space before the colon of the length': post([`Content-Length : ${body.length}`]),
    'an unknown coding': post(['Transfer-Encoding: xchunked'], chunks),
    identity: post(['Transfer-Encoding: identity', length]),
    'chunked, then identity': post(['Transfer-Encoding: chunked, identity'], chunks),
    'chunked twice': post(['Transfer-Encoding: chunked, chunked'], chunks),
    'two codings': post([chunked, 'Transfer-Encoding: identity'], chunks),
    'a vertical tab before chunked': post(['Transfer-Encoding: \vchunked'], chunks),
    'a space before the colon of chunked': post(['Transfer-Encoding : chunked'], chunks),
    'a folded coding': post(['Transfer-Encoding:\r\n chunked'], chunks),
    'an empty coding': post(['Transfer-Encoding: '], chunks),
    'a chunk of no size': post([chunked], '\r\n{}\r\n0\r\n\r\n'),
    'a chunk of negative size': post([chunked], '-1\r\n{}\r\n0\r\n\r\n'),
    'a chunk of size 0x2': post([chunked], '0x2\r\n{}\r\n0\r\n\r\n'),
    'a chunk past 64 bits': post([chunked], '10000000000000002\r\n{}\r\n0\r\n\r\n'),
    'a chunk longer than it says': post([chunked], '1\r\n{}\r\n0\r\n\r\n'),
    'a chunk that ends with LF alone': post([chunked], '2\n{}\n0\n\n'),
    'a NUL in a chunk extension': post([chunked], '2;a=\0\r\n{}\r\n0\r\n\r\n'),
    'a bare LF in a chunk extension': post([chunked], '2;a\n{}\r\n0\r\n\r\n'),
  }
  for (const [name, bytes] of Object.entries(cases)) {
    test(name, async () => {
      const { answers, rest } = await send(bytes.replace('Authorization: @', key()))
      assert.ok(answers.length <= 1, `${name}: ${JSON.stringify(answers)}`)
      assert.equal(rest, '')
      if (answers[0]) assertRefused(answers[0], 'invalid_request', name)
    })
  }

  test('but chunks are as good as a length', async () => {
    const bytes =
      requestText('POST /v1/collections', [key(), asJson, chunked], `1\r\n{\r\n1;a=b\r\n}\r\n0\r\nX-Trailer: a\r\n\r\n`) + second
    const { answers } = await send(bytes)
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201, 200],
    )
  })
})

test('Expect is answered, and met or refused', async () => {
  const post = (headers: string[], body: string) => requestText('POST /v1/collections', [asJson, ...headers], body)
  const expect = 'Expect: 100-continue'
  const good = await send([post([key(), expect, 'Content-Length: 2', 'Connection: close'], ''), '{}'])
  assert.deepEqual([good.informational, good.answers.map(({ status }) => status)], [[100], [201]])
  const refused = await send(post(['Authorization: Bearer wsk_x', expect, 'Content-Length: 2'], ''), { quietMs: 0 })
  if (refused.answers.length > 0) assertRefused(refused.answers[0]!, 'unauthorized', 'no key')
  else assert.deepEqual(refused.informational, [100], 'or it asks for the body')
  const large = await send(post([key(), expect, 'Content-Length: 100000000'], ''))
  assertRefused(large.answers[0]!, 'payload_too_large', 'too large')
  for (const odd of ['Expect: a miracle', 'Expect: ', 'Expect: 100-continue, x']) {
    const { answers } = await send(post([key(), odd, 'Content-Length: 2', 'Connection: close'], '{}'))
    assert.equal(answers.length, 1, odd)
    if (answers[0]!.status !== 201) assertRefused(answers[0]!, 'invalid_request', odd)
  }
})

test('an HTTP/1.0 client gets its answer and the end, and one of HTTP/0.9 nothing that takes a key', async () => {
  for (const bytes of ['GET /healthz HTTP/1.0\r\n\r\n', 'GET /healthz\r\n\r\n', 'GET /v1/tenant\r\n\r\n']) {
    const { answers, closed } = await send(bytes)
    assert.ok(closed && answers.length === 1, bytes)
    if (answers[0]!.status !== 200) assertRefused(answers[0]!, ['invalid_request', 'unauthorized'], bytes)
  }
})

test('requests in a pipeline are answered in order, up to what is garbage', async () => {
  const paths = Array.from({ length: 50 }, (_, n) => (n % 3 === 0 ? '/healthz' : n % 3 === 1 ? '/v1/tenant' : '/v1/nothing'))
  const whole = await send(paths.map((path) => requestText(`GET ${path}`, [key()])).join('') + second)
  assert.deepEqual(
    whole.answers.map(({ status }) => status),
    [...paths.map((path) => (path === '/v1/nothing' ? 404 : 200)), 200],
  )
  const { answers, closed, rest } = await send(`${requestText('GET /healthz')}garbage\r\n\r\n${second}`)
  assert.ok(closed && rest === '')
  // The refusal may cut off the answer before it. The request after it is never served.
  assert.ok(answers.length <= 2 && answers.filter(({ status }) => status === 200).length <= 1)
  assertRefused(answers.at(-1)!, 'invalid_request', 'garbage')
})
