import { randomBytes } from '#crypto/random.ts'
import type { SealedRef } from '#crypto/vault/sealed-columns.ts'
import type { Vault } from '#crypto/vault/vault.ts'
import type { Agent, Manifest, Tool } from './agent.ts'

type AgentRef = Pick<Agent, 'tenantId' | 'id'>

/** Identifies a tool within its agent: by its name, or by the address of its MCP server. */
export function toolKey({ name, mcp }: Pick<Tool, 'name' | 'mcp'>): string {
  return mcp === undefined ? `name:${name}` : `mcp:${mcp}`
}

/**
 * Identifies a tool's secret. The origin is part of the key, because a secret is given to one origin: a tool that now
 * points elsewhere, or pointed elsewhere when a session began, has no secret.
 */
export function secretKey(tool: Pick<Tool, 'name' | 'mcp' | 'url'>): string {
  return tool.url === undefined ? toolKey(tool) : `${toolKey(tool)} ${new URL(tool.url).origin}`
}

/** Seals all tool secrets of an agent as one value, so that none can be swapped for another. null: there are none. */
export function sealToolSecrets(vault: Vault, agent: AgentRef, secrets: ReadonlyMap<string, string>): Buffer | null {
  return secrets.size === 0 ? null : vault.seal(Buffer.from(JSON.stringify([...secrets])), sealedRef(agent, 'tool_secrets'))
}

export function openToolSecrets(vault: Vault, agent: AgentRef & Pick<Agent, 'toolSecrets'>): Map<string, string> {
  if (!agent.toolSecrets) return new Map()
  const secrets: [string, string][] = JSON.parse(vault.open(agent.toolSecrets, sealedRef(agent, 'tool_secrets')).toString())
  return new Map(secrets)
}

/** The tools with their secrets, by `secretKey`, for the code that calls them. */
export function toolsWithSecrets(tools: Tool[], secrets: ReadonlyMap<string, string>): (Tool & { secret?: string })[] {
  return tools.map((tool) => {
    const secret = secrets.get(secretKey(tool))
    return { ...tool, ...(secret === undefined ? {} : { secret }) }
  })
}

/**
 * Gives a remote agent a signing secret, in the form of Standard Webhooks, where it has none or `rotate` asks for a
 * new one. The caller shows `secret` once.
 */
export function withSigningSecret<M extends Manifest>(
  vault: Vault,
  agent: AgentRef,
  manifest: M,
  rotate = false,
): { manifest: M; secret: string | undefined } {
  if (manifest.endpoint === null || (manifest.signingSecret && !rotate)) return { manifest, secret: undefined }
  const secret = `whsec_${Buffer.from(randomBytes(24)).toString('base64')}`
  const signingSecret = vault.seal(Buffer.from(secret), sealedRef(agent, 'signing_secret'))
  return { manifest: { ...manifest, signingSecret }, secret }
}

export function openSigningSecret(vault: Vault, agent: AgentRef & Pick<Agent, 'signingSecret'>): string {
  if (!agent.signingSecret) throw new Error(`agent ${agent.id} has no signing secret`)
  return vault.open(agent.signingSecret, sealedRef(agent, 'signing_secret')).toString()
}

function sealedRef({ tenantId, id }: AgentRef, column: 'tool_secrets' | 'signing_secret'): SealedRef {
  return { tenant: tenantId, table: 'agents', column, row: id }
}
