import { statement, type Db, type Tx } from '#db/database.ts'
import { rolesHeld, type Role } from '../keys/role.ts'
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

/** `roles` are those to be recorded; null: none, which means both. */
export async function insertTenant(
  tx: Tx,
  tenant: { id: string; name: string; email: string | null; roles: Role[] | null },
): Promise<Tenant> {
  const [row] = await tx.query(insertStatement, [tenant.id, tenant.name, tenant.email, tenant.roles])
  return toTenant(row!)
}

const findStatement = statement<Row>('tenants-find', `select ${columns} from tenants where id = $1`)

export async function findTenant(db: Db, id: string): Promise<Tenant | undefined> {
  const [row] = await db.query(findStatement, [id])
  return row && toTenant(row)
}

const lockStatement = statement<Row>('tenants-lock', `select ${columns} from tenants where id = $1 for no key update`)

/** Reads for a change that depends on what is there; others that would change it wait. */
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

/** Those of them that are suspended. */
export async function listSuspendedTenants(db: Db, ids: string[]): Promise<Set<string>> {
  return new Set((await db.query(suspendedStatement, [ids])).map(({ id }) => id))
}

const knownStatement = statement<{ id: string }>('tenants-known', 'select id from tenants where id = any($1)')

/** Those of them that there are. */
export async function listKnownTenants(db: Db, ids: string[]): Promise<Set<string>> {
  return new Set((await db.query(knownStatement, [ids])).map(({ id }) => id))
}

const countStatement = statement<{ any: boolean }>('tenants-any', 'select exists (select from tenants) as any')

export async function hasTenants(db: Db): Promise<boolean> {
  const [row] = await db.query(countStatement, [])
  return row!.any
}

const developmentStatement = statement<{ id: string }>(
  'tenants-development',
  `select id from tenants where name = $1 and email is null and status = 'active' order by created_at, id limit 1`,
)

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

/** Takes one use; false when there is none to take. */
export async function takeInvite(tx: Tx, codeHash: Buffer): Promise<boolean> {
  return (await tx.query(useInviteStatement, [codeHash])).length === 1
}
