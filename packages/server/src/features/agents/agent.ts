import type { Static } from 'typebox'
import type { AgentRegistration, ToolShown } from '@atrium/contract/agent-schemas'
import { proofUrl } from '#features/transparency-log/entries.ts'
import { cardEntry } from './card-entry.ts'
import type { AgentStatus } from './status.ts'

/** A tool without its secret, as it is stored and shown. */
export type Tool = Static<typeof ToolShown>
/** A public P-256 key, to which launchers seal what the agent needs to join a client-sealed room. */
type EncryptionKey = NonNullable<Static<typeof AgentRegistration>['encryption_key']>
type Model = NonNullable<Static<typeof AgentRegistration>['model']>

/** The part of an agent that its owner declares. */
export interface Manifest {
  name: string
  description: string
  instructions: string
  /** null, and no endpoint either: the built-in echo model. */
  model: Model | null
  endpoint: string | null
  /** Only of a remote agent. */
  encryptionKey: EncryptionKey | null
  tools: Tool[]
  /** The sealed secrets of the tools; see agent-secrets.ts. */
  toolSecrets: Buffer | null
  /** The sealed secret that signs requests to the endpoint; null: the agent never had an endpoint. */
  signingSecret: Buffer | null
  priceCredits: number
  /** What a session pays from its budget for 1,000 tokens, and for a call of a tool. 0: free. */
  creditsPer1kTokens: number
  creditsPerToolCall: number
  maxMinutes: number
  greeting: string | null
  avatarUrl: string | null
}

export interface Agent extends Manifest, AgentStatus {
  tenantId: string
  id: string
  seq: number
  /** The price before it was raised; null: not raised in the last ten minutes. */
  raisedFromCredits: number | null
  ratingSum: number
  ratingCount: number
  createdAt: string
  updatedAt: string
}

/** An agent as its owner sees it. */
export function agentView(agent: Agent) {
  const { id, name, description, instructions, model, endpoint, greeting, status } = agent
  return {
    id,
    name,
    description,
    instructions,
    ...(model ? { model } : {}),
    ...(endpoint === null ? {} : { endpoint }),
    ...encryptionView(agent),
    tools: agent.tools,
    price_credits: agent.priceCredits,
    ...meteredView(agent),
    max_minutes: agent.maxMinutes,
    ...(greeting === null ? {} : { greeting }),
    avatar_url: agent.avatarUrl,
    status,
    created_at: agent.createdAt,
    updated_at: agent.updatedAt,
  }
}

/** The public part of an agent. */
export interface CatalogEntry {
  tenantId: string
  id: string
  seq: number
  name: string
  description: string
  priceCredits: number
  creditsPer1kTokens: number
  creditsPerToolCall: number
  maxMinutes: number
  avatarUrl: string | null
  isRemote: boolean
  encryptionKey: EncryptionKey | null
  ratingSum: number
  ratingCount: number
  /** As the transparency log has it; null: not logged yet. */
  card: string | null
  cardSalt: string | null
}

/** The agent as the catalog shows it. `publicUrl` is the API's address, under which the log is. */
export function catalogView(entry: CatalogEntry, publicUrl: string) {
  return { ...shownFields(entry), rating: ratingView(entry), ...loggedView(entry, publicUrl) }
}

/** What the transparency log has of an agent: what the catalog shows, except its ratings, which change without its maker. */
export function cardOf(entry: CatalogEntry): string {
  return JSON.stringify(shownFields(entry))
}

function loggedView({ card, cardSalt }: CatalogEntry, publicUrl: string) {
  if (card === null || cardSalt === null) return {}
  return { logged: { card, salt: cardSalt, log_proof: proofUrl(publicUrl, cardEntry(card, cardSalt)) } }
}

function shownFields(entry: CatalogEntry) {
  const { id, name, description } = entry
  return {
    id,
    name,
    description,
    price_credits: entry.priceCredits,
    ...meteredView(entry),
    max_minutes: entry.maxMinutes,
    avatar_url: entry.avatarUrl,
    hosting: entry.isRemote ? ('remote' as const) : ('hosted' as const),
    ...encryptionView(entry),
  }
}

function encryptionView({ encryptionKey }: Pick<Agent, 'encryptionKey'>) {
  return encryptionKey === null ? {} : { encryption_key: encryptionKey }
}

function meteredView({ creditsPer1kTokens, creditsPerToolCall }: Pick<Agent, 'creditsPer1kTokens' | 'creditsPerToolCall'>) {
  return {
    ...(creditsPer1kTokens > 0 ? { credits_per_1k_tokens: creditsPer1kTokens } : {}),
    ...(creditsPerToolCall > 0 ? { credits_per_tool_call: creditsPerToolCall } : {}),
  }
}

/** The average has two decimals. */
export function ratingView({ ratingSum, ratingCount }: Pick<Agent, 'ratingSum' | 'ratingCount'>) {
  return { average: ratingCount === 0 ? null : Math.round((ratingSum / ratingCount) * 100) / 100, count: ratingCount }
}
