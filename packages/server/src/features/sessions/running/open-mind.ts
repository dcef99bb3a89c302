import type { Context } from '../../../context.ts'
import { openModel } from '../../../ports/model/open-model.ts'
import type { Model } from '../../../ports/model/model.ts'
import type { AgentTool } from '../../../ports/model/tools/agent-tool.ts'
import { openTools } from '../../../ports/model/tools/open-tools.ts'
import { toolsWithSecrets } from '../../agents/tool-secrets.ts'
import { findAgent } from '../../agents/store.ts'
import { openProviderKeys } from '../../provider-keys/open-provider-keys.ts'
import type { Run } from './run-model-session.ts'

/** What an agent thinks with. */
export interface Mind {
  model: Model
  tools: AgentTool[]
  close(): Promise<void>
}

/** The model with the keys of the agent's own tenant, and the tools with their secrets: as the agent was launched, with the secrets it has now. */
export async function openMind(ctx: Context, { session, signal }: Run): Promise<Mind> {
  const { agentTenantId, agentId, agent } = session
  const { keys, compatibleUrl } = await openProviderKeys(ctx.db, ctx.vault, agentTenantId)
  const { egress } = ctx
  const model = openModel({
    model: agent.model ?? undefined,
    providerKeys: keys,
    compatibleUrl,
    fetch: egress.fetch,
  })
  const stored = await findAgent(ctx.db, agentTenantId, agentId)
  const declared = stored ? toolsWithSecrets(ctx.vault, { ...stored, tools: agent.tools }) : []
  const opened = await openTools(declared as Parameters<typeof openTools>[0], egress, signal)
  const { tools, unreachable, unchecked } = opened
  if (unreachable.length > 0)
    ctx.log.info({ session: session.id, unreachable: unreachable.length }, 'MCP servers of an agent cannot be reached')
  if (unchecked > 0)
    ctx.log.warn(
      { session: session.id, unchecked },
      'tools of an agent are left out: the schemas of its MCP servers take too long to check',
    )
  return { model, tools, close: () => opened.close() }
}
