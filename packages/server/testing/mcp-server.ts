import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'

interface McpTool {
  name: string
  description: string
  inputSchema: Record<string, unknown>
  // What a test gives and takes is its own business.
  // oxlint-disable-next-line typescript/no-explicit-any
  run: (args: any) => object | 'never'
}

interface Options {
  tools: McpTool[]
  /** What it wants as bearer token. */
  token?: string
  /** Answers as server-sent events rather than as JSON. */
  sse?: boolean
  /** Tools a page. */
  pageSize?: number
}

export interface McpTestServer {
  url: string
  /** Method and JSON-RPC method of each request. */
  seen: { method: string; rpc: string | undefined; authorization: string | undefined }[]
  sessions: Set<string>
  close(): Promise<void>
}

const version = '2025-11-25'

/** A server of the Model Context Protocol over streamable HTTP with sessions, on loopback. */
export async function startMcpServer({ tools, token, sse = false, pageSize = 100 }: Options): Promise<McpTestServer> {
  const server = createServer((req, res) => void serve(req, res))
  const mcp: McpTestServer = { url: '', seen: [], sessions: new Set(), close: () => closed(server) }

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const text = await readText(req)
    const message = text ? (JSON.parse(text) as { id?: number; method: string; params?: Record<string, unknown> }) : undefined
    const { authorization } = req.headers
    mcp.seen.push({ method: req.method!, rpc: message?.method, authorization })
    if (token && authorization !== `Bearer ${token}`) return void res.writeHead(401).end('who are you?')
    const session = String(req.headers['mcp-session-id'] ?? '')
    if (req.method === 'DELETE') {
      mcp.sessions.delete(session)
      return void res.writeHead(204).end()
    }
    if (!message) return void res.writeHead(405).end()
    if (message.method !== 'initialize' && !mcp.sessions.has(session)) return void res.writeHead(400).end('no session')
    if (message.id === undefined) return void res.writeHead(202).end()
    const result = answer(message.method, message.params ?? {})
    if (result === 'never') return
    const headers: Record<string, string> = {}
    if (message.method === 'initialize') {
      headers['mcp-session-id'] = `s${mcp.sessions.size + 1}`
      mcp.sessions.add(headers['mcp-session-id'])
    }
    const reply = JSON.stringify({ jsonrpc: '2.0', id: message.id, ...result })
    res.writeHead(200, { ...headers, 'content-type': sse ? 'text/event-stream' : 'application/json' })
    res.end(sse ? `event: message\ndata: ${reply}\n\n` : reply)
  }

  function answer(method: string, params: Record<string, unknown>): { result: object } | { error: object } | 'never' {
    if (method === 'initialize') {
      return { result: { protocolVersion: version, capabilities: { tools: {} }, serverInfo: { name: 'test', version: '1' } } }
    }
    if (method === 'tools/list') {
      const from = Number(params['cursor'] ?? 0)
      const page = tools
        .slice(from, from + pageSize)
        .map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
      return { result: { tools: page, ...(from + pageSize < tools.length ? { nextCursor: String(from + pageSize) } : {}) } }
    }
    const tool = tools.find(({ name }) => name === params['name'])
    if (method !== 'tools/call' || !tool) return { error: { code: -32_601, message: 'no such method or tool' } }
    const result = tool.run(params['arguments'])
    return result === 'never' ? result : { result }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  mcp.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  return mcp
}

function closed(server: ReturnType<typeof createServer>): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
