import type { JWK } from 'jose'
import { statement, type Db } from '#db/database.ts'

/** A key as it is stored. */
export interface StoredKey {
  id: string
  publicJwk: JWK
  privateSealed: Buffer
  retired: boolean
}

interface Row {
  id: string
  public_jwk: JWK
  private_sealed: Buffer
  retired: boolean
}

const publishedStatement = statement<Row>(
  'platform-keys-published',
  // What a key signed in its last hours is still under way for a while.
  `select id, public_jwk, private_sealed, retired_at is not null as retired from platform_keys
   where purpose = $1 and (retired_at is null or retired_at > now() - interval '1 day')
   order by created_at desc`,
)

/** The living key, if there is one, and those retired not long ago. */
export async function listPublishedKeys(db: Db, purpose: string): Promise<StoredKey[]> {
  const rows = await db.query(publishedStatement, [purpose])
  return rows.map(({ id, public_jwk: publicJwk, private_sealed: privateSealed, retired }) => ({
    id,
    publicJwk,
    privateSealed,
    retired,
  }))
}

const insertStatement = statement<never>(
  'platform-keys-insert',
  // Another process may have made one meanwhile: then that one it is.
  `insert into platform_keys (purpose, id, public_jwk, private_sealed) values ($1, $2, $3, $4)
   on conflict (purpose) where retired_at is null do nothing`,
)

export async function insertKey(db: Db, purpose: string, key: Omit<StoredKey, 'retired'>): Promise<void> {
  await db.query(insertStatement, [purpose, key.id, JSON.stringify(key.publicJwk), key.privateSealed])
}
