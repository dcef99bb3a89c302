import { statement, type Db, type Tx } from '#db/database.ts'
import type { Claim, WrittenClaim } from './claim.ts'

/**
 * The expiry of a row. It comes from the clock of the process; where that is hours behind, the clock of the database
 * decides, because a row that has expired already would let its request run again. See place-checked-items.sql, too.
 */
const keptUntil = (expiry: string) =>
  `case when ${expiry} < now() + interval '23 hours' then now() + interval '24 hours' else ${expiry} end`

const insertStatement = statement<{ scope: string }>(
  'idempotency-insert',
  // An expired row is replaced. If the first request with the same key still runs, this waits for its end.
  `insert into idempotency_keys as k (scope, key_hash, body_hash, expires_at)
   values ($1, $2, $3, ${keptUntil('$4::timestamptz')})
   on conflict on constraint idempotency_keys_pkey
     do update set body_hash = excluded.body_hash, answer = null, expires_at = excluded.expires_at
     where k.expires_at <= now()
   returning scope`,
)

/** Whether the claim's key was free; it then belongs to this transaction. */
export async function insertClaim(tx: Tx, claim: Omit<Claim, 'seal'>): Promise<boolean> {
  const rows = await tx.query(insertStatement, [claim.scope, claim.keyHash, claim.bodyHash, claim.expiresAt])
  return rows.length === 1
}

const tableFreeStatement = statement<never>(
  'idempotency-table-free',
  // No claim has this scope, so this waits for locks of the table and of the claim's partition, and for no row.
  `delete from idempotency_keys where scope = '' and key_hash = $1`,
  { writes: false, tries: 'one' },
)

/** Throws isLocked if something locks the table against writes, such as the building of an index. */
export async function assertTableFree(db: Db, claim: Pick<Claim, 'keyHash'>): Promise<void> {
  await db.query(tableFreeStatement, [claim.keyHash])
}

const answerStatement = statement<never>(
  'idempotency-answer',
  `update idempotency_keys set answer = $3 where scope = $1 and key_hash = $2`,
)

export async function updateAnswer(tx: Tx, claim: Pick<Claim, 'scope' | 'keyHash'>, answer: Buffer): Promise<void> {
  await tx.query(answerStatement, [claim.scope, claim.keyHash, answer])
}

const claimStatement = statement<{ scope: string; key_hash: Buffer }>(
  'idempotency-insert-written',
  // In the order of their keys, so that two batches with the same keys cannot deadlock.
  `insert into idempotency_keys as k (scope, key_hash, body_hash, answer, expires_at)
   select scope, key_hash, body_hash, answer, ${keptUntil('expires_at')}
   from unnest($1::text[], $2::bytea[], $3::bytea[], $4::bytea[], $5::timestamptz[]) as i (scope, key_hash, body_hash, answer, expires_at)
   order by i.scope, i.key_hash
   on conflict on constraint idempotency_keys_pkey
     do update set body_hash = excluded.body_hash, answer = excluded.answer, expires_at = excluded.expires_at
     where k.expires_at <= now()
   returning k.scope, k.key_hash`,
)

/** Writes the claims whose keys are free, and returns them. */
export async function insertClaims(tx: Tx, claims: WrittenClaim[]): Promise<Set<string>> {
  const rows = await tx.query(claimStatement, [
    claims.map((claim) => claim.scope),
    claims.map((claim) => claim.keyHash),
    claims.map((claim) => claim.bodyHash),
    claims.map((claim) => claim.answer),
    claims.map((claim) => claim.expiresAt),
  ])
  return new Set(rows.map((row) => claimKey({ scope: row.scope, keyHash: row.key_hash })))
}

export function claimKey({ scope, keyHash }: Pick<WrittenClaim, 'scope' | 'keyHash'>): string {
  return `${scope}/${keyHash.toString('base64')}`
}

const unclaimStatement = statement<never>(
  'idempotency-delete',
  'delete from idempotency_keys where (scope, key_hash) in (select * from unnest($1::text[], $2::bytea[]))',
)

export async function deleteClaims(tx: Tx, claims: WrittenClaim[]): Promise<void> {
  await tx.query(unclaimStatement, [claims.map((claim) => claim.scope), claims.map((claim) => claim.keyHash)])
}

interface StoredAnswer {
  bodyHash: Buffer
  answer: Buffer
  expiresAt: string
}

const findStatement = statement<{ body_hash: Buffer; answer: Buffer; expires_at: string }>(
  'idempotency-find',
  `select body_hash, answer, expires_at from idempotency_keys
   where scope = $1 and key_hash = $2 and expires_at > now() and answer is not null`,
)

export async function findAnswer(db: Db, claim: Pick<Claim, 'scope' | 'keyHash'>): Promise<StoredAnswer | undefined> {
  const [row] = await db.query(findStatement, [claim.scope, claim.keyHash])
  return row && { bodyHash: row.body_hash, answer: row.answer, expiresAt: row.expires_at }
}

const deleteStatement = statement<{ count: number; last: string | null }>(
  'idempotency-delete-expired-from',
  `with deleted as (
     delete from idempotency_keys where (scope, key_hash) in
       (select scope, key_hash from idempotency_keys where expires_at <= now() and expires_at >= $2
        order by expires_at limit $1 for update skip locked)
     returning expires_at
   )
   select count(*)::int as count, max(expires_at) as last from deleted`,
)

/**
 * Returns a function that deletes up to `limit` expired rows and returns their number. If it deleted `limit` rows, the
 * next call begins at the last expiry, otherwise at the start. Under an old snapshot, such as that of a backup, the index
 * keeps the entries of deleted rows, and each call from the start would pass all of them.
 */
export function deleteExpiredFrom(db: Db): (limit: number) => Promise<number> {
  let from = '-infinity'
  return async (limit) => {
    const [deleted] = await db.query(deleteStatement, [limit, from])
    const { count = 0, last = null } = deleted ?? {}
    // Rows that were locked are found when the next sweep begins at the start.
    from = count < limit || last === null ? '-infinity' : last
    return count
  }
}
