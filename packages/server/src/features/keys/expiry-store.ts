import { statement, type Db, type Tx } from '#db/database.ts'
import type { TimePosition } from '#http/cursor.ts'
import type { Key } from './key.ts'
import { columns, end, isActive, type Row, toKey } from './store.ts'

// A key that was rotated is meant to end, if its replacement or a later one is valid. union: a circle of ids ends the search.
const isFollowed = `exists (
  with recursive successors as (
    select s.id, s.replaced_by, s.revoked_at, s.expires_at from api_keys s where s.tenant_id = k.tenant_id and s.id = k.replaced_by
    union
    select n.id, n.replaced_by, n.revoked_at, n.expires_at
    from successors s join api_keys n on n.tenant_id = k.tenant_id and n.id = s.replaced_by
  )
  select from successors where ${isActive}
)`

const listStatement = statement<Row>(
  'keys-list-expiring',
  // The ends are a range of the index.
  `select ${columns} from api_keys k
   where tenant_id = $1 and (${end}, id) > ($2, $3) and ${end} > now() and ${end} < $5 and ${isActive} and not ${isFollowed}
   order by ${end}, id limit $4`,
)

/** Valid keys of the tenant that expire before this time and have no valid replacement, those first that end first. */
export async function listExpiringKeys(
  db: Db,
  tenantId: string,
  { after, before }: { after: TimePosition | undefined; before: string },
  limit: number,
): Promise<Key[]> {
  const values = [tenantId, after?.createdAt ?? '-infinity', after?.id ?? '', limit, before]
  return (await db.query(listStatement, values)).map(toKey)
}

interface ExpiringRow {
  tenant_id: string
  id: string
  kind: Key['kind']
  expires_at: string
}

// A key that is followed stays unmarked, because its end matters again if the key that followed it is revoked.
const expiring = `from api_keys k
     where k.revoked_at is null and k.expiry_notices < 2 and k.expires_at > now() and k.expires_at <= now() + interval '7 days'
       and (k.expiry_notices = 0 or k.expires_at <= now() + interval '1 day')
       and not ${isFollowed}`
const anyExpiringStatement = statement<{ any: boolean }>('keys-any-expiring', `select exists (select ${expiring}) as any`)

export async function hasExpiringKeys(db: Db): Promise<boolean> {
  const [row] = await db.query(anyExpiringStatement, [])
  return row?.any ?? false
}

const expiringStatement = statement<ExpiringRow>(
  'keys-mark-expiring',
  // A key in its last day gets only the notice of that day, even if it never got the notice of the week.
  `update api_keys set expiry_notices = case when expires_at <= now() + interval '1 day' then 2 else 1 end
   where (tenant_id, id) in (
     select k.tenant_id, k.id ${expiring}
     limit $1
     for update of k skip locked
   )
   returning tenant_id, id, kind, expires_at`,
)

/**
 * Marks keys of any tenant as announced, up to `limit`, that expire within a week or a day and have no valid replacement.
 * Returns them.
 */
export async function markExpiringKeys(tx: Tx, limit: number) {
  const rows = await tx.query(expiringStatement, [limit])
  return rows.map(({ tenant_id: tenantId, id, kind, expires_at: expiresAt }) => ({ tenantId, id, kind, expiresAt }))
}
