import { isJsonObject } from '@atrium/contract/strict-json'
import { createMCPClient, type ListToolsResult, type MCPClient } from '@ai-sdk/mcp'
import type { Egress } from '#ports/egress/egress.ts'
import { cutText } from '../cut-text.ts'
import type { AgentTool, ToolAnswer } from './agent-tool.ts'
import { boundedMcp } from './bounded-mcp.ts'
import { toolText } from './tool-text.ts'

/** A registered MCP server, with its opened secret. */
export interface McpDecl {
  mcp: string
  secret?: string | undefined
}

export interface McpServer {
  /** The schemas are those of the server: see takeSoundTools. */
  tools: AgentTool[]
  close(): Promise<void>
}

type Definition = ListToolsResult['tools'][number]

const callMs = 15_000
const closeMs = 1_000
const maxPages = 5
const maxTools = 64
/** The limit for a list of tools is larger than for the result of one tool. */
const maxAnswerBytes = 512 * 1024
const maxDescriptionBytes = 1_000

/**
 * Connects to an MCP server (streamable HTTP) and lists its tools by their names there. Rejects if the signal is
 * aborted first.
 */
export async function openMcpServer(
  { mcp, secret }: McpDecl,
  egress: Pick<Egress, 'fetchWithin'>,
  signal: AbortSignal,
): Promise<McpServer> {
  const client = await createMCPClient({
    transport: {
      type: 'http',
      url: mcp,
      headers: secret ? { authorization: `Bearer ${secret}` } : {},
      fetch: mcpFetch(egress),
      redirect: 'error',
    },
    clientName: 'atrium',
    initializationOptions: { signal },
    // An error outside of a call has no effect here, and is not logged, because it may quote the server.
    onUncaughtError: () => {},
  })
  try {
    const definitions = await listTools(client, signal)
    return { tools: definitions.map((definition) => mcpTool(client, definition, secret)), close: () => client.close() }
  } catch (error) {
    await client.close()
    throw error
  }
}

/**
 * Rejects a listening stream (GET), as a server without one would: nothing is expected from a server between calls,
 * and each session would hold a connection. Closing the session (DELETE) is optional, and a stopped session does not
 * wait for it.
 */
function mcpFetch({ fetchWithin }: Pick<Egress, 'fetchWithin'>): typeof globalThis.fetch {
  const calling = boundedMcp(fetchWithin({ timeoutMs: callMs, maxAnswerBytes }))
  const closing = fetchWithin({ timeoutMs: closeMs, maxAnswerBytes })
  return async (input, init) => {
    if (init?.method === 'GET') return new Response(null, { status: 405 })
    return init?.method === 'DELETE' ? closing(input, init) : calling(input, init)
  }
}

async function listTools(client: MCPClient, signal: AbortSignal): Promise<Definition[]> {
  const found: Definition[] = []
  let cursor: string | undefined
  for (let page = 0; page < maxPages && found.length < maxTools; page++) {
    const list = await client.listTools({ ...(cursor === undefined ? {} : { params: { cursor } }), options: { signal } })
    found.push(...list.tools)
    cursor = list.nextCursor
    if (cursor === undefined) break
  }
  return found.slice(0, maxTools)
}

function mcpTool(client: MCPClient, { name, description, inputSchema }: Definition, secret: string | undefined): AgentTool {
  return {
    name,
    description: cutText(description ?? name, maxDescriptionBytes),
    parameters: { ...inputSchema, properties: inputSchema.properties ?? {} },
    call: async (args, signal) => {
      try {
        const result = await client.callTool({
          name,
          arguments: isJsonObject(args) ? args : {},
          options: { signal, timeout: callMs },
        })
        return readResult(result as CallResult, secret)
      } catch {
        signal.throwIfAborted()
        // The text of the error is not passed on, because it may quote the server's answer or the request.
        return { ok: false, error: 'The tool could not be called, or did not answer in time.' }
      }
    },
  }
}

interface CallResult {
  content?: { type: string; text?: string }[]
  structuredContent?: unknown
  isError?: boolean
}

function readResult({ content = [], structuredContent, isError }: CallResult, secret: string | undefined): ToolAnswer {
  const parts = content.map((part) => (part.type === 'text' ? (part.text ?? '') : `[${part.type}, not shown]`))
  const said = structuredContent === undefined || isError ? parts.join('\n') : JSON.stringify(structuredContent)
  const text = toolText(said, { secret })
  return isError ? { ok: false, error: text || 'The tool failed.' } : { ok: true, text }
}
