import { statement, type Db, type Tx } from '#db/database.ts'
import type { TimePosition } from '#http/cursor.ts'
import { rolesHeld, type Role } from '../keys/key.ts'
import { developmentName, type Tenant } from './tenant.ts'

interface Row {
  id: string
  name: string
  email: string | null
  roles: Role[] | null
  status: Tenant['status']
  created_at: string
}

const columns = 'id, name, email, roles, status, created_at'

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

const findStatement = statement<Row>('tenants-find', `select ${columns} from tenants where id = $1`)

export async function findTenant(db: Db, id: string): Promise<Tenant | undefined> {
  const [row] = await db.query(findStatement, [id])
  return row && toTenant(row)
}

const listStatement = statement<Row>(
  'tenants-list',
  // Times are shown, and cursors made, in whole milliseconds.
  `select ${columns} from tenants where (date_trunc('milliseconds', created_at), id) > ($1::timestamptz, $2)
   order by date_trunc('milliseconds', created_at), id limit $3`,
)

/** Oldest first, from behind that position on. */
export async function listTenants(db: Db, after: TimePosition | undefined, limit: number): Promise<Tenant[]> {
  return (await db.query(listStatement, [after?.createdAt ?? '-infinity', after?.id ?? '', limit])).map(toTenant)
}

const lockStatement = statement<Row>('tenants-lock', `select ${columns} from tenants where id = $1 for no key update`)

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

const knownStatement = statement<{ id: string }>('tenants-known', 'select id from tenants where id = any($1)')

/** The ids of those tenants that exist. */
export async function listKnownTenants(db: Db, ids: string[]): Promise<Set<string>> {
  return new Set((await db.query(knownStatement, [ids])).map(({ id }) => id))
}

const anyStatement = statement<{ any: boolean }>('tenants-any', 'select exists (select from tenants) as any')

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

const insertInviteStatement = statement<never>(
  'invites-insert',
  'insert into invites (code_hash, uses_left, expires_at) values ($1, $2, $3)',
)

export async function insertInvite(tx: Tx, codeHash: Buffer, uses: number, expiresAt: string | null): Promise<void> {
  await tx.query(insertInviteStatement, [codeHash, uses, expiresAt])
}

const useInviteStatement = statement<{ uses_left: number }>(
  'invites-use',
  `update invites set uses_left = uses_left - 1
   where code_hash = $1 and uses_left > 0 and (expires_at is null or expires_at > now())
   returning uses_left`,
)

/** Uses the invite once. Returns false if it has no use left, has expired, or does not exist. */
export async function useInvite(tx: Tx, codeHash: Buffer): Promise<boolean> {
  return (await tx.query(useInviteStatement, [codeHash])).length === 1
}
