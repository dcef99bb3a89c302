import { statement, type Db, type Tx } from '#db/database.ts'
import { likePattern } from '#db/like-pattern.ts'
import type { TimePosition } from '#http/cursor.ts'
import { rolesHeld, type Role } from '../keys/key.ts'
import { type DeletionTimes, developmentName, systemTenantId, type Tenant } from './tenant.ts'

interface Row {
  id: string
  name: string
  email: string | null
  roles: Role[] | null
  status: Tenant['status']
  created_at: string
}

const columns = 'id, name, email, roles, status, created_at'
const notSystem = `id <> '${systemTenantId}'`

function toTenant({ roles, created_at: createdAt, ...same }: Row): Tenant {
  return { ...same, roles: rolesHeld(roles), createdAt }
}

const insertStatement = statement<Row>(
  'tenants-insert',
  `insert into tenants (id, name, email, roles) values ($1, $2, $3, $4) returning ${columns}`,
)

export interface NewTenant {
  name: string
  email: string | null
  /** The roles to record; null: none, which means both. */
  roles: Role[] | null
}

export async function insertTenant(tx: Tx, id: string, { name, email, roles }: NewTenant): Promise<Tenant> {
  const [row] = await tx.query(insertStatement, [id, name, email, roles])
  if (!row) throw new Error('the insert of a tenant returned no row')
  return toTenant(row)
}

const insertSystemStatement = statement<never>(
  'tenants-insert-system',
  `insert into tenants (id, name) values ('${systemTenantId}', 'System') on conflict (id) do nothing`,
)

/** Makes the system tenant unless it exists. */
export async function insertSystemTenant(tx: Tx): Promise<void> {
  await tx.query(insertSystemStatement, [])
}

const findStatement = statement<Row>('tenants-find', `select ${columns} from tenants where id = $1 and ${notSystem}`)

export async function findTenant(db: Db, id: string): Promise<Tenant | undefined> {
  const [row] = await db.query(findStatement, [id])
  return row && toTenant(row)
}

const activeStatement = statement<{ active: boolean }>(
  'tenants-active',
  `select status = 'active' as active from tenants where id = $1 and ${notSystem}`,
)

/** Whether the tenant exists and is not suspended. */
export async function isTenantActive(db: Db, id: string): Promise<boolean> {
  return (await db.query(activeStatement, [id]))[0]?.active ?? false
}

const suspendedOfStatement = statement<{ id: string }>(
  'tenants-suspended-of',
  `select id from tenants where id = any($1::text[]) and status = 'suspended'`,
)

/** Those of the tenants that are suspended or deleted. */
export async function listSuspendedOf(db: Db, ids: string[]): Promise<string[]> {
  if (ids.length === 0) return []
  return (await db.query(suspendedOfStatement, [ids])).map(({ id }) => id)
}

interface ListedRow extends Row {
  deletion_due_at: string | null
  deletion_started_at: string | null
  deletion_finished_at: string | null
}

/** A tenant with its deletion, if one is scheduled, running or done. */
export interface ListedTenant extends Tenant {
  deletion: (DeletionTimes & { dueAt: string }) | null
}

const listed = `select ${columns}, d.due_at as deletion_due_at, d.started_at as deletion_started_at, d.finished_at as deletion_finished_at
   from tenants left join tenant_deletions d on d.tenant_id = id
   where ($4::text is null or name ilike $4 or email ilike $4 or id like $5) and ($6::text is null or status = $6) and ${notSystem}`

// Times are shown, and cursors made, in whole milliseconds.
const listStatement = statement<ListedRow>(
  'tenants-list',
  `${listed} and (date_trunc('milliseconds', created_at), id) > ($1::timestamptz, $2)
   order by date_trunc('milliseconds', created_at), id limit $3`,
)
const listNewestStatement = statement<ListedRow>(
  'tenants-list-newest',
  `${listed} and (date_trunc('milliseconds', created_at), id) < ($1::timestamptz, $2)
   order by date_trunc('milliseconds', created_at) desc, id desc limit $3`,
)

export interface TenantFilter {
  /** A part of the name or e-mail address, or the beginning of the id. */
  q?: string | undefined
  status?: Tenant['status'] | undefined
}

/** The tenants after that position in the order. */
export async function listTenants(
  db: Db,
  { q, status }: TenantFilter,
  order: 'oldest' | 'newest',
  after: TimePosition | undefined,
  limit: number,
): Promise<ListedTenant[]> {
  const [list, start] = order === 'oldest' ? [listStatement, '-infinity'] : [listNewestStatement, 'infinity']
  const text = q === undefined ? null : likePattern(q)
  const filters = [text === null ? null : `%${text}%`, text === null ? null : `${text}%`, status ?? null]
  const rows = await db.query(list, [after?.createdAt ?? start, after?.id ?? '', limit, ...filters])
  return rows.map(toListedTenant)
}

