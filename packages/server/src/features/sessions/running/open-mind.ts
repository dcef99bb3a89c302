import type { Context } from '#features/context.ts'
import { isPassing } from '#db/is-passing.ts'
import { keepTrying } from '@atrium/traffic/keep-trying'
import { openModel } from '#ports/model/open-model.ts'
import type { Model } from '#ports/model/model.ts'
import type { AgentTool } from '#ports/model/tools/agent-tool.ts'
import { openTools } from '#ports/model/tools/open-tools.ts'
import { toolsWithSecrets } from '#features/agents/tool-secrets.ts'
import { findAgent } from '#features/agents/store.ts'
import { openProviderKeys } from '#features/provider-keys/provider-keys.ts'
import type { Run } from './run-model-session.ts'

/** What an agent thinks with. */
export interface Mind {
  model: Model
  tools: AgentTool[]
  /** Whether all of its MCP servers were reached. */
  isWhole: boolean
  close(): Promise<void>
}

/** The model with the keys of the agent's own tenant, and the tools with their secrets: as the agent was launched, with the secrets it has now. */
async function openMind(ctx: Context, { session, signal }: Run): Promise<Mind> {
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
  return { model, tools, isWhole: unreachable.length === 0, close: () => opened.close() }
}

/** An MCP server that could not be reached is asked again, when there is something to answer, but no sooner than this. */
const reopenAfterMs = 60_000

/** The mind of a run, open as long as the run lasts. A server that is away for a while costs its tools for that while, not for the session. */
export class KeptMind {
  readonly #ctx: Context
  readonly #run: Run
  #mind: Mind | undefined
  #openedAtMs = 0

  constructor(ctx: Context, run: Run) {
    this.#ctx = ctx
    this.#run = run
  }

  async get(): Promise<Mind> {
    const before = this.#mind
    if (before && (before.isWhole || performance.now() - this.#openedAtMs < reopenAfterMs)) return before
    const { signal } = this.#run
    this.#mind = await keepTrying(() => openMind(this.#ctx, this.#run), { signal, isPassing })
    this.#openedAtMs = performance.now()
    await before?.close()
    return this.#mind
  }

  async close(): Promise<void> {
    await this.#mind?.close()
  }
}
