import type { SealedRef } from '#crypto/vault/sealed-columns.ts'
import type { Vault } from '#crypto/vault/vault.ts'
import type { Tool } from '../agents/agent.ts'
import type { Budget, BudgetShare, MeteredPrices } from './budget.ts'
import type { HostedDevice } from './hosted-device.ts'
import type { AccountRef } from '#features/credits/ledger/movement.ts'

export type SessionStatus = 'armed' | 'launching' | 'running' | 'paused' | 'stopping' | 'stopped' | 'failed' | 'expired'

/** The agent as it was at the launch. Later changes apply to later sessions. It holds no secrets. */
export interface LaunchedAgent {
  name: string
  instructions: string
  model: { provider: string; id: string } | null
  endpoint: string | null
  tools: Tool[]
  greeting: string | null
  maxMinutes: number
  /** Absent: nothing that the agent uses has a price. */
  metered?: MeteredPrices | undefined
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
  /** The worker that runs the session; null: no worker does. */
  leaseOwner: string | null
  /** Of a remote agent, mkSealed has what the launcher has sealed to the agent's key: nobody here can open it. */
  isClientSealed: boolean
  /** Erased (null) once the session has ended, like the coupon. */
  mkSealed: Buffer | null
  /** The keys of a hosted agent's device in a client-sealed room, in place of mkSealed; erased like it. */
  deviceSealed: Buffer | null
  couponSealed: Buffer | null
  /** The pending launch that a summon key turned into this session. */
  pendingLaunchId: string | null
  priceCredits: number
  chargedCredits: number
  /** null: launched without one. */
  budget: Budget | null
  /** How many steps were recorded in the budget. */
  usedSteps: number
  /** Who has paid for the budget; empty before the launch. */
  budgetShares: BudgetShare[]
  /** Whose credits are held for the price; null where the launch cost nothing. */
  payer: AccountRef | null
  maxMinutes: number
  metadata: Record<string, unknown> | null
  error: SessionError | null
  /** The newest line of the room that the agent has handled; at the launch, the last line of the room. */
  answeredSeq: number
  spokeAt: string | null
  createdAt: string
  expiresAt: string
  /** Whether the time of `expiresAt` had come when the session was read. */
  isOver: boolean
  joinedAt: string | null
  stoppedAt: string | null
}

/** A session, and whose control token the request carried. */
export type HeldSession = Session & { heldBy: 'launcher' | 'agent' }

export function isActive(status: SessionStatus): boolean {
  return status === 'launching' || status === 'running' || status === 'paused' || status === 'stopping'
}

/** How a session can end. */
export type Ending = { status: 'stopped' } | { status: 'expired' } | { status: 'failed'; error: SessionError }

/** The price is due once the agent has joined; for a session that failed, once the agent has spoken. */
export function isDue(session: Pick<Session, 'joinedAt' | 'spokeAt'>, ending: Ending): boolean {
  return ending.status === 'failed' ? session.spokeAt !== null : session.joinedAt !== null
}

/** The data that every session event carries. */
export function sessionEvent({ id, agentId, room }: Pick<Session, 'id' | 'agentId' | 'room'>) {
  return { session_id: id, agent_id: agentId, room }
}

/** What a list has of a session: nothing that is sealed. */
export type ListedSession = Pick<
  Session,
  | 'id'
  | 'agentId'
  | 'room'
  | 'status'
  | 'priceCredits'
  | 'chargedCredits'
  | 'budget'
  | 'maxMinutes'
  | 'error'
  | 'createdAt'
  | 'expiresAt'
  | 'joinedAt'
  | 'stoppedAt'
>

/** A session as the holder of its control token sees it, and the tenant that launched it. */
export function statusView(session: ListedSession) {
  return {
    id: session.id,
    agent_id: session.agentId,
    room: session.room,
    status: session.status,
    price_credits: session.priceCredits,
    charged_credits: session.chargedCredits,
    ...(session.budget ? budgetView(session.budget) : {}),
    max_minutes: session.maxMinutes,
    created_at: session.createdAt,
    joined_at: session.joinedAt,
    stopped_at: session.stoppedAt,
    expires_at: session.expiresAt,
    ...(session.error ? { error: session.error } : {}),
  }
}

function budgetView({ heldCredits, usedCredits, use }: Budget) {
  return {
    budget_credits: heldCredits,
    used_credits: usedCredits,
    used_tokens: use.tokens,
    used_tool_calls: use.toolCalls,
  }
}

/** What the launcher receives, once. */
export function sessionView({ session, controlToken }: { session: Session; controlToken: string }) {
  return {
    id: session.id,
    agent_id: session.agentId,
    room: session.room,
    status: session.status,
    control_token: controlToken,
    price_credits: session.priceCredits,
    ...(session.budget ? { budget_credits: session.budget.heldCredits } : {}),
    created_at: session.createdAt,
    expires_at: session.expiresAt,
  }
}

type SessionRef = Pick<Session, 'tenantId' | 'id'>

export function sealRoomKey(vault: Vault, session: SessionRef, mk: string): Buffer {
  return vault.seal(Buffer.from(mk), sealedRef(session, 'mk_sealed'))
}

export function sealCoupon(vault: Vault, session: SessionRef, coupon: string): Buffer {
  return vault.seal(Buffer.from(coupon), sealedRef(session, 'coupon_sealed'))
}

/** The room's key; a session that has ended has none. */
export function openRoomKey(vault: Vault, session: SessionRef & Pick<Session, 'mkSealed'>): string {
  if (!session.mkSealed) throw new Error(`session ${session.id} has ended: its room key is erased`)
  return vault.open(session.mkSealed, sealedRef(session, 'mk_sealed')).toString()
}

export function openCoupon(vault: Vault, session: SessionRef & Pick<Session, 'couponSealed'>): string {
  if (!session.couponSealed) throw new Error(`session ${session.id} has ended: its coupon is erased`)
  return vault.open(session.couponSealed, sealedRef(session, 'coupon_sealed')).toString()
}

export function sealDeviceKeys(vault: Vault, session: SessionRef, { keys, owner }: HostedDevice): Buffer {
  return vault.seal(Buffer.from(`${owner ?? ''}~${keys}`), sealedRef(session, 'device_sealed'))
}

export function openDeviceKeys(vault: Vault, session: SessionRef & Pick<Session, 'deviceSealed'>): HostedDevice {
  if (!session.deviceSealed) throw new Error(`session ${session.id} has no device, or has ended`)
  const [owner = '', keys = ''] = vault.open(session.deviceSealed, sealedRef(session, 'device_sealed')).toString().split('~')
  return { keys, owner: owner === '' ? null : owner }
}

function sealedRef({ tenantId, id }: SessionRef, column: 'mk_sealed' | 'device_sealed' | 'coupon_sealed'): SealedRef {
  return { tenant: tenantId, table: 'sessions', column, row: id }
}
