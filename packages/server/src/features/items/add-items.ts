import { Locked } from '@atrium/traffic/batcher'
import { statement, type Db } from '#db/database.ts'
import type { WrittenClaim } from '#http/idempotency/claim.ts'

/** An item on its way in, with the idempotency claim to be written beside it. */
export interface NewItem {
  tenantId: string
  collectionId: string
  id: string
  type: string
  /** JSON text. */
  content: string
  author: string | null
  claim: WrittenClaim | undefined
}

export type AddOutcome = 'added' | 'not_found' | 'not_open' | 'claim_taken'

/** The function is explained in migrations/0025-writes-that-do-not-wait.sql. */
const addStatement = statement<{ outcome: AddOutcome | 'locked' }>(
  'items-try-add',
  `select outcome from try_add_items($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
  { writes: true, tries: 'one' },
)

/** The row that adding an item locks. Collections' ids are unique over all tenants. */
export function lockedBy({ collectionId }: NewItem): string {
  return collectionId
}

/** Adds a batch, each item with its own outcome. */
export async function addItems(db: Db, items: NewItem[]): Promise<(AddOutcome | Locked)[]> {
  const rows = await db.query(addStatement, [
    items.map((item) => item.tenantId),
    items.map((item) => item.collectionId),
    items.map((item) => item.id),
    items.map((item) => item.type),
    items.map((item) => item.content),
    items.map((item) => item.author),
    items.map((item) => item.claim?.scope ?? null),
    items.map((item) => item.claim?.keyHash ?? null),
    items.map((item) => item.claim?.bodyHash ?? null),
    items.map((item) => item.claim?.answer ?? null),
    items.map((item) => item.claim?.expiresAt ?? null),
  ])
  return rows.map(({ outcome }, i) => (outcome === 'locked' ? new Locked(lockedBy(items[i]!)) : outcome))
}
