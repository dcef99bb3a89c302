import { statement, type Db, type Tx } from '#db/database.ts'
import type { TimePosition } from '#http/cursor.ts'

export interface OperatorCredential {
  id: string
  name: string
  hint: string
  createdAt: string
  lastUsedAt: string | null
  expiresAt: string | null
  revokedAt: string | null
}

interface Row {
  id: string
  name: string
  hint: string
  created_at: string
  last_used_at: string | null
  expires_at: string | null
  revoked_at: string | null
}

const columns = 'id, name, hint, created_at, last_used_at, expires_at, revoked_at'

function toCredential(row: Row): OperatorCredential {
  return {
    id: row.id,
    name: row.name,
    hint: row.hint,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  }
}

const findStatement = statement<Row & { is_over: boolean }>(
  'operator-credentials-find',
  `select ${columns}, coalesce(expires_at <= now(), false) as is_over from operator_credentials where token_hash = $1`,
)

/** `isOver`: it has expired, by the clock of the database: that of this machine may be wrong. */
export async function findByTokenHash(
  db: Db,
  tokenHash: Buffer,
): Promise<(OperatorCredential & { isOver: boolean }) | undefined> {
  const [row] = await db.query(findStatement, [tokenHash])
  return row && { ...toCredential(row), isOver: row.is_over }
}

const usedStatement = statement<never>(
  'operator-credentials-used',
  // skip locked: a call does not wait because the credential is revoked at the same time.
  `update operator_credentials set last_used_at = now() where id in (
     select id from operator_credentials
     where id = $1 and (last_used_at is null or last_used_at < now() - interval '10 seconds')
     for no key update skip locked
   )`,
)

/** Records a use, at most every ten seconds. */
export async function recordCredentialUse(db: Db, id: string): Promise<void> {
  await db.query(usedStatement, [id])
}

const lockStatement = statement<never>(
  'operator-credentials-lock',
  // One change at a time, so that the number of active credentials is exact. Calls go on, which read the table and record
  // their use in it. The mode also excludes the stronger one that earlier releases take.
  'lock table operator_credentials in share update exclusive mode',
)
const activeStatement = statement<Row>(
  'operator-credentials-active',
  `select ${columns} from operator_credentials where revoked_at is null and (expires_at is null or expires_at > now())`,
)

/** The credentials that are accepted now. Until the transaction ends, no other one adds or revokes any. */
export async function listActiveForUpdate(tx: Tx): Promise<OperatorCredential[]> {
  await tx.query(lockStatement, [])
  return (await tx.query(activeStatement, [])).map(toCredential)
}

const retireStatement = statement<never>(
  'operator-credentials-free-name',
  // An expired credential does not keep its name.
  'update operator_credentials set revoked_at = now() where name = $1 and revoked_at is null and expires_at <= now()',
)
const insertStatement = statement<Row>(
  'operator-credentials-insert',
  `insert into operator_credentials (id, name, hint, token_hash, expires_at) values ($1, $2, $3, $4, $5) returning ${columns}`,
)

interface NewCredential {
  id: string
  name: string
  hint: string
  tokenHash: Buffer
  expiresAt: string | null
}

export async function insertCredential(tx: Tx, credential: NewCredential): Promise<OperatorCredential> {
  const { id, name, hint, tokenHash, expiresAt } = credential
  await tx.query(retireStatement, [name])
  const [row] = await tx.query(insertStatement, [id, name, hint, tokenHash, expiresAt])
  if (!row) throw new Error('the insert of a credential returned no row')
  return toCredential(row)
}

const getStatement = statement<Row>('operator-credentials-get', `select ${columns} from operator_credentials where id = $1`)

export async function findCredential(tx: Tx, id: string): Promise<OperatorCredential | undefined> {
  const [row] = await tx.query(getStatement, [id])
  return row && toCredential(row)
}

const revokeStatement = statement<never>(
  'operator-credentials-revoke',
  'update operator_credentials set revoked_at = now() where id = $1 and revoked_at is null',
)

export async function revokeCredential(tx: Tx, id: string): Promise<void> {
  await tx.query(revokeStatement, [id])
}

const listStatement = statement<Row>(
  'operator-credentials-list',
  `select ${columns} from operator_credentials where (created_at, id) > ($1::timestamptz, $2) order by created_at, id limit $3`,
)

/** Oldest first, revoked and expired ones too. */
export async function listCredentials(db: Db, after: TimePosition | undefined, limit: number): Promise<OperatorCredential[]> {
  return (await db.query(listStatement, [after?.createdAt ?? '-infinity', after?.id ?? '', limit])).map(toCredential)
}
