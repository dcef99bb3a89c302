import type { Place } from '#crypto/vault/sealed-columns.ts'
import type { Vault } from '#crypto/vault/vault.ts'
import type { Agent, Tool } from './agent.ts'

type Home = Pick<Agent, 'tenantId' | 'id'>

/** What tells an agent's tools apart: a name, or the address of an MCP server. */
export function toolKey({ name, mcp }: Pick<Tool, 'name' | 'mcp'>): string {
  return mcp === undefined ? `name:${name}` : `mcp:${mcp}`
}

/**
 * What a tool's secret is kept under. The origin is part of it: a secret was given for one, and a tool that is pointed elsewhere, or was
 * elsewhere when a session began, has none.
 */
export function secretKey(tool: Pick<Tool, 'name' | 'mcp' | 'url'>): string {
  return tool.url === undefined ? toolKey(tool) : `${toolKey(tool)} ${new URL(tool.url).origin}`
}

/** All secrets of an agent are sealed as one, so that none can be put in the place of another. null: there are none. */
export function sealToolSecrets(vault: Vault, home: Home, secrets: ReadonlyMap<string, string>): Buffer | null {
  return secrets.size === 0 ? null : vault.seal(Buffer.from(JSON.stringify([...secrets])), placeOf(home))
}

export function openToolSecrets(vault: Vault, agent: Home & Pick<Agent, 'toolSecrets'>): Map<string, string> {
  if (!agent.toolSecrets) return new Map()
  return new Map(JSON.parse(vault.open(agent.toolSecrets, placeOf(agent)).toString()) as [string, string][])
}

/** The tools with their secrets, for whoever calls them. Opened only here: an agent that is read carries none in the open. */
export function toolsWithSecrets(vault: Vault, agent: Agent): (Tool & { secret?: string })[] {
  const secrets = openToolSecrets(vault, agent)
  return agent.tools.map((tool) => {
    const secret = secrets.get(secretKey(tool))
    return { ...tool, ...(secret === undefined ? {} : { secret }) }
  })
}

function placeOf({ tenantId, id }: Home): Place {
  return { tenant: tenantId, table: 'agents', column: 'tool_secrets', row: id }
}
