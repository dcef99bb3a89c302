import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test, type TestContext } from 'node:test'
import { longestBlock } from '#testing/processor-block.ts'
import { usedBytes } from '#testing/used-bytes.ts'
import { openEgress, type Egress } from '#ports/egress/egress.ts'
import { boundedMcp } from './bounded-mcp.ts'
import { openTools } from './open-tools.ts'

const { signal } = new AbortController()
const maxBlockMs = 150
let egress: Egress

before(() => {
  egress = openEgress({ mode: 'loopback' })
})
after(() => egress.close())

interface Sent {
  id?: number
  method?: string
}

type Answer = (sent: Sent, result: object, res: ServerResponse) => void

/** An MCP server with one tool, whose answers are put down by a test. */
async function startServer(t: TestContext, answer: Answer): Promise<{ url: string; sent: Sent[] }> {
  const sent: Sent[] = []
  const results: Record<string, object> = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
    'tools/list': { tools: [{ name: 'look', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'seen' }] },
  }
  const server = createServer((req, res) => void serve(req, res))
  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk)
    if (chunks.length === 0) return void res.writeHead(405).end()
    const message = JSON.parse(Buffer.concat(chunks).toString()) as Sent
    sent.push(message)
    if (message.method?.startsWith('notifications/')) return void res.writeHead(202).end()
    answer(message, results[message.method ?? ''] ?? {}, res)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, sent }
}

const rpc = (message: object) => JSON.stringify({ jsonrpc: '2.0', ...message })
const ping = (i: number) => rpc({ id: `p${i}`, method: 'ping' })
const pings = (count: number) => Array.from({ length: count }, (_, i) => ping(i))
const asJson = (res: ServerResponse, body: string) => void res.writeHead(200, { 'content-type': 'application/json' }).end(body)
const asEvents = (res: ServerResponse, messages: string[]) =>
  void res.writeHead(200, { 'content-type': 'text/event-stream' }).end(messages.map((data) => `data: ${data}\n\n`).join(''))

const asking: [string, Answer][] = [
  ['in a stream', ({ id }, result, res) => asEvents(res, [...pings(200), rpc({ id, result })])],
  ['in a list', ({ id }, result, res) => asJson(res, `[${[...pings(200), rpc({ id, result })].join()}]`)],
  [
    'and to the answers to its questions',
    ({ id, method }, result, res) => asEvents(res, method ? [...pings(4), rpc({ id, result })] : pings(4)),
  ],
]

for (const [name, answer] of asking) {
  test(`a server that asks us for more and more gets a few answers, and its tools work: ${name}`, async (t) => {
    const { url, sent } = await startServer(t, answer)
    const { tools, unreachable, close } = await openTools([{ mcp: url }], egress, signal)
    assert.deepEqual(unreachable, [])
    assert.deepEqual(await tools[0]!.call({}, signal), { ok: true, text: 'seen' })
    await close()
    const answers = sent.filter(({ method }) => method === undefined)
    // To the four requests, of which each may ask four times.
    assert.ok(answers.length > 0 && answers.length <= 16, `${answers.length} answers`)
  })
}

const filled = (count: number, value: unknown) => Array.from({ length: count }, () => value)
const hostile: [string, Answer][] = [
  ['6,000 pings', ({ id }, result, res) => asEvents(res, [...pings(6_000), rpc({ id, result })])],
  [
    'words for a log',
    ({ id }, result, res) =>
      asEvents(res, [...(filled(4_000, rpc({ method: 'notifications/message', params: {} })) as string[]), rpc({ id, result })]),
  ],
  [
    'thousands of parts',
    ({ id }, result, res) =>
      asJson(
        res,
        rpc({
          id,
          result: {
            ...result,
            tools: filled(9_000, { name: 'a', inputSchema: { type: 'object' } }),
            content: filled(9_000, { type: 'x' }),
          },
        }),
      ),
  ],
  [
    'a hundred thousand values',
    ({ id }, result, res) => asJson(res, rpc({ id, result: { ...result, structuredContent: filled(100_000, [1]) } })),
  ],
  ['nested without end', (_sent, _result, res) => asJson(res, '['.repeat(500_000))],
  [
    'comments',
    (_sent, _result, res) => void res.writeHead(200, { 'content-type': 'text/event-stream' }).end(':\n'.repeat(250_000)),
  ],
  ['an endless error', (_sent, _result, res) => void res.writeHead(500).end('x'.repeat(500_000))],
]

for (const [name, answer] of hostile) {
  test(`an answer that is made to take long costs the tools of its server, and holds nobody meanwhile: ${name}`, async (t) => {
    const { url, sent } = await startServer(t, answer)
    let opened: Awaited<ReturnType<typeof openTools>> | undefined
    const blockMs = await longestBlock(async () => (opened = await openTools([{ mcp: url }], egress, signal, 2_000)))
    await opened!.close()
    assert.deepEqual([opened!.tools.length, opened!.unreachable], [0, [url]])
    assert.ok(sent.length < 12, `${sent.length} requests`)
    assert.ok(blockMs < maxBlockMs, `it took ${blockMs.toFixed()} ms at once`)
  })
}

test('a result that is made to take long is a failed call', async (t) => {
  const { url } = await startServer(t, ({ id, method }, result, res) =>
    asJson(res, rpc({ id, result: method === 'tools/call' ? { content: filled(9_000, { type: 'text', text: '' }) } : result })),
  )
  const { tools, close } = await openTools([{ mcp: url }], egress, signal)
  const blockMs = await longestBlock(async () => assert.equal((await tools[0]!.call({}, signal)).ok, false))
  await close()
  assert.ok(blockMs < maxBlockMs, `it took ${blockMs.toFixed()} ms at once`)
})

test('an answer that arrives byte by byte takes little more memory than its bytes', async () => {
  const text = Buffer.from(JSON.stringify('x'.repeat(500_000)))
  let taken = 0
  const pieces = async function* () {
    const before = usedBytes()
    for (const byte of text) yield Buffer.alloc(1, byte)
    taken = usedBytes() - before
  }
  const fetch = boundedMcp(() => Promise.resolve(new Response(ReadableStream.from(pieces()))))
  const answer = await fetch('http://mcp.example', { method: 'POST', body: rpc({ id: 1, method: 'tools/list' }) })
  assert.equal(await answer.text(), text.toString())
  assert.ok(taken < 20_000_000, `${taken} bytes`)
})
