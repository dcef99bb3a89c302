import type { JWK } from '#libraries/jose.js'
import { statement, type Db, type Tx } from '#db/database.ts'

/** announced: published, and does not sign yet. active: signs. retired: published for a time, and signs no longer. */
type KeyStatus = 'announced' | 'active' | 'retired'

/** A signing key of the platform, its private part sealed. */
export interface StoredKey {
  id: string
  publicJwk: JWK
  privateSealed: Buffer
  status: KeyStatus
}

export const isActive = ({ status }: StoredKey): boolean => status === 'active'

interface Row {
  id: string
  public_jwk: JWK
  private_sealed: Buffer
  status: KeyStatus
}

const columns = `id, public_jwk, private_sealed,
  case when retired_at is null then 'active' when retired_at = 'infinity' then 'announced' else 'retired' end as status`

function toKey({ id, public_jwk: publicJwk, private_sealed: privateSealed, status }: Row): StoredKey {
  return { id, publicJwk, privateSealed, status }
}

const publishedStatement = statement<Row>(
  'platform-keys-published',
  // Tokens that a key signed shortly before it was retired are still in use.
  `select ${columns} from platform_keys
   where purpose = $1 and (retired_at is null or $2 or retired_at > now() - interval '1 day')
   order by created_at desc`,
)

/**
 * The active key, if any, the announced one, and the recently retired ones or, with `isKept`, all retired ones. The keys
 * belong to no tenant.
 */
export async function listPublishedKeys(db: Db, purpose: string, isKept: boolean): Promise<StoredKey[]> {
  return (await db.query(publishedStatement, [purpose, isKept])).map(toKey)
}

const allPublishedStatement = statement<Row & { purpose: string }>(
  'platform-keys-all-published',
  `select purpose, ${columns} from platform_keys where retired_at is null or retired_at > now() - interval '1 day' order by created_at`,
)

/** The public parts of the keys of all purposes, active and recently retired. */
export async function listAllPublishedKeys(db: Db): Promise<{ purpose: string; publicJwk: JWK }[]> {
  const rows = await db.query(allPublishedStatement, [])
  return rows.map(({ purpose, public_jwk: publicJwk }) => ({ purpose, publicJwk }))
}

const insertStatement = statement<never>(
  'platform-keys-insert',
  // Another process may have made a key since: that key stays the active one.
  `insert into platform_keys (purpose, id, public_jwk, private_sealed) values ($1, $2, $3, $4)
   on conflict (purpose) where retired_at is null do nothing`,
)

export type NewKey = Omit<StoredKey, 'status'>

export async function insertKey(db: Db, purpose: string, key: NewKey): Promise<void> {
  await db.query(insertStatement, [purpose, key.id, JSON.stringify(key.publicJwk), key.privateSealed])
}

// A key that is announced is published and does not sign, as a retired one, and its retirement never ends: a process of
// the release before treats it in the same way.
const announceStatement = statement<never>(
  'platform-keys-announce',
  `insert into platform_keys (purpose, id, public_jwk, private_sealed, retired_at) values ($1, $2, $3, $4, 'infinity')`,
)

export async function insertAnnounced(tx: Tx, purpose: string, key: NewKey): Promise<void> {
  await tx.query(announceStatement, [purpose, key.id, JSON.stringify(key.publicJwk), key.privateSealed])
}

const lockStatement = statement<never>(
  'platform-keys-lock-announced',
  `select pg_advisory_xact_lock(hashtextextended('announced key ' || $1, 0))`,
  { writes: true },
)

/** Until the end of the transaction, no other one that calls this announces a key of the purpose. */
export async function lockAnnounced(tx: Tx, purpose: string): Promise<void> {
  await tx.query(lockStatement, [purpose])
}

const announcedStatement = statement<{ id: string }>(
  'platform-keys-announced',
  `select id from platform_keys where purpose = $1 and retired_at = 'infinity' order by created_at, id limit 1`,
)

/** The id of the key that is announced and does not sign yet. */
export async function findAnnounced(db: Db, purpose: string): Promise<string | undefined> {
  return (await db.query(announcedStatement, [purpose]))[0]?.id
}

const retireStatement = statement<never>(
  'platform-keys-retire',
  'update platform_keys set retired_at = now() where purpose = $1 and retired_at is null',
)

export async function retireActive(tx: Tx, purpose: string): Promise<void> {
  await tx.query(retireStatement, [purpose])
}

const activateStatement = statement<{ id: string }>(
  'platform-keys-activate',
  `update platform_keys set retired_at = null where purpose = $1 and id = $2 and retired_at = 'infinity' returning id`,
)

/** Whether the key was announced. */
export async function activateAnnounced(tx: Tx, purpose: string, id: string): Promise<boolean> {
  return (await tx.query(activateStatement, [purpose, id])).length === 1
}
