import { statement, type Db, type Tx } from '#db/database.ts'
import type { TimePosition } from '#http/cursor.ts'
import { neverEnds, rolesHeld, type Key, type ResolvedKey, type Role } from './key.ts'

export interface Row {
  id: string
  kind: Key['kind']
  name: string | null
  hint: string
  created_at: string
  last_used_at: string | null
  expires_at: string | null
  revoked_at: string | null
  replaced_by: string | null
  is_active: boolean
}

// clock_timestamp(): a statement that has waited for a lock reads what another one has written after now().
export const isActive = 'revoked_at is null and (expires_at is null or expires_at > clock_timestamp())'
export const columns = `id, kind, name, hint, created_at, last_used_at, expires_at, revoked_at, replaced_by, ${isActive} as is_active`

export function toKey(row: Row): Key {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    hint: row.hint,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    replacedBy: row.replaced_by,
    isActive: row.is_active,
  }
}

/** Every process that resolves keys listens on this channel. The payload is the tenant whose keys changed. */
export const keyChannel = 'atrium_keys'

interface ResolvedRow {
  hash: string
  id: string
  kind: Key['kind']
  tenant_id: string
  tenant_status: ResolvedKey['tenantStatus']
  roles: Role[] | null
  ends_in_ms: number | null
  rate_percent: number
  logs_requests: boolean
}

const resolveStatement = statement<ResolvedRow>(
  'keys-resolve',
  // The hottest read: it joins the tables of the features tenants and limits, so that a request costs one round trip. The
  // end is relative: keys end at the time of the database, whose clock may differ from that of this machine.
  `select encode(k.key_hash, 'base64') as hash, k.id, k.kind, k.tenant_id, t.status as tenant_status, t.roles,
     (extract(epoch from least(k.expires_at, k.revoked_at) - now()) * 1000)::float8 as ends_in_ms, coalesce(l.rate_percent, 100) as rate_percent, t.logs_requests
   from api_keys k join tenants t on t.id = k.tenant_id left join tenant_limits l on l.tenant_id = k.tenant_id
   where k.key_hash = any($1)`,
)

/**
 * Returns one entry for each hash (base64), in order; undefined: the key does not exist. The keys may be of any
 * tenant.
 */
export async function resolveKeys(db: Db, hashes: string[]): Promise<(ResolvedKey | undefined)[]> {
  const rows = await db.query(resolveStatement, [hashes.map((hash) => Buffer.from(hash, 'base64'))])
  const byHash = new Map(rows.map((row) => [row.hash, toResolvedKey(row)]))
  return hashes.map((hash) => byHash.get(hash))
}

function toResolvedKey(row: ResolvedRow): ResolvedKey {
  return {
    id: row.id,
    kind: row.kind,
    tenantId: row.tenant_id,
    tenantStatus: row.tenant_status,
    roles: rolesHeld(row.roles),
    endsAtMs: row.ends_in_ms === null ? undefined : Date.now() + row.ends_in_ms,
    ratePercent: row.rate_percent,
    logsRequests: row.logs_requests,
  }
}

export interface NewKey {
  id: string
  kind: Key['kind']
  name: string | null
  hint: string
  keyHash: Buffer
  expiresAt: string | null
}

const insertStatement = statement<Row>(
  'keys-insert',
  `insert into api_keys (tenant_id, id, kind, name, hint, key_hash, expires_at) values ($1, $2, $3, $4, $5, $6, $7) returning ${columns}`,
)

export async function insertKey(tx: Tx, tenantId: string, key: NewKey): Promise<Key> {
  const { id, kind, name, hint, keyHash, expiresAt } = key
  const [row] = await tx.query(insertStatement, [tenantId, id, kind, name, hint, keyHash, expiresAt])
  if (!row) throw new Error('the insert of a key returned no row')
  return toKey(row)
}

/** When the key ends or has ended, as in the index api_keys_by_end. */
export const end = `coalesce(least(expires_at, revoked_at), timestamptz '${neverEnds}')`

const listStatement = statement<Row>(
  'keys-list',
  // By the end: the valid keys are on the first page, however many have ended.
  `select ${columns} from api_keys where tenant_id = $1 and (${end}, id) < ($2, $3) order by ${end} desc, id desc limit $4`,
)

/** Keys of the tenant, those first that end last; without a position, from the first on. */
export async function listKeys(db: Db, tenantId: string, after: TimePosition | undefined, limit: number): Promise<Key[]> {
  return (await db.query(listStatement, [tenantId, after?.createdAt ?? 'infinity', after?.id ?? '', limit])).map(toKey)
}

const someStatement = statement<Row>('keys-some', `select ${columns} from api_keys where tenant_id = $1 and id = any($2)`)

/** These keys of the tenant, by id. A tenant may have many more, most of them ended long ago. */
export async function listKeysById(db: Db, tenantId: string, ids: string[]): Promise<Map<string, Key>> {
  return new Map((await db.query(someStatement, [tenantId, ids])).map((row) => [row.id, toKey(row)]))
}

const byHintStatement = statement<{ id: string }>(
  'keys-by-hint',
  'select id from api_keys where tenant_id = $1 and right(hint, length($2)) = $2',
)

/** The ids of the tenant's keys whose hint ends with this text. */
export async function listKeyIdsByHint(db: Db, tenantId: string, ending: string): Promise<string[]> {
  return (await db.query(byHintStatement, [tenantId, ending])).map(({ id }) => id)
}

const useOfAllStatement = statement<{ active: number; last_used_at: string | null }>(
  'keys-use-of-all',
  `select count(*) filter (where ${isActive}) as active, max(last_used_at) as last_used_at from api_keys where tenant_id = $1`,
)

