import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { inspect } from 'node:util'
import { openEgress, type Egress } from '#ports/egress/egress.ts'
import { leastMs } from '#testing/busy-machine.ts'
import type { ToolAnswer } from './agent-tool.ts'
import { httpTool, type HttpToolDecl } from './http-tool.ts'

const secret = 'canary-secret-0815'
let egress: Egress
let url: string
let serve: (req: IncomingMessage, res: ServerResponse, body: string) => void
let open = 0
const requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = []
const server = createServer((req, res) => {
  open++
  res.once('close', () => open--)
  let body = ''
  req.on('data', (chunk: Buffer) => (body += chunk.toString()))
  req.on('end', () => {
    requests.push({ method: req.method!, url: req.url!, headers: req.headers, body })
    serve(req, res, body)
  })
})

before(async () => {
  egress = openEgress({ mode: 'loopback' })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/tools/find`
})
after(async () => {
  await egress.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})
beforeEach(() => {
  requests.length = 0
  serve = (_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{ "lit": true }')
})

const parameters = {
  type: 'object',
  properties: { number: { type: 'integer', minimum: 1 } },
  required: ['number'],
  additionalProperties: false,
}

function call(args: unknown, decl: Partial<HttpToolDecl> = {}, signal = new AbortController().signal): Promise<ToolAnswer> {
  return httpTool({ name: 'find', description: 'Finds.', parameters, url, secret, ...decl }, egress.send).call(args, signal)
}

test('a call is a POST of the arguments with the secret as bearer token, and the answer is the JSON', async () => {
  assert.deepEqual(await call({ number: 3 }), { ok: true, text: '{"lit":true}' })
  const [got] = requests
  assert.equal(got!.method, 'POST')
  assert.equal(got!.body, '{"number":3}')
  assert.equal(got!.headers['content-type'], 'application/json')
  const { authorization, ...others } = got!.headers
  assert.equal(authorization, `Bearer ${secret}`)
  assert.doesNotMatch(inspect(others) + got!.url + got!.body, /canary/)
  await call({ number: 3 }, { secret: undefined })
  assert.equal(requests[1]!.headers.authorization, undefined)
})

test('the model reads the JSON that the tool wrote, without white space and with strings in one form', async () => {
  const cases: [string, string][] = [
    ['{ "id": 9007199254740993,\r\n\t"far": [1e400, -0, 1.10] }', '{"id":9007199254740993,"far":[1e400,-0,1.10]}'],
    ['{"a": 1, "a": 2, "__proto__": 3}', '{"a":1,"a":2,"__proto__":3}'],
    [String.raw`{"a  b": "\"  \\", "c": "\\\" : "}`, String.raw`{"a  b":"\"  \\","c":"\\\" : "}`],
    [String.raw`["\u00e9\/\u0000\ud800"]`, String.raw`["é/\u0000\ud800"]`],
    ['" \u2028 "', '" \u2028 "'],
    [' { not json } ', ' { not json } '],
  ]
  for (const [sent, read] of cases) {
    serve = (_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end(sent)
    assert.deepEqual(await call({ number: 3 }), { ok: true, text: read })
  }
})

test('arguments that are not what the schema says are told to the model and never sent', async () => {
  for (const args of [{}, { number: 'three' }, { number: 0 }, { number: 1.5 }, { number: 3, more: 1 }, null, 'x', []]) {
    const answer = await call(args)
    assert.equal(answer.ok, false, inspect(args))
    assert.match(inspect(answer), /The arguments are wrong: .+ Nothing was sent\./)
  }
  assert.equal(requests.length, 0)
})

test('a tool whose schema points elsewhere is never called', async () => {
  const answer = await call({ a: 1 }, { parameters: { type: 'object', properties: { a: { $ref: `${url}/schema.json` } } } })
  assert.equal(answer.ok, false)
  assert.match(inspect(answer), /Nothing was sent/)
  assert.equal(requests.length, 0)
})

test('text is passed on; what is neither JSON nor text is not', async () => {
  serve = (_req, res) => res.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end('Grüße 🏮\0')
  assert.deepEqual(await call({ number: 3 }), { ok: true, text: 'Grüße 🏮' })
  serve = (_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{ not json')
  assert.deepEqual(await call({ number: 3 }), { ok: true, text: '{ not json' })
  serve = (_req, res) => res.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from([0x89, 0x50]))
  assert.match(inspect(await call({ number: 3 })), /neither JSON nor text/)
  serve = (_req, res) => res.writeHead(204).end()
  assert.deepEqual(await call({ number: 3 }), { ok: true, text: '' })
})

test('an answer without end is cut at 64 KiB and said to be', async () => {
  serve = (_req, res) => {
    res.writeHead(200, { 'content-type': 'text/plain' })
    const more = () => !res.destroyed && res.write('漢字'.repeat(1_000), () => setImmediate(more))
    more()
  }
  const answer = await call({ number: 3 })
  assert.ok(answer.ok)
  assert.match(answer.text, /\[cut here: the answer goes on\]$/)
  assert.ok(Buffer.byteLength(answer.text) <= 64 * 1024 + 50 && Buffer.byteLength(answer.text) > 60_000)
})

test('failures are told, not thrown: statuses, redirects, a hang-up, a dead or forbidden address', async () => {
  const cases: [(res: ServerResponse) => void, RegExp][] = [
    [(res) => res.writeHead(404, { 'content-type': 'text/plain' }).end('no such lamp'), /status 404: no such lamp/],
    [(res) => res.writeHead(500).end('x'.repeat(5_000)), /status 500: x{900,999}…/],
    [(res) => res.writeHead(302, { location: 'http://169.254.169.254/' }).end(), /status 302/],
    [(res) => res.destroy(), /could not be reached|not HTTP/],
    [(res) => res.socket!.end('SSH-2.0-OpenSSH\r\n\r\n'), /could not be reached|not HTTP/],
  ]
  for (const [answer, expected] of cases) {
    serve = (_req, res) => answer(res)
    const got = await call({ number: 3 })
    assert.equal(got.ok, false)
    assert.match(inspect(got, { breakLength: Infinity }), expected)
  }
  for (const dead of [
    'http://127.0.0.1:1/',
    'http://169.254.169.254/latest',
    'http://no-such-name.invalid/',
    'ftp://x.example/',
  ]) {
    assert.deepEqual(await call({ number: 3 }, { url: dead }), { ok: false, error: 'The tool could not be reached.' })
  }
})

test('a tool that repeats the secret does not tell it to the model', async () => {
  serve = (req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(req.headers))
  const echoed = await call({ number: 3 })
  assert.match(inspect(echoed), /Bearer \[secret\]/)
  serve = (_req, res) =>
    res.writeHead(200, { 'content-type': 'application/json' }).end(String.raw`["canary\/secret", "\u0063anary/secret"]`)
  assert.deepEqual(await call({ number: 3 }, { secret: 'canary/secret' }), { ok: true, text: '["[secret]","[secret]"]' })
  serve = (req, res) => res.writeHead(403, { 'content-type': 'text/plain' }).end(`bad token ${req.headers.authorization}`)
  const refused = await call({ number: 3 })
  assert.doesNotMatch(inspect(echoed) + inspect(refused), /canary/)
})

test('abort ends a call at once with its reason and closes the connection', async () => {
  const ms = await leastMs(200, async () => {
    const stop = new AbortController()
    const reason = new Error('stopped')
    serve = () => stop.abort(reason)
    await assert.rejects(call({ number: 3 }, {}, stop.signal), reason)
  })
  assert.ok(ms < 200, `${ms} ms`)
  for (const deadline = performance.now() + 10_000; open > 0; await new Promise((resolve) => setImmediate(resolve)))
    assert.ok(performance.now() < deadline, 'the connection is closed')
})

test('a tool has 15 s', async () => {
  const seen: unknown[] = []
  const send: Egress['send'] = async ({ timeoutMs, maxAnswerBytes }) => {
    seen.push(timeoutMs, maxAnswerBytes)
    return { status: 200, headers: {}, body: Buffer.from('ok'), truncated: false }
  }
  await httpTool({ name: 'find', description: '', parameters, url }, send).call({ number: 1 }, new AbortController().signal)
  assert.deepEqual(seen, [15_000, 65_536])
})
