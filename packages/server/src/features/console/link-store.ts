import type { MemberRole } from '@atrium/contract/roles'
import { statement, type Db, type Tx } from '#db/database.ts'

/** What a link opens, once. */
export type LinkTarget =
  | { kind: 'operator' }
  | { kind: 'tenant'; tenantId: string }
  | { kind: 'member'; tenantId: string; memberId: string }

interface Row {
  kind: LinkTarget['kind']
  tenant_id: string | null
  member_id: string | null
}

const insertStatement = statement<{ expires_at: string }>(
  'console-links-insert',
  `insert into console_links (secret_hash, kind, tenant_id, member_id, expires_at)
   values ($1, $2, $3, $4, now() + make_interval(secs => $5)) returning expires_at`,
)

/** Returns when the link expires. */
export async function insertLink(tx: Tx, secretHash: Buffer, target: LinkTarget, seconds: number): Promise<string> {
  const tenantId = target.kind === 'operator' ? null : target.tenantId
  const memberId = target.kind === 'member' ? target.memberId : null
  const [row] = await tx.query(insertStatement, [secretHash, target.kind, tenantId, memberId, seconds])
  if (!row) throw new Error('the insert of a link returned no row')
  return row.expires_at
}

const takeStatement = statement<Row>(
  'console-links-take',
  // Of two exchanges at once, one deletes the row and the other finds none.
  'delete from console_links where secret_hash = $1 and expires_at > now() returning kind, tenant_id, member_id',
)

const findStatement = statement<Row>(
  'console-links-find',
  'select kind, tenant_id, member_id from console_links where secret_hash = $1 and expires_at > now()',
)

/** The target of a link that can be used, which stays. */
export async function findLink(db: Db, secretHash: Buffer): Promise<LinkTarget | undefined> {
  const [row] = await db.query(findStatement, [secretHash])
  return row && toTarget(row)
}

/** A link as the page names it to whoever is about to use it. */
export interface LinkView {
  kind: LinkTarget['kind']
  tenant: { id: string; name: string } | null
  role: MemberRole | null
  /** The invited address. */
  email: string | null
}

const viewStatement = statement<LinkView>(
  'console-links-view',
  `select l.kind, case when t.id is not null then json_build_object('id', t.id, 'name', t.name) end as tenant,
     case l.kind when 'tenant' then 'owner' else m.role end as role, m.email
   from console_links l
   left join tenants t on t.id = l.tenant_id
   left join members m on m.tenant_id = l.tenant_id and m.id = l.member_id
   where l.secret_hash = $1 and l.expires_at > now()`,
)

/** The link, which stays. undefined: it was used, has expired or never existed. */
export async function viewLink(db: Db, secretHash: Buffer): Promise<LinkView | undefined> {
  return (await db.query(viewStatement, [secretHash]))[0]
}

/** Removes the link, so that nobody can use it again. undefined: it was used, has expired or never existed. */
export async function takeLink(tx: Tx, secretHash: Buffer): Promise<LinkTarget | undefined> {
  const [row] = await tx.query(takeStatement, [secretHash])
  return row && toTarget(row)
}

function toTarget({ kind, tenant_id: tenantId, member_id: memberId }: Row): LinkTarget {
  if (tenantId === null) return { kind: 'operator' }
  return kind === 'member' && memberId !== null ? { kind, tenantId, memberId } : { kind: 'tenant', tenantId }
}

const deleteOfStatement = statement<never>(
  'console-links-delete-of',
  'delete from console_links where tenant_id = $1 and member_id = $2',
)

/** Ends the invitations of the member. */
export async function deleteLinksOf(tx: Tx, tenantId: string, memberId: string): Promise<void> {
  await tx.query(deleteOfStatement, [tenantId, memberId])
}
