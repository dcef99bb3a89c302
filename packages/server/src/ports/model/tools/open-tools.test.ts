import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { inspect } from 'node:util'
import { leastMs, passesOnce } from '#testing/busy-machine.ts'
import { startMcpServer } from '#testing/mcp-server.ts'
import { startProviderServer } from '#testing/provider-server.ts'
import { openEgress, type Egress } from '#ports/egress/egress.ts'
import { openModel } from '../open-model.ts'
import { openTools } from './open-tools.ts'

let egress: Egress
const { signal } = new AbortController()
const token = 'canary-mcp-4711'

before(() => {
  egress = openEgress({ mode: 'loopback' })
})
after(() => egress.close())

function shut(server: Server): void {
  server.closeAllConnections()
  server.close()
}

const parameters = { type: 'object', properties: { number: { type: 'integer' } } }
const find = {
  name: 'find',
  description: 'Finds a lamp.',
  inputSchema: parameters,
  run: ({ number }: any) => ({ content: [{ type: 'text', text: `lamp ${number} is lit` }] }),
}
const say = (text: string) => ({ content: [{ type: 'text', text }] })
const http = { name: 'find', description: 'Finds.', parameters, url: 'http://127.0.0.1:1/' }

for (const sse of [false, true]) {
  test(`an MCP server's tools are listed, called and left, with the secret as bearer token (${sse ? 'events' : 'JSON'})`, async (t) => {
    const mcp = await startMcpServer({ tools: [find, { ...find, name: 'count.all' }], token, sse, pageSize: 1 })
    t.after(() => mcp.close())
    const { tools, unreachable, close } = await openTools([http, { mcp: mcp.url, secret: token }], egress, signal)
    assert.deepEqual(unreachable, [])
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['find', 'mcp_find', 'mcp_count_all'],
    )
    assert.equal(tools[1]!.description, 'Finds a lamp.')
    assert.deepEqual(await tools[1]!.call({ number: 3 }, signal), { ok: true, text: 'lamp 3 is lit' })
    assert.deepEqual(await tools[2]!.call({ number: 4 }, signal), { ok: true, text: 'lamp 4 is lit' })
    assert.equal(mcp.sessions.size, 1)
    await close()
    assert.equal(mcp.sessions.size, 0)
    assert.ok(mcp.seen.every(({ authorization }) => authorization === `Bearer ${token}`))
    assert.ok(
      mcp.seen.every(({ method }) => method !== 'GET'),
      'no listening stream is held open',
    )
  })
}

test('a server that is dead, silent, refuses us or is no MCP server costs its tools only', async (t) => {
  const silent = createServer(() => {})
  const nonsense = createServer((_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{"hello":1}'))
  const addresses = []
  for (const server of [silent, nonsense]) {
    t.after(() => shut(server))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    addresses.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
  }
  const closed = await startMcpServer({ tools: [find], token })
  t.after(() => closed.close())
  const good = await startMcpServer({ tools: [find] })
  const dead = ['http://127.0.0.1:1/mcp', 'http://169.254.169.254/mcp', closed.url, ...addresses]
  const decls = [http, ...[...dead, good.url].map((mcp) => ({ mcp, secret: 'wrong' }))]
  // On a busy machine, the good one may also take longer than a second.
  const { tools, close } = await passesOnce(async () => {
    const started = performance.now()
    const opened = await openTools(decls, egress, signal, 1_000)
    assert.ok(performance.now() - started < 3_000)
    assert.deepEqual(opened.unreachable, dead)
    return opened
  })
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['find', 'mcp_find'],
  )
  assert.equal((await tools[1]!.call({ number: 1 }, signal)).ok, true)
  await good.close()
  assert.equal((await tools[1]!.call({ number: 1 }, signal)).ok, false, 'one that dies later is told to the model')
  await close()
})

test('what an MCP tool says is text for a model: capped, without the secret, failures as failures', async (t) => {
  const tool = (name: string, run: (args: any) => any) => ({ name, description: name, inputSchema: { type: 'object' }, run })
  const mcp = await startMcpServer({
    token,
    tools: [
      tool('long', () => say('long '.repeat(50_000))),
      tool('leak', () => say(`you sent ${token}`)),
      tool('fail', () => ({ ...say('no such lamp'), isError: true })),
      tool('image', () => ({ content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] })),
      tool('structured', () => ({ content: [], structuredContent: { lit: 3 } })),
      tool('broken', () => ({ content: 'nonsense' })),
      {
        name: 'remote',
        description: '',
        inputSchema: { type: 'object', properties: { a: { $ref: 'https://x.example/s' } } },
        run: () => say(''),
      },
    ],
  })
  t.after(() => mcp.close())
  const { tools, close } = await openTools([{ mcp: mcp.url, secret: token }], egress, signal)
  const call = async (name: string) => tools.find((one) => one.name === `mcp_${name}`)!.call({}, signal)
  const long = await call('long')
  assert.ok(long.ok && Buffer.byteLength(long.text) <= 65_536 && long.text.length > 60_000)
  assert.deepEqual(await call('leak'), { ok: true, text: 'you sent [secret]' })
  assert.deepEqual(await call('fail'), { ok: false, error: 'no such lamp' })
  assert.deepEqual(await call('image'), { ok: true, text: '[image, not shown]' })
  assert.deepEqual(await call('structured'), { ok: true, text: '{"lit":3}' })
  assert.equal((await call('broken')).ok, false)
  assert.equal(
    tools.some(({ name }) => name === 'mcp_remote'),
    false,
  )
  await close()
})

