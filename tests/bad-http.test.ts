import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ErrorCode } from '../packages/contract/src/errors.ts'
import { limits } from '../packages/contract/src/limits.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { assertDetailed, assertRefused } from './support/assert-refused.ts'
import { startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { call, makeCollection, makeTenant, type TestCollection, type TestTenant } from './support/call-api.ts'
import { mapConcurrently } from './support/map-concurrently.ts'
import { exchange, requestText, type Exchange, type ExchangeOptions } from './support/raw-http.ts'

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

/** The answer is an error with a code. The connection then ends, unless it is clear where the next request begins. */
function assertRefusedFirst({ answers, rest, closed }: Exchange, codes: ErrorCode | ErrorCode[], what: string): void {
  const said = `${what}: ${JSON.stringify(answers).slice(0, 300)} ${rest}`
  assert.ok(answers[0], `${said}: nothing came`)
  assertRefused(answers[0], codes, what)
  assert.ok(answers.length === 1 ? closed : framed.has(what), `${said}: the connection is closed`)
}

/** These have an error, but it is clear where they end. */
const framed = new Set([
  'two Hosts',
  'two different Hosts',
  'an absolute target',
  'an absolute target elsewhere',
  'an absolute https target',
])

/** If this path is requested, the server took the bytes after the first request for another request. It is the last one. */
const second = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'

describe('what is not HTTP/1.1 is refused, and the connection with it', () => {
  const get = (...headers: string[]) => requestText('GET /v1/tenant', headers)
  const cases: Record<string, string | Buffer> = {
    'two Hosts': get('Host: localhost'),
    'two different Hosts': get('Host: evil.example'),
    'no Host': 'GET /healthz HTTP/1.1\r\n\r\n',
    'an absolute target': requestText('GET http://localhost/healthz'),
    'an absolute target elsewhere': requestText('GET http://evil.example/healthz'),
    'an absolute https target': requestText('GET https://localhost/healthz'),
    'a target without a slash': requestText('GET healthz'),
    'an empty target': requestText('GET '),
    'a target with a space': requestText('GET /healthz /x'),
    'a target with a NUL': requestText('GET /healthz\0'),
    'a target with a tab': requestText('GET /health\tz'),
    'HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'HTTP/3.7': 'GET /healthz HTTP/3.7\r\nHost: localhost\r\n\r\n',
    'HTTP/1.11': 'GET /healthz HTTP/1.11\r\nHost: localhost\r\n\r\n',
    'http in small letters': 'GET /healthz http/1.1\r\nHost: localhost\r\n\r\n',
    'a TLS hello': Buffer.from('160301006f0100006b0303', 'hex'),
    'the SSH banner': 'SSH-2.0-OpenSSH_9.6\r\n',
    noise: Buffer.from(Array.from({ length: 500 }, (_, n) => (n * 197 + 13) % 256)),
    'an unknown method': requestText('FOO /healthz'),
    'a method in small letters': requestText('get /healthz'),
    'a method after a space': ` ${requestText('GET /healthz')}`,
    'a header without a colon': get('X-A'),
    'a header without a name': get(': a'),
    'a space before the colon': get('X-A : b'),
    'a folded header': get('X-A: b\r\n c'),
    'a space before a header': get(' X-A: b'),
    'a NUL in a header': get('X-A: b\0c'),
    'a DEL in a header': get('X-A: b\u007fc'),
    'a bare CR in a header': get('X-A: b\rX-B: c'),
    'a bare LF after a header': get('X-A: b\nX-B: c'),
    'a NUL in the name of a header': get('X\0A: b'),
    'brackets in the name of a header': get('X[A]: b'),
    'UTF-8 in the name of a header': get('X-\u00c3\u00a9: b'),
    'line breaks of LF alone': 'GET /healthz HTTP/1.1\nHost: localhost\n\n',
  }
  for (const [name, bytes] of Object.entries(cases)) {
    test(name, async () => {
      const result = await send([bytes, second])
      assertRefusedFirst(result, 'invalid_request', name)
    })
  }

  for (const name of ['two Hosts', 'an absolute target', 'a space before the colon', 'HTTP/3.7', 'noise']) {
    test(`${name}: the answer names the problem`, async () =>
      assertDetailed((await send(cases[name]!, { quietMs: 0 })).answers[0]!, name))
  }
})

test('a header with a credential or an Idempotency-Key is sent once', async () => {
  const add = `POST /v1/collections/${collection.id}/items`
  const body = JSON.stringify({ type: 'message', content: 'twice' })
  const length = `Content-Length: ${body.length}`
  const twice: Record<string, string[]> = {
    Authorization: [key(), `authorization: Bearer ${tenant.publishable}`],
    'X-API-Key': [`X-API-Key: ${tenant.secret}`, `X-API-Key: ${tenant.secret}`],
    'X-Collection-Token': [key(), `X-Collection-Token: ${collection.token}`, 'X-Collection-Token: '],
    'X-Admin-Token': [key(), 'X-Admin-Token: a', 'X-Admin-Token: b'],
    'X-ID-Token': [key(), 'X-ID-Token: a', 'X-Id-Token: b'],
    'Idempotency-Key': [key(), 'Idempotency-Key: a', 'Idempotency-Key: b'],
  }
  for (const [name, headers] of Object.entries(twice)) {
    const { answers } = await send(requestText(add, [...headers, asJson, length], body), { quietMs: 0 })
    const error = assertRefused(answers[0]!, 'invalid_request', name)
    assert.deepEqual(error.details, [{ path: name, message: 'must be sent once' }])
  }
})

test('headers over 16 KiB are 431, however they come', async () => {
  const get = (...headers: string[]) => requestText('GET /v1/tenant', [key(), ...headers])
  const many = (count: number, line: (n: number) => string) => Array.from({ length: count }, (_, n) => line(n))
  const cases: Record<string, string> = {
    'one header': get(`X-A: ${'b'.repeat(17 * 1024)}`),
    'a name': get(`${'X'.repeat(17 * 1024)}: b`),
    'many headers': get(...many(2_000, (n) => `X-${n}: ${n}`)),
    'many cookies': get(...many(400, (n) => `Cookie: a${n}=${'b'.repeat(40)}`)),
    'a target': requestText(`GET /v1/${'a'.repeat(20 * 1024)}`, [key()]),
    'a query': requestText(`GET /v1/tenant?a=${'a'.repeat(20 * 1024)}`, [key()]),
    'a megabyte': get(`X-A: ${'b'.repeat(1024 * 1024)}`),
  }
  for (const [name, bytes] of Object.entries(cases)) assertRefusedFirst(await send(bytes), 'headers_too_large', name)
  const chunked = (body: string) => requestText('POST /v1/collections', [key(), asJson, 'Transfer-Encoding: chunked'], body)
  const bodies = {
    'a trailer': chunked(`2\r\n{}\r\n0\r\nX-A: ${'b'.repeat(64 * 1024)}\r\n\r\n`),
    'a chunk extension': chunked(`2;a=${'b'.repeat(64 * 1024)}\r\n{}\r\n0\r\n\r\n`),
  }
  for (const [name, bytes] of Object.entries(bodies)) {
    assertRefusedFirst(await send(bytes), ['headers_too_large', 'payload_too_large', 'invalid_request'], name)
  }
  assert.equal(
    (await call(origin, 'GET /v1/tenant', { key: tenant.secret, headers: { 'x-a': 'b'.repeat(14 * 1024) } })).status,
    200,
  )
})

test('paths that hide something are refused', async () => {
  const paths = [
    '/v1/collections/%00',
    `/v1/collections/${collection.id}%00`,
    '/v1/tenant%2fkeys',
    '/v1%2Ftenant',
    '/%2e%2e%2fv1/tenant',
    '/v1/collections/a%5Cb',
    '/v1/collections/%',
    '/v1/collections/%zz',
    '/v1/collections/%ff',
    '/v1/collections/%c0%af',
    '/v1/collections/%ed%a0%80',
    '/%00',
    '/v1/tenant?%00',
    '/v1/tenant?a=%00',
  ]
  for (const path of paths.slice(0, -2)) {
    for (const method of ['GET', 'DELETE', 'OPTIONS']) {
      const { answers } = await send(requestText(`${method} ${path}`, [key()]), { quietMs: 0 })
      assertRefused(answers[0]!, 'invalid_request', `${method} ${path}`)
    }
  }
  for (const path of [
    '/v1/../v1/tenant',
    '/v1/./tenant',
    '//v1/tenant',
    '/v1//tenant',
    '/v1/tenant/',
    '/v1/tenant;a',
    '/v1/%2e%2e/v1/tenant',
    '/v1/tenant%20',
    '/v1/tenant%3fa',
    '//evil.example/v1/tenant',
    '/v1/\u00ff',
    '/v1\\tenant',
  ]) {
    const { answers } = await send(requestText(`GET ${path}`, [key()]), { quietMs: 0 })
    assertRefused(answers[0]!, ['not_found', 'invalid_request'], path)
  }
})

test('bytes that are not UTF-8 are no JSON', async () => {
  const bad = {
    'a lone byte': 'ff',
    'a lone continuation': '80',
    'cut off': 'c3',
    'an overlong slash': 'c0af',
    'a surrogate': 'eda080',
    'CESU-8': 'eda0bdedb880',
    'past U+10FFFF': 'f4908080',
    'five bytes': 'f888808080',
  }
  for (const [name, hex] of Object.entries(bad)) {
    for (const place of [
      ['{"type":"x","content":"', '"}'],
      ['{"type":"x","content":{"', '":1}}'],
      ['{"type":"x","content":1}', ''],
    ]) {
      const body = Buffer.concat([Buffer.from(place[0]!), Buffer.from(hex, 'hex'), Buffer.from(place[1]!)])
      const head = requestText(`POST /v1/collections/${collection.id}/items`, [key(), asJson, `Content-Length: ${body.length}`])
      const { answers } = await send([head, body], { quietMs: 0 })
      assertRefused(answers[0]!, 'invalid_request', `${name} in ${place.join('…')}`)
    }
  }
  for (const encoding of ['utf16le', 'latin1'] as const) {
    const body = Buffer.from('{"type":"x","content":"\u00e9"}', encoding)
    const head = requestText(`POST /v1/collections/${collection.id}/items`, [key(), asJson, `Content-Length: ${body.length}`])
    assertRefused((await send([head, body], { quietMs: 0 })).answers[0]!, 'invalid_request', encoding)
  }
})

test('a body over 256 KiB is 413 as soon as that is known', async () => {
  const post = (headers: string[], body: string, path = '/v1/collections') =>
    requestText(`POST ${path}`, [key(), asJson, ...headers], body)
  const chunk = (size: number) => `${size.toString(16)}\r\n${' '.repeat(size)}\r\n`
  const chunked = 'Transfer-Encoding: chunked'
  const over = limits.bodyBytes + 1
  const cases: Record<string, string> = {
    'said in advance, one byte over': post([`Content-Length: ${over}`], ''),
    'said in advance, far over': post(['Content-Length: 1000000000000'], '{}'),
    'sent, one byte over': post([`Content-Length: ${over}`], `{}${' '.repeat(over - 2)}`),
    'in one chunk, one byte over': post([chunked], `${chunk(over)}0\r\n\r\n`),
    'in chunks without end': post([chunked], chunk(65_536).repeat(5)),
    'in chunks of one byte': post([chunked], chunk(1).repeat(over)),
    'a chunk that says it is far over': post([chunked], 'ffffffff\r\n{}'),
  }
  for (const [name, bytes] of Object.entries(cases)) {
    // The last one has sent no more than it may so far.
    if (name.startsWith('a chunk that says')) continue
    const { answers } = await send(bytes)
    assert.equal(answers.length, 1, name)
    assertRefused(answers[0]!, 'payload_too_large', name)
  }
  for (const size of [limits.bodyBytes - 1, limits.bodyBytes]) {
    const body = `{}${' '.repeat(size - 2)}`
    const { answers } = await send(post([chunked], `${size.toString(16)}\r\n${body}\r\n0\r\n\r\n`), { quietMs: 0 })
    assert.equal(answers[0]!.status, 201, `${size} bytes in a chunk: ${answers[0]!.text}`)
  }
})

test('methods and headers that ask for something else change nothing', async () => {
  const headers = [
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13',
    'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__',
    'Connection: authorization',
    'Content-Length: 5\r\n\r\nhello',
    'X-HTTP-Method-Override: DELETE',
    'X-Original-URL: /v1/tenant/keys',
    'Accept: nothing/at-all',
    'Accept-Encoding: gzip;q=x',
    'Range: bytes=0-0',
    'If-None-Match: *',
    'Date: never',
    'X-Request-Id: mine',
  ]
  await mapConcurrently(headers, 4, async (header) => {
    const { answers } = await send(requestText('GET /v1/tenant', [key(), header]), { quietMs: 0 })
    assert.equal(answers[0]!.status, 200, header)
    assert.match(answers[0]!.headers['x-request-id']!, /^req_/, header)
    assert.ok(answers[0]!.text.includes(tenant.id))
  })
  const asterisk = await send(requestText('GET *', [key()]), { quietMs: 50 })
  assert.ok(asterisk.answers[0]!.status < 500 && !asterisk.answers[0]!.text.includes(tenant.id))
  for (const method of ['TRACE', 'PROPFIND', 'LINK', 'PURGE', 'M-SEARCH', 'SEARCH', 'QUERY', 'OPTIONS', 'CONNECT']) {
    const { answers } = await send(requestText(`${method} /v1/tenant`, [key(), 'X-Secret: mirror']), { quietMs: 50 })
    // Where nobody serves CONNECT, the connection ends without an answer.
    assert.ok(answers[0] ? answers[0].status < 500 : method === 'CONNECT', `${method}: ${answers[0]?.status}`)
    assert.ok(!answers[0]?.text.includes('mirror'), method)
  }
  // It has the length of a body that does not follow.
  const head = await send(requestText('HEAD /v1/tenant', [key(), 'X-Secret: mirror', 'Connection: close']))
  assert.match(head.rest, /^HTTP\/1\.1 [234]/)
  assert.ok(!head.rest.includes('mirror'))
})
