import { statement, type Db, type Tx } from '#db/database.ts'
import type { Budget, BudgetShare } from './budget.ts'
import type { Ending, HeldSession, LaunchedAgent, Session, SessionError, SessionStatus } from './session.ts'

/** The channel that carries a session's id whenever the session begins or ends. */
export const sessionChannel = 'atrium_sessions'

export interface SessionRow {
  tenant_id: string
  id: string
  agent_tenant_id: string
  agent_id: string
  agent: LaunchedAgent
  room: string
  status: SessionStatus
  lease_owner: string | null
  client_sealed: boolean
  mk_sealed: Buffer | null
  device_sealed: Buffer | null
  coupon_sealed: Buffer | null
  armed_id: string | null
  price: number
  charged: number
  budget: number
  budget_holds: BudgetShare[] | null
  used: number
  used_tokens: number
  used_tool_calls: number
  used_steps: number
  payer_tenant_id: string | null
  payer_id: string | null
  max_minutes: number
  metadata: Record<string, unknown> | null
  error: SessionError | null
  answered_seq: number
  spoke_at: string | null
  created_at: string
  expires_at: string
  is_over: boolean
  joined_at: string | null
  stopped_at: string | null
}

/** A session that is paused is stored as running, with the time: migrations/0102-session-budgets.sql says why. */
export const shownStatus = `case when status = 'running' and paused_at is not null then 'paused' else status end as status`

/** For statements that do not alias the table. */
export const sessionColumns = `tenant_id, id, agent_tenant_id, agent_id, room, ${shownStatus}, lease_owner, client_sealed, mk_sealed, device_sealed, coupon_sealed, armed_id, price, charged,
  budget, budget_holds, used, used_tokens, used_tool_calls, used_steps,
  payer_tenant_id, payer_id, max_minutes, metadata, error, answered_seq, spoke_at, created_at, expires_at, joined_at, stopped_at,
  expires_at <= clock_timestamp() as is_over,
  (select v.manifest from agent_versions v where v.tenant_id = sessions.agent_tenant_id and v.agent_id = sessions.agent_id
     and v.version = sessions.agent_version) as agent`
export const activeStatus = `status in ('launching', 'running', 'stopping')`

export function toSession(row: SessionRow): Session {
  return {
    tenantId: row.tenant_id,
    id: row.id,
    agentTenantId: row.agent_tenant_id,
    agentId: row.agent_id,
    agent: row.agent,
    room: row.room,
    status: row.status,
    leaseOwner: row.lease_owner,
    isClientSealed: row.client_sealed,
    mkSealed: row.mk_sealed,
    deviceSealed: row.device_sealed,
    couponSealed: row.coupon_sealed,
    pendingLaunchId: row.armed_id,
    priceCredits: row.price,
    chargedCredits: row.charged,
    budget: toBudget(row),
    usedSteps: row.used_steps,
    budgetShares: row.budget_holds ?? [],
    payer: row.payer_tenant_id !== null && row.payer_id !== null ? { tenantId: row.payer_tenant_id, id: row.payer_id } : null,
    maxMinutes: row.max_minutes,
    metadata: row.metadata,
    error: row.error,
    answeredSeq: row.answered_seq,
    spokeAt: row.spoke_at,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    isOver: row.is_over,
    joinedAt: row.joined_at,
    stoppedAt: row.stopped_at,
  }
}

export function toBudget(row: Pick<SessionRow, 'budget' | 'used' | 'used_tokens' | 'used_tool_calls'>): Budget | null {
  if (row.budget === 0) return null
  const use = { tokens: row.used_tokens, toolCalls: row.used_tool_calls }
  return { heldCredits: row.budget, usedCredits: row.used, use }
}

/** The columns of a new row that have no default. */
interface NewSession {
  tenantId: string
  id: string
  agentTenantId: string
  agentId: string
  agent: LaunchedAgent
  room: string
  status: 'armed' | 'launching'
  isClientSealed: boolean
  mkSealed: Buffer | null
  deviceSealed: Buffer | null
  couponSealed: Buffer
  controlHash: Buffer | null
  summonHash: Buffer | null
  pendingLaunchId: string | null
  priceCredits: number
  /** 0: no budget. */
  budgetCredits: number
  budgetShares: BudgetShare[]
  payer: Session['payer']
  maxMinutes: number
  metadata: Record<string, unknown> | null
  answeredSeq: number
  lifetimeSeconds: number
}

const insertStatement = statement<SessionRow>(
  'sessions-insert',
  // Inserts nothing where the agent is already in the room; waits for a concurrent launch to commit or roll back. The
  // session ends by the clock of the database, because those of the processes may differ.
  `insert into sessions (tenant_id, id, agent_tenant_id, agent_id, agent_version, is_remote, room, status, mk_sealed, coupon_sealed,
     control_hash, summon_hash, armed_id, price, payer_tenant_id, payer_id, max_minutes, metadata, expires_at, answered_seq,
     budget, budget_holds, client_sealed, device_sealed)
   values ($1, $2, $3, $4, sha256(convert_to($5::text, 'UTF8')), $20, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, now() + make_interval(secs => $18), $19, $21, $22, $23, $24)
   on conflict (room, agent_id) where ${activeStatus} do nothing
   returning ${sessionColumns}`,
)

/**
 * undefined: the agent is already in the room. insertAgentVersion stores the agent's version in the same transaction.
 */
