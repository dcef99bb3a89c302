import type { MemberRole } from '@atrium/contract/roles'
import { statement, type Db, type Tx } from '#db/database.ts'
import { rolesHeld, type ResolvedKey, type Role } from '#features/keys/key.ts'
import { type ConsoleSession, idleSeconds } from './session.ts'

interface Row {
  hash: string
  id: string
  csrf_hash: Buffer
  created_at: string
  expires_at: string
  ends_in_ms: number
  tenant_id: string | null
  tenant_name: string | null
  tenant_status: ResolvedKey['tenantStatus'] | null
  tenant_roles: Role[] | null
  rate_percent: number
  member_id: string | null
  email: string | null
  name: string | null
  role: MemberRole | null
}

const resolveStatement = statement<Row>(
  'console-sessions-resolve',
  // Joins the tables of the features tenants and limits, and returns a relative end, as the look-up of a key does.
  `select encode(s.token_hash, 'base64') as hash, s.id, s.csrf_hash, s.created_at, s.expires_at,
     (extract(epoch from least(s.expires_at, s.last_used_at + make_interval(secs => $2)) - now()) * 1000)::float8 as ends_in_ms,
     s.tenant_id, t.name as tenant_name, t.status as tenant_status, t.roles as tenant_roles,
     coalesce(l.rate_percent, 100) as rate_percent, s.member_id, m.email, m.name, m.role
   from console_sessions s
   left join tenants t on t.id = s.tenant_id
   left join tenant_limits l on l.tenant_id = s.tenant_id
   left join members m on m.tenant_id = s.tenant_id and m.id = s.member_id
   where s.token_hash = any($1) and least(s.expires_at, s.last_used_at + make_interval(secs => $2)) > now()`,
)

/** Returns one entry for each hash (base64), in order; undefined: there is no such session, or it has ended. */
export async function resolveSessions(db: Db, hashes: string[]): Promise<(ConsoleSession | undefined)[]> {
  const rows = await db.query(resolveStatement, [hashes.map((hash) => Buffer.from(hash, 'base64')), idleSeconds])
  const byHash = new Map(rows.map((row) => [row.hash, toSession(row)]))
  return hashes.map((hash) => byHash.get(hash))
}

function toSession(row: Row): ConsoleSession {
  // Without a member, it is the session of a link that the operator made.
  const role = row.role ?? 'owner'
  const member = row.member_id === null ? undefined : { id: row.member_id, email: row.email ?? '', name: row.name, role }
  return {
    id: row.id,
    csrfHash: row.csrf_hash,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    tenant: row.tenant_id === null ? undefined : { id: row.tenant_id, name: row.tenant_name ?? '' },
    member,
    role,
    key: keyOf(row),
  }
}

function keyOf(row: Row): ResolvedKey | undefined {
  if (row.tenant_id === null || row.tenant_status === null) return undefined
  return {
    id: row.id,
    kind: 'secret',
    tenantId: row.tenant_id,
    tenantStatus: row.tenant_status,
    roles: rolesHeld(row.tenant_roles),
    endsAtMs: Date.now() + row.ends_in_ms,
    ratePercent: row.rate_percent,
    // What members do in the console is not traffic of the tenant's app.
    logsRequests: false,
  }
}

const useStatement = statement<never>(
  'console-sessions-use',
  // skip locked: a request does not wait because the session ends at the same time.
  `update console_sessions set last_used_at = now() where id in (
     select id from console_sessions where id = $1 and last_used_at < now() - interval '1 minute' for no key update skip locked
   )`,
)

/** Records a use, at most once a minute. */
export async function recordSessionUse(db: Db, id: string): Promise<void> {
  await db.query(useStatement, [id])
}

export interface NewSession {
  id: string
  tokenHash: Buffer
  csrfHash: Buffer
  tenantId: string | undefined
  memberId: string | undefined
  address: string
  userAgent: string | undefined
  lifetimeSeconds: number
}

const insertStatement = statement<never>(
  'console-sessions-insert',
  `insert into console_sessions (id, token_hash, csrf_hash, tenant_id, member_id, address, user_agent, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7, now() + make_interval(secs => $8))`,
)

export async function insertSession(tx: Tx, session: NewSession): Promise<void> {
  const { id, tokenHash, csrfHash, tenantId, memberId, address, userAgent, lifetimeSeconds } = session
  await tx.query(insertStatement, [
    id,
    tokenHash,
    csrfHash,
    tenantId ?? null,
    memberId ?? null,
    address,
    userAgent ?? null,
    lifetimeSeconds,
  ])
}

