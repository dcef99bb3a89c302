import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { keepTrying } from '@atrium/traffic/keep-trying'
import { isPassing } from '#db/is-passing.ts'
import type { Agent } from '#features/agents/agent.ts'
import { findAgent } from '#features/agents/store.ts'
import { openToolSecrets, secretKey, toolsWithSecrets } from '#features/agents/agent-secrets.ts'
import type { Context } from '#features/context.ts'
import { openStoredKeys } from '#features/provider-keys/provider-keys.ts'
import { listProviderKeys, type ProviderKey } from '#features/provider-keys/store.ts'
import { ModelError } from '#ports/model/model-error.ts'
import type { Meter } from '#ports/model/meter.ts'
import type { Model, Turn } from '#ports/model/model.ts'
import type { AgentTool } from '#ports/model/tools/agent-tool.ts'
import type { RoomEntry } from '../agent-room.ts'
import { observedModel } from './observed-model.ts'
import { masterKeyMayCome } from './open-with-keys.ts'
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
interface StoredSecrets {
  /** The keys of the agent's own tenant. */
  providerKeys: ProviderKey[]
  /** The agent as it is now, with the secrets of its tools. undefined: it was deleted. */
  stored: Agent | undefined
}

interface Secrets {
  /** Only the key of the agent's own provider. */
  keys: Record<string, string | undefined>
  compatibleUrl: string | undefined
  /** By `secretKey`, of the tools that the agent had at the launch. undefined: the agent was deleted. */
  ofTools: Map<string, string> | undefined
}

async function readSecrets({ db }: Context, { agentTenantId, agentId }: Run['session']): Promise<StoredSecrets> {
  const [providerKeys, stored] = await Promise.all([listProviderKeys(db, agentTenantId), findAgent(db, agentTenantId, agentId)])
  return { providerKeys, stored }
}

function openSecrets(
  { vault }: Context,
  { agentTenantId, agent }: Run['session'],
  { providerKeys, stored }: StoredSecrets,
  before: Secrets | undefined,
): Secrets {
  const own = providerKeys.filter(({ provider }) => provider === agent.model?.provider)
  const provider = openStoredKeys(vault, agentTenantId, own)
  if (!stored) return { ...provider, ofTools: undefined }
  const set = openToolSecrets(vault, stored)
  const declared = new Set(stored.tools.map(secretKey))
  const ofTools = new Map<string, string>()
  for (const key of agent.tools.map(secretKey)) {
    // The session keeps the tools of its launch: one that was renamed, moved or removed since keeps its secret here, too.
    const secret = set.get(key) ?? (declared.has(key) ? undefined : before?.ofTools?.get(key))
    if (secret !== undefined) ofTools.set(key, secret)
  }
  return { ...provider, ofTools }
}

/** Opens the model, and the tools as they were at the launch, with the current secrets. */
async function openAgentRuntime(
  ctx: Context,
  { session, signal }: Run,
  { keys, compatibleUrl, ofTools }: Secrets,
): Promise<AgentRuntime> {
  const { agent } = session
  // Loaded by the first session: the libraries of the model providers take 20 MiB.
  const [{ openModel }, { openTools }] = await Promise.all([
    import('#ports/model/open-model.ts'),
    import('#ports/model/tools/open-tools.ts'),
  ])
  const { egress } = ctx
  const opened = openModel({
    model: agent.model ?? undefined,
    providerKeys: keys,
    compatibleUrl,
    fetch: egress.fetch,
  })
  const model = observedModel(ctx, agent.model ?? undefined, opened)
  const declared = ofTools ? toolsWithSecrets(agent.tools, ofTools) : []
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
 * since: a new key is used at once, and a removed one is not used any more. A server that is down costs the agent its
 * tools only until it is back.
 */
export class ReopeningRuntime {
  readonly #ctx: Context
  readonly #run: Run
  #runtime: AgentRuntime | undefined
  #secrets: Secrets | undefined
  #openedAtMs = 0

  constructor(ctx: Context, run: Run) {
    this.#ctx = ctx
    this.#run = run
  }

  async get(): Promise<AgentRuntime> {
    const before = this.#runtime
    const secrets = await this.#currentSecrets()
    const isWhole = before?.isComplete || performance.now() - this.#openedAtMs < reopenAfterMs
    if (before && secrets === this.#secrets && isWhole) return before
    this.#runtime = await openAgentRuntime(this.#ctx, this.#run, secrets)
    this.#secrets = secrets
    this.#openedAtMs = performance.now()
    await before?.close()
    return this.#runtime
  }

  /** The object of the last opening if nothing has changed since. */
  async #currentSecrets(): Promise<Secrets> {
    const before = this.#secrets
    const { session, signal } = this.#run
    const mayCome = masterKeyMayCome()
    const read = async () => {
      const secrets = openSecrets(this.#ctx, session, await readSecrets(this.#ctx, session), before)
      return before && isDeepStrictEqual(before, secrets) ? before : secrets
    }
    return keepTrying(read, { signal, isPassing: (error) => isPassing(error) || mayCome(error) })
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

/** Tries again after transient failures, and throws the last one. */
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