/** How many keys of the tenant are active, and when any of its keys was last used. */
export async function findKeyUse(db: Db, tenantId: string): Promise<{ activeKeys: number; lastUsedAt: string | null }> {
  const [row] = await db.query(useOfAllStatement, [tenantId])
  return { activeKeys: row?.active ?? 0, lastUsedAt: row?.last_used_at ?? null }
}

const anySecretStatement = statement<{ any: boolean }>(
  'keys-any-secret',
  `select exists (select from api_keys where tenant_id = $1 and kind = 'secret') as any`,
)

/** Whether the tenant has a secret key, valid or ended. */
export async function hasSecretKey(db: Db, tenantId: string): Promise<boolean> {
  const [row] = await db.query(anySecretStatement, [tenantId])
  return row?.any ?? false
}

const lockTenantStatement = statement<never>('keys-lock-tenant', 'select from tenants where id = $1 for no key update')

/** Until the transaction ends, no other one revokes a secret key of the tenant. */
export async function lockTenant(tx: Tx, tenantId: string): Promise<void> {
  await tx.query(lockTenantStatement, [tenantId])
}

const otherSecretStatement = statement<{ any: boolean }>(
  'keys-other-secret',
  // The end is indexed: keys that have ended are not read, however many they are.
  `select exists (
     select from api_keys where tenant_id = $1 and id <> $2 and kind = 'secret' and ${end} > now() and ${isActive}
   ) as any`,
)

/** Whether the tenant has an active secret key besides this one. */
export async function hasOtherSecretKey(tx: Tx, tenantId: string, id: string): Promise<boolean> {
  const [row] = await tx.query(otherSecretStatement, [tenantId, id])
  return row?.any ?? false
}

const lockSomeStatement = statement<Row>(
  'keys-lock-some',
  `select ${columns} from api_keys where tenant_id = $1 and id = any($2) order by created_at, id for no key update`,
)

/** Locks these keys, and no others of the tenant. */
export async function findKeysForUpdate(tx: Tx, tenantId: string, ids: string[]): Promise<Key[]> {
  return (await tx.query(lockSomeStatement, [tenantId, ids])).map(toKey)
}

const replaceStatement = statement<never>(
  'keys-replace',
  // A statement of its own after the lock: it sees the successor that another rotation has just made.
  `with recursive successors as (
     select id, replaced_by, revoked_at, expires_at from api_keys
     where tenant_id = $1 and id = (select replaced_by from api_keys where tenant_id = $1 and id = $2)
     union
     select k.id, k.replaced_by, k.revoked_at, k.expires_at
     from successors s join api_keys k on k.tenant_id = $1 and k.id = s.replaced_by
   )
   update api_keys set expires_at = least(expires_at, now() + make_interval(secs => $4)),
     replaced_by = case when exists (
       select from successors where ${isActive}
     ) then replaced_by else $3 end
   where tenant_id = $1 and id = $2`,
)

/**
 * Records the key that replaces this one; an earlier one stays recorded while it, or one that followed it, is valid.
 * This one expires after the overlap, unless it expires earlier.
 */
export async function replaceKey(
  tx: Tx,
  tenantId: string,
  { id, by, overlapSeconds }: { id: string; by: string; overlapSeconds: number },
): Promise<void> {
  await tx.query(replaceStatement, [tenantId, id, by, overlapSeconds])
}

const revokeStatement = statement<never>(
  'keys-revoke',
  'update api_keys set revoked_at = now() where tenant_id = $1 and id = $2 and revoked_at is null',
)

export async function revokeKey(tx: Tx, tenantId: string, id: string): Promise<void> {
  await tx.query(revokeStatement, [tenantId, id])
}

const deleteCanariesStatement = statement<never>(
  'keys-delete-canaries',
  `delete from api_keys where tenant_id = $1 and (id = $2 or created_at < now() - interval '1 hour')`,
)

/** Deletes this canary of the revocation probe, and those that killed processes left. */
export async function deleteCanaries(db: Db, systemTenantId: string, id: string): Promise<void> {
  await db.query(deleteCanariesStatement, [systemTenantId, id])
}

/** Notifies every process, when this transaction has committed, to reload the tenant's keys. */
export function notifyKeyChange(tx: Tx, tenantId: string): void {
  tx.wake(keyChannel, tenantId)
}

export interface KeyUsage {
  tenantId: string
  id: string
  at: string
}

const useStatement = statement<{ id: string }>(
  'keys-use',
  // skip locked: a locked key does not delay the others. The order by keeps two processes from a deadlock.
  `with used as (
     select * from unnest($1::text[], $2::text[], $3::timestamptz[]) as u (tenant_id, id, at)
   ), free as (
     select k.tenant_id, k.id, u.at
     from api_keys k join used u on u.tenant_id = k.tenant_id and u.id = k.id
     order by k.tenant_id, k.id
     for no key update of k skip locked
   ), written as (
     update api_keys k set last_used_at = greatest(k.last_used_at, f.at)
     from free f
     where k.tenant_id = f.tenant_id and k.id = f.id
   )
   select k.id
   from api_keys k join used u on u.tenant_id = k.tenant_id and u.id = k.id
   where not exists (select from free f where f.tenant_id = k.tenant_id and f.id = k.id)`,
  { writes: true },
)

/** Records uses of keys of any tenant. Returns the ids of locked keys, whose use is not recorded yet. */
export async function recordKeyUse(db: Db, uses: KeyUsage[]): Promise<Set<string>> {
  const rows = await db.query(useStatement, [
    uses.map((use) => use.tenantId),
    uses.map((use) => use.id),
    uses.map((use) => use.at),
  ])
  return new Set(rows.map(({ id }) => id))
}