const deleteStatement = statement<never>('console-sessions-delete', 'delete from console_sessions where id = $1')

export async function deleteSession(tx: Tx, id: string): Promise<void> {
  await tx.query(deleteStatement, [id])
}

const replaceStatement = statement<{ id: string; tenant_id: string | null; member_id: string | null }>(
  'console-sessions-replace',
  'delete from console_sessions where token_hash = any($1) returning id, tenant_id, member_id',
)

/** Ends the sessions of these tokens. Returns those that there were. */
export async function deleteSessionsByToken(tx: Tx, tokenHashes: readonly Buffer[]): Promise<(SessionHolder & { id: string })[]> {
  const rows = await tx.query(replaceStatement, [tokenHashes])
  return rows.map((row) => ({ id: row.id, tenantId: row.tenant_id ?? undefined, memberId: row.member_id ?? undefined }))
}

/** Whose sessions: of a member, of the owners without a member row, or (no tenant) of the operators. */
export interface SessionHolder {
  tenantId: string | undefined
  memberId: string | undefined
}

const ofHolder = 'tenant_id is not distinct from $1 and member_id is not distinct from $2'
const deleteAllStatement = statement<{ count: number }>(
  'console-sessions-delete-all',
  `with gone as (delete from console_sessions where ${ofHolder} returning 1) select count(*)::int as count from gone`,
  { writes: true },
)

/** Ends all sessions of the holder. Returns how many there were. */
export async function deleteSessionsOf(tx: Tx, { tenantId, memberId }: SessionHolder): Promise<number> {
  return (await tx.query(deleteAllStatement, [tenantId ?? null, memberId ?? null]))[0]?.count ?? 0
}

const deleteOfTenantStatement = statement<never>(
  'console-sessions-delete-of-tenant',
  'delete from console_sessions where tenant_id = $1',
)

/** Ends the sessions of all members of the tenant, and of the operator's links to it. */
export async function deleteSessionsOfTenant(tx: Tx, tenantId: string): Promise<void> {
  await tx.query(deleteOfTenantStatement, [tenantId])
}

export interface ListedSession {
  id: string
  createdAt: string
  lastUsedAt: string
  expiresAt: string
  address: string
  userAgent: string | null
}

interface ListedRow {
  id: string
  created_at: string
  last_used_at: string
  expires_at: string
  address: string
  user_agent: string | null
}

const listStatement = statement<ListedRow>(
  'console-sessions-list',
  `select id, created_at, last_used_at, expires_at, address, user_agent from console_sessions
   where ${ofHolder} and least(expires_at, last_used_at + make_interval(secs => $3)) > now()
   order by last_used_at desc, id limit 100`,
)

/** The sessions that the holder can use now, the last used first. */
export async function listSessionsOf(db: Db, { tenantId, memberId }: SessionHolder): Promise<ListedSession[]> {
  const rows = await db.query(listStatement, [tenantId ?? null, memberId ?? null, idleSeconds])
  return rows.map((row) => ({
    id: row.id,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    address: row.address,
    userAgent: row.user_agent,
  }))
}

const dueStatement = statement<{ due: boolean }>(
  'console-due',
  `select exists (select from console_sessions where last_used_at < now() - make_interval(secs => $1))
     or exists (select from console_links where expires_at < now()) as due`,
)
const sweepSessionsStatement = statement<never>(
  'console-sessions-sweep',
  `delete from console_sessions where id in (
     select id from console_sessions where last_used_at < now() - make_interval(secs => $1) limit $2 for update skip locked
   )`,
)
const sweepLinksStatement = statement<never>(
  'console-links-sweep',
  `delete from console_links where secret_hash in (
     select secret_hash from console_links where expires_at < now() limit $1 for update skip locked
   )`,
)

/**
 * Removes up to `limit` sessions that are not used any more, and as many expired links. A session that reached its
 * absolute end cannot be used, so it is removed 12 hours later at the latest.
 */
export async function deleteEnded(db: Db, limit: number): Promise<number> {
  const [found] = await db.query(dueStatement, [idleSeconds])
  if (!found?.due) return 0
  await db.query(sweepSessionsStatement, [idleSeconds, limit])
  await db.query(sweepLinksStatement, [limit])
  return 1
}
