import type { Egress } from '#ports/egress/egress.ts'
import type { AgentTool } from './agent-tool.ts'
import { httpTool, type HttpToolDecl } from './http-tool.ts'
import { openMcpServer, type McpDecl, type McpServer } from './mcp-tools.ts'
import { nameTool } from './name-tool.ts'
import { takeSoundTools } from './take-sound-tools.ts'

export interface AgentTools {
  tools: AgentTool[]
  /** The MCP servers whose tools are missing. */
  unreachable: string[]
  /** How many tools of MCP servers were left out unseen, since checking those before them took too long. */
  unchecked: number
  /** Takes at most a second for each server, all at once. Never rejects. */
  close(): Promise<void>
}

/** Providers take no more. */
const maxTools = 100

/**
 * The tools of an agent for the length of a session. An MCP server that cannot be reached in time costs its own tools
 * and nothing else.
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

/** `https://mcp.lamps.example/v1` brings `lamps_…`: a model reads names. */
function labelOf(url: string): string {
  const labels = new URL(url).hostname.split('.')
  return (/^[\d.]+$/.test(labels.join('.')) ? undefined : labels.at(-2)) ?? 'mcp'
}
