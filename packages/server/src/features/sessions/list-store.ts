import { statement, type Db } from '#db/database.ts'
import { maxScannedRows, scannedPage, type ScannedRow } from '#http/scanned-page.ts'
import type { TimeRange } from '#http/time-page.ts'
import { activeStatus, sessionColumns, type SessionRow, shownStatus, toBudget, toSession } from './store.ts'
import type { ListedSession, Session, SessionStatus } from './session.ts'

/** A session in a list: without sealed values and metadata. */
const names = (status: string) =>
  `id, agent_id, room, ${status}, price, charged, budget, used, used_tokens, used_tool_calls, max_minutes, error, created_at, expires_at,
  joined_at, stopped_at`

interface Row extends ScannedRow {
  id: string
  agent_id: string
  room: string
  status: SessionStatus
  price: number
  charged: number
  budget: number
  used: number
  used_tokens: number
  used_tool_calls: number
  max_minutes: number
  error: Session['error']
  created_at: string
  expires_at: string
  joined_at: string | null
  stopped_at: string | null
}

const listStatement = statement<Row>(
  'sessions-of-tenant',
  `select ${names('status')}, matches, is_end from (
     select s.*, row_number() over (order by created_at desc, id desc) = $7 as is_end,
       ($5::text is null or status = $5) and ($6::text is null or agent_id = $6) as matches
     from (
       select ${names(shownStatus)} from sessions
       where tenant_id = $1 and (created_at, id) < ($2::timestamptz, $3) and created_at >= $4::timestamptz
       order by created_at desc, id desc limit $7
     ) s
   ) s
   where matches or is_end
   order by created_at desc, id desc limit $8`,
)

interface ListQuery {
  status?: SessionStatus | undefined
  agentId?: string | undefined
  range: TimeRange
  limit: number
}

/** `last` is the position from which the next page continues; undefined at the end of the list. */
export async function listSessions(
  db: Db,
  tenantId: string,
  { status, agentId, range, limit }: ListQuery,
): Promise<{ sessions: ListedSession[]; last: ListedSession | undefined }> {
  const { after, from } = range
  const values = [tenantId, after.createdAt, after.id, from, status ?? null, agentId ?? null, maxScannedRows, limit + 1]
  const { page, last } = scannedPage(await db.query(listStatement, values), limit)
  return { sessions: page.map(toListed), last: last && toListed(last) }
}

function toListed(row: Row): ListedSession {
  return {
    id: row.id,
    agentId: row.agent_id,
    room: row.room,
    status: row.status,
    priceCredits: row.price,
    chargedCredits: row.charged,
    budget: toBudget(row),
    maxMinutes: row.max_minutes,
    error: row.error,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    joinedAt: row.joined_at,
    stoppedAt: row.stopped_at,
  }
}

const ofHeldAgentStatement = statement<SessionRow>(
  'sessions-of-held-agent',
  // A suspended agent cannot be launched, so these sessions began before the suspension. After it is lifted, this lists
  // none: new sessions must not be ended.
  `select ${sessionColumns} from sessions where agent_tenant_id = $1 and agent_id = $2 and ${activeStatus} and id <> all ($3::text[])
     and exists (select from agents a where a.tenant_id = $1 and a.id = $2 and a.status_before is not null)
   order by created_at limit $4`,
)

/**
 * The active sessions of an agent but for some, whichever tenant launched them; the oldest first. None if the agent is
 * no longer suspended by an operator.
 */
export async function listOfHeldAgent(
  db: Db,
  agentTenantId: string,
  agentId: string,
  { but, limit }: { but: string[]; limit: number },
): Promise<Session[]> {
  return (await db.query(ofHeldAgentStatement, [agentTenantId, agentId, but, limit])).map(toSession)
}

const overdueStatement = statement<SessionRow>(
  'sessions-overdue',
  // A remote agent has 30 seconds to report that it joined, in which the database could be reached: see noteContact.
  `select ${sessionColumns} from sessions
   where ${activeStatus} and id <> all ($2::text[]) and (expires_at <= now() or (status = 'launching' and is_remote
     and created_at <= now() - interval '30 seconds'
     and (select since from database_contact) <= now() - interval '30 seconds'))
   union all
   select ${sessionColumns} from sessions where status = 'armed' and expires_at <= now() and id <> all ($2::text[])
   limit $1`,
)

interface Some {
  /** The ids of those to leave out. */
  but: string[]
  limit: number
}

/** The sessions and pending launches whose time is up, and the sessions whose remote agent never joined. */
export async function listOverdue(db: Db, { but, limit }: Some): Promise<Session[]> {
  return (await db.query(overdueStatement, [limit, but])).map(toSession)
}

/**
 * Each tenant with active sessions is found by one step in an index, because there may be many sessions, and many
 * tenants that are suspended or deleted. Before PostgreSQL 18, a step also reads the index entries of the tenant's
 * pending launches, of which there are 10,000 at most.
 */
const ofSuspended = (column: 'tenant_id' | 'agent_tenant_id', condition: string) => `(
  with recursive present (tenant_id) as (
    (select ${column} from sessions where ${activeStatus} order by ${column} limit 1)
    union all
    select (select ${column} from sessions where ${activeStatus} and ${column} > p.tenant_id order by ${column} limit 1)
    from present p where p.tenant_id is not null
  )
  select s.* from present p join tenants t on t.id = p.tenant_id
  cross join lateral (
    select ${sessionColumns} from sessions where ${activeStatus} and ${column} = t.id and ${condition} limit $1
  ) s
  where t.status = 'suspended' limit $1)`

const suspendedStatement = statement<SessionRow>(
  'sessions-of-suspended',
  // Those that a tenant launched with its own agent are in the first part. A session whose agent is suspended too may be
  // there twice.
  `select * from ${ofSuspended('tenant_id', 'id <> all ($2::text[])')} launched
   union all
   select * from ${ofSuspended('agent_tenant_id', 'agent_tenant_id <> tenant_id and id <> all ($2::text[])')} lent
   union all
   select s.* from agents a cross join lateral (
     select ${sessionColumns} from sessions
     where ${activeStatus} and agent_tenant_id = a.tenant_id and agent_id = a.id and id <> all ($2::text[]) limit $1
   ) s
   where a.status = 'suspended'
   limit $1`,
)

/**
 * Active sessions that a suspended tenant launched, whose agent it owns, or whose agent is suspended. Pending launches
 * wait until the tenant or the agent is active again.
 */
export async function listOfSuspended(db: Db, { but, limit }: Some): Promise<Session[]> {
  return (await db.query(suspendedStatement, [limit, but])).map(toSession)
}
