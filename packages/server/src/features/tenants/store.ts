import { statement, type Db, type Tx } from '../../db/database.ts'
import { rolesHeld, type Role, type Tenant } from './tenant.ts'

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

const statusStatement = statement<Row>('tenants-status', `update tenants set status = $2 where id = $1 returning ${columns}`)

export async function updateTenantStatus(tx: Tx, id: string, status: Tenant['status']): Promise<Tenant | undefined> {
  const [row] = await tx.query(statusStatement, [id, status])
  return row && toTenant(row)
}

const countStatement = statement<{ any: boolean }>('tenants-any', 'select exists (select from tenants) as any')

export async function hasTenants(db: Db): Promise<boolean> {
  const [row] = await db.query(countStatement, [])
  return row!.any
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