export async function insertSession(tx: Tx, session: NewSession): Promise<Session | undefined> {
  const [row] = await tx.query(insertStatement, [
    session.tenantId,
    session.id,
    session.agentTenantId,
    session.agentId,
    JSON.stringify(session.agent),
    session.room,
    session.status,
    session.mkSealed,
    session.couponSealed,
    session.controlHash,
    session.summonHash,
    session.pendingLaunchId,
    session.priceCredits,
    session.payer?.tenantId ?? null,
    session.payer?.id ?? null,
    session.maxMinutes,
    session.metadata && JSON.stringify(session.metadata),
    session.lifetimeSeconds,
    session.answeredSeq,
    session.agent.endpoint !== null,
    session.budgetCredits,
    session.budgetShares.length > 0 ? JSON.stringify(session.budgetShares) : null,
    session.isClientSealed,
    session.deviceSealed,
  ])
  if (row?.status === 'launching') tx.wake(sessionChannel, row.id)
  // The agent's version may not be stored yet, so that the row has no manifest.
  return row && { ...toSession(row), agent: session.agent }
}

const insertVersionStatement = statement<never>(
  'agent-versions-insert',
  `insert into agent_versions (tenant_id, agent_id, version, manifest)
   values ($1, $2, sha256(convert_to($3::text, 'UTF8')), $3::text::json)
   on conflict on constraint agent_versions_pkey do nothing`,
)

/**
 * Stores the agent as it is at the launch, once for each version. The last step of a launch: a concurrent launch of
 * the same new version waits from here on, and must not wait for a launch that is not paid.
 */
export async function insertAgentVersion(tx: Tx, { agentTenantId, agentId, agent }: Session): Promise<void> {
  await tx.query(insertVersionStatement, [agentTenantId, agentId, JSON.stringify(agent)])
}

const activeStatement = statement<{ count: number }>(
  'sessions-count-active',
  // Counts no further than the quota.
  `select count(*)::int as count from (select from sessions where tenant_id = $1 and ${activeStatus} limit $2) as active`,
)

const pendingStatement = statement<{ count: number }>(
  'sessions-count-pending',
  `select count(*)::int as count from (select from sessions where tenant_id = $1 and status = 'armed' limit $2) as pending`,
)

/** How many active sessions, or pending launches, the tenant has; counts up to `atMost`. */
export async function countSessions(tx: Tx, tenantId: string, which: 'active' | 'armed', atMost: number): Promise<number> {
  const [row] = await tx.query(which === 'armed' ? pendingStatement : activeStatement, [tenantId, atMost])
  return row?.count ?? 0
}

const presentStatement = statement<{ id: string }>(
  'sessions-present',
  `select id from sessions where room = $1 and agent_id = $2 and ${activeStatus}`,
)

/** The id of the session that has the agent in the room now. Rooms belong to no tenant. */
export async function findPresent(db: Db, room: string, agentId: string): Promise<string | undefined> {
  return (await db.query(presentStatement, [room, agentId]))[0]?.id
}

const byTokenStatement = statement<SessionRow & { held_by: HeldSession['heldBy'] }>(
  'sessions-by-control-token',
  `select 'launcher' as held_by, ${sessionColumns} from sessions where control_hash = $1
   union all
   select 'agent', ${sessionColumns} from sessions where agent_control_hash = $1`,
)

/** The session of a control token: the launcher's token, or the one that its remote agent received. */
export async function findByControlToken(db: Db, tokenHash: Buffer): Promise<HeldSession | undefined> {
  const [row] = await db.query(byTokenStatement, [tokenHash])
  return row && { ...toSession(row), heldBy: row.held_by }
}

const bySummonStatement = statement<SessionRow>(
  'sessions-by-summon-key',
  `select ${sessionColumns} from sessions where summon_hash = $1`,
)

export async function findBySummonKey(db: Db, keyHash: Buffer): Promise<Session | undefined> {
  const [row] = await db.query(bySummonStatement, [keyHash])
  return row && toSession(row)
}

const lockStatement = statement<SessionRow>(
  'sessions-lock',
  `select ${sessionColumns} from sessions where tenant_id = $1 and id = $2 for no key update`,
)

/** Reads and locks the row for a change that depends on it; concurrent changes wait. */
export async function findSessionForUpdate(tx: Tx, tenantId: string, id: string): Promise<Session | undefined> {
  const [row] = await tx.query(lockStatement, [tenantId, id])
  return row && toSession(row)
}

const endStatement = statement<SessionRow>(
  'sessions-end',
  `update sessions
   set status = $3, error = $4, charged = $5, stopped_at = now(), mk_sealed = null, device_sealed = null, coupon_sealed = null, lease_owner = null,
     lease_until = null, notice_due = agent_control_hash is not null
   where tenant_id = $1 and id = $2
   returning ${sessionColumns}`,
)

/** Ends the session and erases its secrets. */
export async function updateEnded(
  tx: Tx,
  { tenantId, id }: Session,
  ending: Ending,
  chargedCredits: number,
): Promise<Session | undefined> {
  const error = ending.status === 'failed' ? JSON.stringify(ending.error) : null
  const [row] = await tx.query(endStatement, [tenantId, id, ending.status, error, chargedCredits])
  if (row) tx.wake(sessionChannel, id)
  return row && toSession(row)
}

const joinedStatement = statement<SessionRow>(
  'sessions-joined',
  `update sessions set status = 'running', joined_at = coalesce(joined_at, now())
   where tenant_id = $1 and id = $2 and status in ('launching', 'running')
   returning ${sessionColumns}`,
)

/** undefined: the session has ended. */
export async function updateJoined(tx: Tx, tenantId: string, id: string): Promise<Session | undefined> {
  const [row] = await tx.query(joinedStatement, [tenantId, id])
  return row && toSession(row)
}
