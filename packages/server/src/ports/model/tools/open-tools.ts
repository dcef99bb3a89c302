import type { Egress } from '#ports/egress/egress.ts'
import type { AgentTool } from './agent-tool.ts'
import { httpTool, type HttpToolDecl } from './http-tool.ts'
import { openMcpServer, type McpDecl, type McpServer } from './mcp-tools.ts'
import { nameTool } from './name-tool.ts'
import { takeSoundTools } from './take-sound-tools.ts'

export interface AgentTools {
  tools: AgentTool[]
  /** The MCP servers that could not be reached. */
  unreachable: string[]
  /** How many tools of MCP servers were left out unchecked, because checking the earlier ones took too long. */
  unchecked: number
  /** Closes all connections at once, in at most a second. Never rejects. */
  close(): Promise<void>
}

/** Providers accept no more tools. */
const maxTools = 100

/**
 * Opens the tools of an agent for a session. If an MCP server cannot be reached in time, only its own tools are
 * missing.
 */
export async function openTools(
  decls: (HttpToolDecl | McpDecl)[],
  egress: Pick<Egress, 'send' | 'fetchWithin'>,
  signal: AbortSignal,
  openMs = 5_000,
): Promise<AgentTools> {
  const opening = AbortSignal.any([signal, AbortSignal.timeout(openMs)])
  const taken = new Set<string>()
  const declared = decls.filter((decl) => 'url' in decl).map((decl) => renamed(httpTool(decl, egress.send), [decl.name], taken))
  const servers = decls.filter((decl) => 'mcp' in decl)
  const opened = await Promise.all(
    servers.map(async (decl) => ({
      decl,
      server: await openMcpServer(decl, egress, opening).catch(() => undefined),
    })),
  )
  const live = opened.flatMap(({ server }): McpServer[] => (server ? [server] : []))
  const close = async () => {
    await Promise.allSettled(live.map((server) => server.close()))
  }
  try {
    signal.throwIfAborted()
    const labels = new Map<AgentTool, string>()
    for (const { decl, server } of opened) for (const tool of server?.tools ?? []) labels.set(tool, labelOf(decl.mcp))
    const { tools, unchecked } = await takeSoundTools([...labels.keys()], maxTools - declared.length, signal)
    const brought = tools.map((tool) => renamed(tool, [labels.get(tool) ?? 'mcp', tool.name], taken))
    const unreachable = opened.flatMap(({ decl, server }) => (server ? [] : [decl.mcp]))
    return { tools: [...declared, ...brought], unreachable, unchecked, close }
  } catch (error) {
    await close()
    throw error
  }
}

function renamed(tool: AgentTool, parts: string[], taken: Set<string>): AgentTool {
  return { ...tool, name: nameTool(parts, taken) }
}

/** `https://mcp.lamps.example/v1` becomes `lamps_…`, because models read the names. */
function labelOf(url: string): string {
  const labels = new URL(url).hostname.split('.')
  return (/^[\d.]+$/.test(labels.join('.')) ? undefined : labels.at(-2)) ?? 'mcp'
}
