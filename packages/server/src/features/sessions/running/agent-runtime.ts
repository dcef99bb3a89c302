import { setTimeout as delay } from 'node:timers/promises'
import { keepTrying } from '@atrium/traffic/keep-trying'
import { isPassing } from '#db/is-passing.ts'
import type { Agent } from '#features/agents/agent.ts'
import { findAgent } from '#features/agents/store.ts'
import { toolsWithSecrets } from '#features/agents/agent-secrets.ts'
import type { Context } from '#features/context.ts'
import { openStoredKeys } from '#features/provider-keys/provider-keys.ts'
import { listProviderKeys, type ProviderKey } from '#features/provider-keys/store.ts'
import { ModelError } from '#ports/model/model-error.ts'
import type { Meter } from '#ports/model/meter.ts'
import type { Model, Turn } from '#ports/model/model.ts'
import type { AgentTool } from '#ports/model/tools/agent-tool.ts'
import type { RoomEntry } from '../agent-room.ts'
import { observedModel } from './observed-model.ts'
import type { Run } from './run-model-session.ts'
import { isPassingForHolder } from './session-lease.ts'

/** The model and the open tools of an agent. */
interface AgentRuntime {
  model: Model
  tools: AgentTool[]
  /** Whether all MCP servers of the agent could be reached. */
  isComplete: boolean
  close(): Promise<void>
}

/** What the owner can change while a session runs, sealed. */
interface Secrets {
  /** The keys of the agent's own tenant. */
  providerKeys: ProviderKey[]
  /** The agent as it is now, with the secrets of its tools. undefined: it was deleted. */
  stored: Agent | undefined
}

async function readSecrets({ db }: Context, { agentTenantId, agentId }: Run['session']): Promise<Secrets> {
  const [providerKeys, stored] = await Promise.all([listProviderKeys(db, agentTenantId), findAgent(db, agentTenantId, agentId)])
  return { providerKeys, stored }
}

/** Differs where a secret was set again, or removed. */
function versionOf({ providerKeys, stored }: Secrets): string {
  const keys = providerKeys.map(({ provider, keySealed, url }) => [provider, keySealed.toString('base64'), url])
  return JSON.stringify([keys, stored !== undefined, stored?.toolSecrets?.toString('base64')])
}

/** Opens the model, and the tools as they were at the launch, with the current secrets. */
async function openAgentRuntime(
  ctx: Context,
  { session, signal }: Run,
  { providerKeys, stored }: Secrets,
): Promise<AgentRuntime> {
  const { agentTenantId, agent } = session
  // Loaded by the first session: the libraries of the model providers take 20 MiB.
  const [{ openModel }, { openTools }] = await Promise.all([
    import('#ports/model/open-model.ts'),
    import('#ports/model/tools/open-tools.ts'),
  ])
  const { keys, compatibleUrl } = openStoredKeys(ctx.vault, agentTenantId, providerKeys)
  const { egress } = ctx
  const opened = openModel({
    model: agent.model ?? undefined,
    providerKeys: keys,
    compatibleUrl,
    fetch: egress.fetch,
  })
  const model = observedModel(ctx, agent.model ?? undefined, opened)
  const declared = stored ? toolsWithSecrets(ctx.vault, { ...stored, tools: agent.tools }) : []
  const openedTools = await openTools(declared as Parameters<typeof openTools>[0], egress, signal)
  const { tools, unreachable, unchecked } = openedTools
  if (unreachable.length > 0)
    ctx.log.info({ session: session.id, unreachable: unreachable.length }, 'cannot reach MCP servers of an agent')
  if (unchecked > 0)
    ctx.log.warn(
      { session: session.id, unchecked },
      'omitted tools of an agent: the schemas of its MCP servers take too long to check',
    )
  return { model, tools, isComplete: unreachable.length === 0, close: () => openedTools.close() }
}

