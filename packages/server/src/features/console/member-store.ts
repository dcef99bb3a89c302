import type { MemberRole } from '@atrium/contract/roles'
import { statement, type Db, type Tx } from '#db/database.ts'

export interface Member {
  id: string
  email: string
  name: string | null
  role: MemberRole
  createdAt: string
  /** null: invited, and never signed in. */
  joinedAt: string | null
  /** The account at the identity provider that the member signs in with; undefined: none yet. */
  account: Account | undefined
}

/** An account of an OpenID provider. The subject alone is not unique, and an address may change its holder. */
export interface Account {
  issuer: string
  subject: string
}

interface Row {
  id: string
  email: string
  name: string | null
  role: MemberRole
  created_at: string
  joined_at: string | null
  issuer: string | null
  subject: string | null
}

const columns = 'id, email, name, role, created_at, joined_at, issuer, subject'

function toMember(row: Row): Member {
  const { issuer, subject } = row
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    role: row.role,
    createdAt: row.created_at,
    joinedAt: row.joined_at,
    account: issuer === null || subject === null ? undefined : { issuer, subject },
  }
}

const listText = `select ${columns} from members where tenant_id = $1 order by created_at, id`
const listStatement = statement<Row>('members-list', listText)

export async function listMembers(db: Db, tenantId: string): Promise<Member[]> {
  return (await db.query(listStatement, [tenantId])).map(toMember)
}

const lockStatement = statement<never>(
  'members-lock',
  // Of the tenant, because rows that another owner adds cannot be locked. Keys and requests do not take this lock.
  `select pg_advisory_xact_lock(hashtextextended('members ' || $1, 0))`,
  { writes: true },
)

/** The members; until the transaction ends, no other one changes them. So the last owner is known. */
export async function listMembersForUpdate(tx: Tx, tenantId: string): Promise<Member[]> {
  await tx.query(lockStatement, [tenantId])
  return listMembers(tx, tenantId)
}

const byAccountStatement = statement<{ tenant_id: string; id: string }>(
  'members-by-account',
  `select m.tenant_id, m.id from members m join tenants t on t.id = m.tenant_id
   where m.issuer = $1 and m.subject = $2 order by t.status = 'suspended', m.joined_at desc, m.tenant_id`,
)

/** The memberships of an account, in all tenants, the newest first, and last those of suspended tenants. */
export async function listMemberships(db: Db, { issuer, subject }: Account): Promise<{ tenantId: string; memberId: string }[]> {
  const rows = await db.query(byAccountStatement, [issuer, subject])
  return rows.map(({ tenant_id: tenantId, id: memberId }) => ({ tenantId, memberId }))
}

const insertStatement = statement<Row>(
  'members-insert',
  `insert into members (tenant_id, id, email, name, role) values ($1, $2, $3, $4, $5) returning ${columns}`,
)

export interface NewMember {
  id: string
  email: string
  name: string | null
  role: MemberRole
}

export async function insertMember(tx: Tx, tenantId: string, { id, email, name, role }: NewMember): Promise<Member> {
  const [row] = await tx.query(insertStatement, [tenantId, id, email, name, role])
  if (!row) throw new Error('the insert of a member returned no row')
  return toMember(row)
}

const updateStatement = statement<Row>(
  'members-update',
  `update members set role = $3, name = $4 where tenant_id = $1 and id = $2 returning ${columns}`,
)

export async function updateMember(tx: Tx, tenantId: string, member: Pick<Member, 'id' | 'role' | 'name'>): Promise<Member> {
  const [row] = await tx.query(updateStatement, [tenantId, member.id, member.role, member.name])
  if (!row) throw new Error('the member to update does not exist')
  return toMember(row)
}

const joinStatement = statement<{ id: string }>(
  'members-join',
  `update members set joined_at = coalesce(joined_at, now()), issuer = coalesce(issuer, $3), subject = coalesce(subject, $4),
     name = coalesce(name, $5)
   where tenant_id = $1 and id = $2 returning id`,
)

/**
 * Records a sign-in: the first one binds the account. Locks the member, so that a removal waits and then finds the new
 * session. false: the member was removed.
 */
export async function joinMember(
  tx: Tx,
  tenantId: string,
  memberId: string,
  account: Account | undefined,
  name: string | undefined,
): Promise<boolean> {
  const values = [tenantId, memberId, account?.issuer ?? null, account?.subject ?? null, name ?? null]
  return (await tx.query(joinStatement, values)).length > 0
}

const lockOneStatement = statement<never>('members-lock-one', 'select from members where tenant_id = $1 and id = $2 for update')
const deleteStatement = statement<never>(
  'members-delete',
  // One statement, and the order of the foreign keys does not matter: they are checked at its end.
  `with sessions as (delete from console_sessions where tenant_id = $1 and member_id = $2),
     links as (delete from console_links where tenant_id = $1 and member_id = $2)
   delete from members where tenant_id = $1 and id = $2`,
)

/** Removes the member with all sessions and links. */
export async function deleteMember(tx: Tx, tenantId: string, memberId: string): Promise<void> {
  // A sign-in that runs now has this lock: its session is deleted too.
  await tx.query(lockOneStatement, [tenantId, memberId])
  await tx.query(deleteStatement, [tenantId, memberId])
}
