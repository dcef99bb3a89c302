// Untrusted servers in a separate process, so that their work takes no time of the measured process.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { hostileAnswers } from './hostile-answers.ts'

const answers = hostileAnswers.filter(({ provider }) => provider === 'openai_compatible').map(({ make }) => Buffer.from(make()))

/** For a provider, the model's name selects the answer; for an MCP server, the address does. */
const http = createServer((req, res) => void serve(req, res))

async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk)
  const body = chunks.length > 0 ? (JSON.parse(Buffer.concat(chunks).toString()) as Asked) : {}
  const [, kind, which] = (req.url ?? '').split('/')
  if (kind === 'v1') {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.end(answers[Number(/\d+$/.exec(body.model ?? '')?.[0]) % answers.length])
  } else if (body.id === undefined) res.writeHead(405).end()
  else mcp(Number(which), body, res)
}

interface Asked {
  id?: number
  method?: string
  model?: string
}

const results: Record<string, object> = {
  initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
}

function mcp(which: number, { id, method }: Asked, res: ServerResponse): void {
  const rpc = (message: object) => JSON.stringify({ jsonrpc: '2.0', ...message })
  const schema = {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`p${i}`, { type: 'string' }])),
  }
  const tools = Array.from({ length: which % 2 ? 64 : 4_000 }, (_, i) => ({
    name: `t${i}`,
    inputSchema: which % 2 ? schema : { type: 'object' },
  }))
  const answer = rpc({ id, result: results[method ?? ''] ?? { tools } })
  const pings = Array.from({ length: 6_000 }, (_, i) => `data: ${rpc({ id: `p${i}`, method: 'ping' })}\n\n`).join('')
  const asEvents = which % 4 < 2
  res.writeHead(200, { 'content-type': asEvents ? 'text/event-stream' : 'application/json' })
  res.end(asEvents ? `${pings}data: ${answer}\n\n` : answer)
}

const block = 'x'.repeat(64 * 1024)
const chunk = '1\r\nx\r\n'.repeat(10_000)
const agents: ((socket: Socket) => void)[] = [
  // One byte a chunk.
  (socket) => endlessly(socket, 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', chunk),
  (socket) => endlessly(socket, 'HTTP/1.1 200 OK\r\n\r\n', block),
  (socket) => endlessly(socket, '', 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'.repeat(1_000)),
  (socket) => endlessly(socket, 'HTTP/1.1 200 OK\r\n', 'x: y\r\n'.repeat(10_000)),
  (socket) => endlessly(socket, 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '1;'.padEnd(60_000, 'a=b;')),
]

function endlessly(socket: Socket, head: string, more: string): void {
  socket.once('data', () => {
    socket.write(head)
    const write = () => {
      if (socket.destroyed) return
      // In a later turn, because bytes that are written and read at once would starve all other sockets.
      if (socket.write(more)) setImmediate(write)
      else socket.once('drain', () => setImmediate(write))
    }
    write()
  })
}

const tcp = agents.map((answer) =>
  createTcpServer((socket) => {
    socket.on('error', () => undefined)
    answer(socket)
  }),
)

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

process.once('disconnect', () => process.exit())
process.send?.({ http: await listen(http), agents: await Promise.all(tcp.map(listen)) })