const findListedStatement = statement<ListedRow>(
  'tenants-find-listed',
  `select ${columns}, d.due_at as deletion_due_at, d.started_at as deletion_started_at, d.finished_at as deletion_finished_at
   from tenants left join tenant_deletions d on d.tenant_id = id where id = $1 and ${notSystem}`,
)

/** The tenant with its deletion. */
export async function findListedTenant(db: Db, id: string): Promise<ListedTenant | undefined> {
  const [row] = await db.query(findListedStatement, [id])
  return row && toListedTenant(row)
}

function toListedTenant(listed: ListedRow): ListedTenant {
  const { deletion_due_at: dueAt, deletion_started_at: startedAt, deletion_finished_at: finishedAt, ...row } = listed
  return { ...toTenant(row), deletion: dueAt === null ? null : { dueAt, startedAt, finishedAt } }
}

const updateStatement = statement<never>('tenants-update', 'update tenants set name = $2, email = $3, roles = $4 where id = $1')

/** Replaces name, e-mail address and roles. */
export async function updateTenantDetails(tx: Tx, id: string, { name, email, roles }: NewTenant): Promise<void> {
  await tx.query(updateStatement, [id, name, email, roles])
}

const lockStatement = statement<Row>(
  'tenants-lock',
  `select ${columns} from tenants where id = $1 and ${notSystem} for no key update`,
)

/** Locks the tenant for a change that depends on its current values. */
export async function findTenantForUpdate(tx: Tx, id: string): Promise<Tenant | undefined> {
  const [row] = await tx.query(lockStatement, [id])
  return row && toTenant(row)
}

const statusStatement = statement<never>('tenants-status', 'update tenants set status = $2 where id = $1')

export async function updateTenantStatus(tx: Tx, id: string, status: Tenant['status']): Promise<void> {
  await tx.query(statusStatement, [id, status])
}

const suspendedStatement = statement<{ id: string }>(
  'tenants-suspended',
  `select id from tenants where id = any($1) and status = 'suspended'`,
)

/** The ids of those tenants that are suspended. */
export async function listSuspendedTenants(db: Db, ids: string[]): Promise<Set<string>> {
  return new Set((await db.query(suspendedStatement, [ids])).map(({ id }) => id))
}

const knownStatement = statement<{ id: string }>('tenants-known', `select id from tenants where id = any($1) and ${notSystem}`)

/** The ids of those tenants that exist. */
export async function listKnownTenants(db: Db, ids: string[]): Promise<Set<string>> {
  return new Set((await db.query(knownStatement, [ids])).map(({ id }) => id))
}

const logsStatement = statement<{ logs_requests: boolean }>('tenants-logs', 'select logs_requests from tenants where id = $1')
const setLogsStatement = statement<never>('tenants-set-logs', 'update tenants set logs_requests = $2 where id = $1')

/** Whether the tenant's requests are logged. */
export async function findLogsRequests(db: Db, id: string): Promise<boolean> {
  return (await db.query(logsStatement, [id]))[0]?.logs_requests ?? false
}

export async function updateLogsRequests(tx: Tx, id: string, logsRequests: boolean): Promise<void> {
  await tx.query(setLogsStatement, [id, logsRequests])
}

const revokesStatement = statement<{ revokes_leaked_keys: boolean }>(
  'tenants-revokes-leaked',
  'select revokes_leaked_keys from tenants where id = $1',
)
const setRevokesStatement = statement<never>(
  'tenants-set-revokes-leaked',
  'update tenants set revokes_leaked_keys = $2 where id = $1',
)

/** Whether a key of the tenant that was found in public is revoked at once. */
export async function findRevokesLeakedKeys(db: Db, id: string): Promise<boolean> {
  return (await db.query(revokesStatement, [id]))[0]?.revokes_leaked_keys ?? true
}

export async function updateRevokesLeakedKeys(tx: Tx, id: string, revokesLeakedKeys: boolean): Promise<void> {
  await tx.query(setRevokesStatement, [id, revokesLeakedKeys])
}

const anyStatement = statement<{ any: boolean }>('tenants-any', `select exists (select from tenants where ${notSystem}) as any`)

export async function hasTenants(db: Db): Promise<boolean> {
  const [row] = await db.query(anyStatement, [])
  return row?.any ?? false
}

const developmentStatement = statement<{ id: string }>(
  'tenants-development',
  `select id from tenants where name = $1 and email is null and status = 'active' order by created_at, id limit 1`,
)

/** The id of the active development tenant, if there is one. */
export async function findDevelopmentTenant(db: Db): Promise<string | undefined> {
  const [row] = await db.query(developmentStatement, [developmentName])
  return row?.id
}

const namesStatement = statement<{ id: string; name: string }>('tenants-names', 'select id, name from tenants where id = any($1)')

/** The names of those tenants, by id. */
export async function listTenantNames(db: Db, ids: string[]): Promise<Map<string, string>> {
  return new Map((await db.query(namesStatement, [ids])).map(({ id, name }) => [id, name]))
}
