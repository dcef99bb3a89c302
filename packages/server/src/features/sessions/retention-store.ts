import { statement, type Database, type Db, type Tx } from '#db/database.ts'

/**
 * Deletes up to `limit` sessions that ended that many days ago, and the agent versions that no session refers to any
 * more. Returns how many sessions it deleted.
 */
export function forgetSessions(db: Database, keptDays: number, limit: number): Promise<number> {
  return db.transaction(async (tx) => {
    const { count, versions } = await deleteEnded(tx, keptDays, limit)
    if (versions.length > 0) {
      // The lock waits for a launch that uses one of the versions, so that the next statement sees its session.
      await lockVersions(tx, versions)
      await deleteUnused(tx, versions)
    }
    return count
  })
}

/** A version of an agent: see migrations/0021-agent-versions.sql. */
interface AgentVersion {
  tenantId: string
  agentId: string
  version: Buffer
}

interface EndedRow {
  agent_tenant_id: string
  agent_id: string
  agent_version: Buffer
  sessions: number
}

const deleteEndedStatement = statement<EndedRow>(
  'sessions-delete-ended',
  // skip locked: a concurrent sweep takes other rows.
  `with due as (
     select tenant_id, id from sessions
     where status in ('stopped', 'failed', 'expired') and stopped_at <= now() - make_interval(days => $1)
     order by stopped_at
     limit $2
     for update skip locked
   ), gone as (
     delete from sessions s using due d where s.tenant_id = d.tenant_id and s.id = d.id
     returning s.agent_tenant_id, s.agent_id, s.agent_version
   )
   select agent_tenant_id, agent_id, agent_version, count(*)::int as sessions from gone group by 1, 2, 3`,
)

/** Deletes the oldest first. Returns how many, and the agent versions that they ran. */
async function deleteEnded(tx: Tx, keptDays: number, limit: number): Promise<{ count: number; versions: AgentVersion[] }> {
  const rows = await tx.query(deleteEndedStatement, [keptDays, limit])
  const versions = rows.map((row) => ({ tenantId: row.agent_tenant_id, agentId: row.agent_id, version: row.agent_version }))
  return { count: rows.reduce((sum, { sessions }) => sum + sessions, 0), versions }
}

const among = `(v.tenant_id, v.agent_id, v.version) in (select * from unnest($1::text[], $2::text[], $3::bytea[]))`

const lockStatement = statement<never>(
  'agent-versions-lock',
  `select from agent_versions v where ${among} order by v.tenant_id, v.agent_id, v.version for update`,
)

/** Keeps launches from using these versions until the transaction ends; waits for launches that already use one. */
async function lockVersions(tx: Tx, versions: AgentVersion[]): Promise<void> {
  await tx.query(lockStatement, arraysOf(versions))
}

const deleteUnusedStatement = statement<never>(
  'agent-versions-delete-unused',
  `delete from agent_versions v
   where ${among} and not exists (
     select from sessions s
     where s.agent_tenant_id = v.tenant_id and s.agent_id = v.agent_id and s.agent_version = v.version
   )`,
)

async function deleteUnused(tx: Tx, versions: AgentVersion[]): Promise<void> {
  await tx.query(deleteUnusedStatement, arraysOf(versions))
}

function arraysOf(versions: AgentVersion[]): unknown[] {
  return [
    versions.map(({ tenantId }) => tenantId),
    versions.map(({ agentId }) => agentId),
    versions.map(({ version }) => version),
  ]
}

const unendedStatement = statement<{ tenant_id: string; id: string }>(
  'sessions-unended-of-tenant',
  `select tenant_id, id from sessions
   where (tenant_id = $1 or agent_tenant_id = $1) and status in ('armed', 'launching', 'running', 'stopping')
     and id <> all ($2::text[])
   limit $3`,
)

/** Sessions and pending launches that the tenant launched, or whose agent it owns, but for some. */
export async function listUnendedOfTenant(db: Db, tenantId: string, { but, limit }: { but: string[]; limit: number }) {
  const rows = await db.query(unendedStatement, [tenantId, but, limit])
  return rows.map(({ tenant_id: tenantId, id }) => ({ tenantId, id }))
}
