import { statement, type Db, type Tx } from '#db/database.ts'
import type { TimePosition } from '#http/cursor.ts'
import type { KeyLeak } from './leak.ts'

interface Row {
  key_id: string
  action: KeyLeak['action']
  places: KeyLeak['places']
  first_seen_at: string
  last_seen_at: string
}

const columns = 'key_id, action, places, first_seen_at, last_seen_at'

function toLeak(row: Row): KeyLeak {
  return {
    keyId: row.key_id,
    action: row.action,
    places: row.places,
    firstSeenAt: row.first_seen_at,
    lastSeenAt: row.last_seen_at,
  }
}

const findStatement = statement<Row>(
  'key-leaks-find',
  `select ${columns} from key_leaks where tenant_id = $1 and key_id = any($2)`,
)

/** The known leaks of these keys, by key. The caller holds the locks of the keys. */
export async function findLeaks(tx: Tx, tenantId: string, keyIds: string[]): Promise<Map<string, KeyLeak>> {
  return new Map((await tx.query(findStatement, [tenantId, keyIds])).map((row) => [row.key_id, toLeak(row)]))
}

const saveStatement = statement<never>(
  'key-leaks-save',
  // On conflict: the key was reported before. The caller holds its lock, and has merged what was known with what is new.
  `insert into key_leaks (tenant_id, ${columns}) values ($1, $2, $3, $4, $5, $6)
   on conflict on constraint key_leaks_pkey do update set
     action = excluded.action, places = excluded.places, last_seen_at = excluded.last_seen_at`,
)

export async function saveLeak(tx: Tx, tenantId: string, leak: KeyLeak): Promise<void> {
  const { keyId, action, places, firstSeenAt, lastSeenAt } = leak
  await tx.query(saveStatement, [tenantId, keyId, action, JSON.stringify(places), firstSeenAt, lastSeenAt])
}

const listStatement = statement<Row>(
  'key-leaks-list',
  `select ${columns} from key_leaks l where tenant_id = $1 and (first_seen_at, key_id) < ($2::timestamptz, $3)
     and ($5::boolean is null or $5 = exists (
       select from api_keys k where k.tenant_id = l.tenant_id and k.id = l.key_id
         and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
     ))
   order by first_seen_at desc, key_id desc limit $4`,
)

/** The newest first. `isValid`: only those whose key is valid now, or has ended. */
export async function listLeaks(
  db: Db,
  tenantId: string,
  { after, isValid }: { after: TimePosition | undefined; isValid: boolean | undefined },
  limit: number,
): Promise<KeyLeak[]> {
  const values = [tenantId, after?.createdAt ?? 'infinity', after?.id ?? '', limit, isValid ?? null]
  return (await db.query(listStatement, values)).map(toLeak)
}
