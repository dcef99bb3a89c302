import { statement, type Db, type Tx } from '#db/database.ts'
import type { RsaPublicKey } from '../blind-token.ts'
import type { Epoch, TimedEpoch } from './epoch.ts'

interface Row {
  tenant_id: string
  id: string
  seq: number
  public_key: RsaPublicKey
  value: number
  created_at: string
  expires_at: string | null
}

const columns = 'tenant_id, id, seq, public_key, value, created_at, expires_at'

function toEpoch(row: Row): Epoch & { seq: number } {
  return {
    id: row.id,
    seq: row.seq,
    tenantId: row.tenant_id,
    publicKey: row.public_key,
    valueCredits: row.value,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
  }
}

// A reader that pages through the list must not miss an epoch that drew its number before one it has seen, and
// committed after it.
const lockStatement = statement<never>('epochs-lock', 'lock table epochs in share row exclusive mode')

// One key is one epoch, across all tenants.
const insertStatement = statement<{ id: string }>(
  'epochs-insert',
  `insert into epochs (tenant_id, id, public_key, value, expires_at) values ($1, $2, $3, $4, $5) on conflict do nothing returning id`,
)

/** false: the key was published before. */
export async function insertEpoch(tx: Tx, epoch: Omit<Epoch, 'createdAt'>): Promise<boolean> {
  const { tenantId, id, publicKey, valueCredits, expiresAt } = epoch
  await tx.query(lockStatement, [])
  const rows = await tx.query(insertStatement, [tenantId, id, JSON.stringify(publicKey), valueCredits, expiresAt])
  return rows.length === 1
}

const listStatement = statement<Row>('epochs-list', `select ${columns} from epochs where seq > $1 order by seq limit $2`)

/** The epochs of all tenants, the oldest first: the list is public. */
export async function listEpochs(db: Db, afterSeq: number, limit: number): Promise<(Epoch & { seq: number })[]> {
  return (await db.query(listStatement, [afterSeq, limit])).map(toEpoch)
}

const findStatement = statement<Row & { ends_in_ms: number | null }>(
  'epochs-find',
  `select ${columns}, (extract(epoch from expires_at - now()) * 1000)::float8 as ends_in_ms from epochs where id = any($1)`,
)

/** The epochs that exist among these ids, of any tenant. */
export async function listEpochsById(db: Db, ids: string[]): Promise<TimedEpoch[]> {
  return (await db.query(findStatement, [ids])).map((row) => ({
    ...toEpoch(row),
    endsAtMs: row.ends_in_ms === null ? undefined : performance.now() + row.ends_in_ms,
  }))
}
