import type { Tool } from '../agents/agent.ts'
import type { AccountRef } from '../credits/ledger/account.ts'

export type SessionStatus = 'armed' | 'launching' | 'running' | 'stopping' | 'stopped' | 'failed' | 'expired'

/** What the agent was when it was launched: later changes of it are for later sessions. Secrets are not in it. */
export interface LaunchedAgent {
  name: string
  instructions: string
  model: { provider: string; id: string } | null
  endpoint: string | null
  tools: Tool[]
  greeting: string | null
  maxMinutes: number
}

export interface SessionError {
  code: string
  message: string
}

export interface Session {
  tenantId: string
  id: string
  agentTenantId: string
  agentId: string
  agent: LaunchedAgent
  room: string
  status: SessionStatus
  /** The worker that runs it; null: none does. */
  leaseOwner: string | null
  /** null once it has ended. */
  mkSealed: Buffer | null
  couponSealed: Buffer | null
  armedId: string | null
  priceCredits: number
  chargedCredits: number
  /** Whose credits are held; null where the launch cost nothing. */
  payer: AccountRef | null
  maxMinutes: number
  metadata: Record<string, unknown> | null
  error: SessionError | null
  /** The newest line of the room that the agent has dealt with; at the launch, the last one that was there. */
  answeredSeq: number
  spokeAt: string | null
  createdAt: string
  expiresAt: string
  joinedAt: string | null
  stoppedAt: string | null
}

/** A session, and whose control token was sent. */
export type HeldSession = Session & { heldBy: 'launcher' | 'agent' }

export function isAlive(status: SessionStatus): boolean {
  return status === 'launching' || status === 'running' || status === 'stopping'
}

/** How a session can end. */
export type Ending = { status: 'stopped' } | { status: 'expired' } | { status: 'failed'; error: SessionError }

/** The price is due once the agent came; where it failed, once it said something. */
export function isDue(session: Pick<Session, 'joinedAt' | 'spokeAt'>, ending: Ending): boolean {
  return ending.status === 'failed' ? session.spokeAt !== null : session.joinedAt !== null
}

/** What events tell of a session. */
export function sessionEvent({ id, agentId, room }: Pick<Session, 'id' | 'agentId' | 'room'>) {
  return { session_id: id, agent_id: agentId, room }
}

/** As the holder of its control token sees it. */
export function statusView(session: Session) {
  return {
    id: session.id,
    agent_id: session.agentId,
    room: session.room,
    status: session.status,
    price_credits: session.priceCredits,
    charged_credits: session.chargedCredits,
    max_minutes: session.maxMinutes,
    created_at: session.createdAt,
    joined_at: session.joinedAt,
    stopped_at: session.stoppedAt,
    expires_at: session.expiresAt,
    ...(session.error ? { error: session.error } : {}),
  }
}