test('abort ends a call of an MCP tool, and the opening of the tools, with its reason', async (t) => {
  const mcp = await startMcpServer({ tools: [{ ...find, run: () => 'never' as const }] })
  t.after(() => mcp.close())
  const { tools, close } = await openTools([{ mcp: mcp.url }], egress, signal)
  const ms = await leastMs(200, async (begin) => {
    const stop = new AbortController()
    const before = mcp.seen.length
    const called = tools[0]!.call({}, stop.signal)
    while (!mcp.seen.slice(before).some(({ rpc }) => rpc === 'tools/call')) await new Promise((resolve) => setImmediate(resolve))
    begin()
    stop.abort(new Error('stopped'))
    await assert.rejects(called, { message: 'stopped' })
    await assert.rejects(openTools([{ mcp: mcp.url }], egress, stop.signal), { message: 'stopped' })
  })
  assert.ok(ms < 200, `${ms} ms`)
  await close()
})

test('the whole way: a model calls an HTTP tool wrongly, is told, calls it and an MCP tool, and answers', async (t) => {
  const provider = await startProviderServer()
  t.after(() => provider.close())
  const mcp = await startMcpServer({ tools: [find] })
  t.after(() => mcp.close())
  const sent: string[] = []
  const lamps = createServer((req, res) => {
    req.on('data', (chunk: Buffer) => sent.push(chunk.toString()))
    req.on('end', () => res.writeHead(200, { 'content-type': 'application/json' }).end('{"lit":true}'))
  })
  t.after(() => shut(lamps))
  await new Promise<void>((resolve) => lamps.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(lamps.address() as AddressInfo).port}/`
  const { tools, close } = await openTools(
    [
      { ...http, url, secret: token },
      { mcp: mcp.url, secret: token },
    ],
    egress,
    signal,
  )
  const model = openModel({
    model: { provider: 'openai_compatible', id: 'm' },
    providerKeys: { openai_compatible: 'k' },
    compatibleUrl: provider.compatibleUrl,
    fetch: egress.fetch,
  })
  provider.script(
    { calls: [{ name: 'find', args: '{"number":"three"}' }] },
    {
      calls: [
        { name: 'find', args: '{"number":3}' },
        { name: 'mcp_find', args: '{"number":4}' },
      ],
    },
    { text: ['Both are lit.'] },
  )
  const reply = await model.reply({ instructions: '', history: [{ author: 'person', text: 'Lamps?' }], tools, signal })
  assert.deepEqual([reply.text, reply.toolCalls], ['Both are lit.', 3])
  assert.deepEqual(sent, ['{"number":3}'])
  const told = (n: number) => inspect(provider.requests[n]!.body.messages.filter(({ role }: any) => role === 'tool'))
  assert.match(told(1), /\/number must be integer/)
  assert.match(told(2), /\{"lit":true\}[^]*lamp 4 is lit/)
  assert.doesNotMatch(JSON.stringify(provider.requests.map(({ body }) => body)), /canary/)
  await close()
})
