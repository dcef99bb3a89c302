import { statement, type Db, type Tx } from '#db/database.ts'
import type { TimePosition } from '#http/cursor.ts'

export interface Invite {
  id: string
  hint: string | null
  uses: number | null
  usesLeft: number
  createdAt: string
  expiresAt: string | null
  revokedAt: string | null
}

interface Row {
  id: string
  hint: string | null
  uses: number | null
  uses_left: number
  created_at: string
  expires_at: string | null
  revoked_at: string | null
}

function toInvite({ uses_left, created_at, expires_at, revoked_at, ...same }: Row): Invite {
  return { ...same, usesLeft: uses_left, createdAt: created_at, expiresAt: expires_at, revokedAt: revoked_at }
}

const insertStatement = statement<never>(
  'invites-insert',
  'insert into invites (id, code_hash, hint, uses, uses_left, expires_at) values ($1, $2, $3, $4, $4, $5)',
)

interface NewInvite {
  id: string
  codeHash: Buffer
  hint: string
  uses: number
  expiresAt: string | null
}

export async function insertInvite(tx: Tx, { id, codeHash, hint, uses, expiresAt }: NewInvite): Promise<void> {
  await tx.query(insertStatement, [id, codeHash, hint, uses, expiresAt])
}

const useStatement = statement<{ uses_left: number }>(
  'invites-use',
  `update invites set uses_left = uses_left - 1
   where code_hash = $1 and uses_left > 0 and (expires_at is null or expires_at > now())
   returning uses_left`,
)

/** Uses the invite once. Returns false if it has no use left, has expired, or does not exist. */
export async function useInvite(tx: Tx, codeHash: Buffer): Promise<boolean> {
  return (await tx.query(useStatement, [codeHash])).length === 1
}

const listStatement = statement<Row>(
  'invites-list',
  `select id, hint, uses, uses_left, created_at, expires_at, revoked_at from invites
   where (created_at, id) < ($1::timestamptz, $2) order by created_at desc, id desc limit $3`,
)

/** Newest first, those that can no longer be used too. */
export async function listInvites(db: Db, after: TimePosition | undefined, limit: number): Promise<Invite[]> {
  return (await db.query(listStatement, [after?.createdAt ?? 'infinity', after?.id ?? '', limit])).map(toInvite)
}

const revokeStatement = statement<{ id: string }>(
  'invites-revoke',
  // An invite without uses left stays as it is: what became of it is known.
  `update invites set
     revoked_at = case when uses_left > 0 then now() else revoked_at end,
     uses_left = 0
   where id = $1 returning id`,
)

/** Returns false if there is no such invite. */
export async function revokeInvite(tx: Tx, id: string): Promise<boolean> {
  return (await tx.query(revokeStatement, [id])).length === 1
}