/** How long an MCP server that could not be reached is left alone before the next answer tries it again. */
const reopenAfterMs = 60_000

/**
 * The runtime of a run. It is opened again before an answer if the owner has changed a provider key or a secret of a tool
 * since: a new key is used at once, and a removed one no more. A server that is down costs the agent its tools until the
 * server is back, no longer.
 */
export class ReopeningRuntime {
  readonly #ctx: Context
  readonly #run: Run
  #runtime: AgentRuntime | undefined
  #version = ''
  #openedAtMs = 0

  constructor(ctx: Context, run: Run) {
    this.#ctx = ctx
    this.#run = run
  }

  async get(): Promise<AgentRuntime> {
    const before = this.#runtime
    const { session, signal } = this.#run
    const secrets = await keepTrying(() => readSecrets(this.#ctx, session), { signal, isPassing })
    const version = versionOf(secrets)
    const isWhole = before?.isComplete || performance.now() - this.#openedAtMs < reopenAfterMs
    if (before && version === this.#version && isWhole) return before
    this.#runtime = await openAgentRuntime(this.#ctx, this.#run, secrets)
    this.#version = version
    this.#openedAtMs = performance.now()
    await before?.close()
    return this.#runtime
  }

  async close(): Promise<void> {
    await this.#runtime?.close()
  }
}

/** The wait before each further attempt: a minute in all, unless the provider asks for more. */
const retryAfterMs = [1_000, 3_000, 9_000, 17_000, 30_000]
const maxWaitMs = 60_000

/**
 * The model's answer to the history, with the secrets of this moment. If the provider refuses the key, and the owner has
 * set another one meanwhile, the model is asked again with that one.
 */
export async function answerTo(
  run: Run,
  runtime: ReopeningRuntime,
  history: RoomEntry[],
  meter: Meter | undefined,
): Promise<string> {
  const opened = await runtime.get()
  try {
    return await replyTo(run, opened, history, meter)
  } catch (error) {
    if (!(error instanceof ModelError) || (error.code !== 'unauthorized' && error.code !== 'no_key')) throw error
    const reopened = await runtime.get()
    if (reopened === opened) throw error
    return replyTo(run, reopened, history, meter)
  }
}

/** A failure that may pass is tried again; the last one is thrown. */
async function replyTo(
  { session, lease, signal }: Run,
  { model, tools }: Pick<AgentRuntime, 'model' | 'tools'>,
  history: RoomEntry[],
  meter: Meter | undefined,
): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    // The model gets nothing after a stop, also if this worker has not been told of it yet.
    await keepTrying(() => lease.confirm(), { signal, isPassing: isPassingForHolder })
    try {
      const reply = await model.reply({
        instructions: session.agent.instructions,
        history: history.map((entry) => turnOf(entry, session.agentId)),
        tools,
        ...(session.metadata ? { metadata: session.metadata } : {}),
        meter,
        signal,
      })
      return reply.text
    } catch (error) {
      signal.throwIfAborted()
      const waitMs = retryAfterMs[attempt]
      if (!(error instanceof ModelError) || !error.retryable || waitMs === undefined) throw error
      const requestedMs = (error.retryAfterSeconds ?? 0) * 1_000
      await delay(Math.min(Math.max(waitMs, requestedMs), maxWaitMs), undefined, { signal })
    }
  }
}

function turnOf({ author, message }: RoomEntry, agentId: string): Turn {
  if (author.kind === 'agent') {
    const isSelf = author.id === agentId
    return { author: isSelf ? 'agent' : 'other_agent', name: author.name ?? 'Agent', text: message.text }
  }
  return { author: 'person', name: nameOf(author), text: message.text }
}

/** A guest's name is a claim: it must not pass for the name of an account. */
function nameOf({ kind, name }: RoomEntry['author']): string {
  if (name === undefined) return 'Guest'
  return kind === 'anonymous' ? `${name} (unverified guest)` : name
}
