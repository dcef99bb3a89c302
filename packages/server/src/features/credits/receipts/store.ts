import { statement, type Db } from '#db/database.ts'
import type { TimeRange } from '#http/time-page.ts'
import type { AccountRef } from '../ledger/movement.ts'
import type { Receipt, ReceiptKind } from './receipt.ts'

interface Row {
  seq: number
  id: string
  kind: ReceiptKind
  subject: string
  price: number
  charged: number
  code_hash: Buffer | null
  held_at: string | null
  joined_at: string | null
  stopped_at: string | null
  created_at: string
  budget: number | null
  used: number | null
  used_tokens: number | null
  used_tool_calls: number | null
}

const columns = `r.seq, r.id, r.kind, r.subject, r.price, r.charged, r.code_hash, r.held_at, r.joined_at, r.stopped_at, r.created_at,
  e.budget, e.used, e.used_tokens, e.used_tool_calls`
// The end of a hold never changes, so a receipt that is read from it does not either.
const source = 'receipts r left join ledger_hold_ends e on e.tenant_id = r.payer_tenant_id and e.id = r.ledger_id'

function toReceipt(row: Row): Receipt {
  return {
    seq: row.seq,
    id: row.id,
    kind: row.kind,
    subject: row.subject,
    priceCredits: row.price,
    chargedCredits: row.charged,
    codeHash: row.code_hash,
    heldAt: row.held_at,
    joinedAt: row.joined_at,
    stoppedAt: row.stopped_at,
    use: toUse(row),
    createdAt: row.created_at,
  }
}

function toUse({ budget, used, used_tokens: tokens, used_tool_calls: toolCalls }: Row): Receipt['use'] {
  if (budget === null || used === null || tokens === null || toolCalls === null) return null
  return { budgetCredits: budget, usedCredits: used, tokens, toolCalls }
}

const listStatement = statement<Row>(
  'receipts-list',
  `select ${columns} from ${source}
   where r.tenant_id = $1 and (r.created_at, r.id) < ($2::timestamptz, $3) and r.created_at >= $4::timestamptz
   order by r.created_at desc, r.id desc limit $5`,
)

/** Newest first. */
export async function listReceipts(db: Db, tenantId: string, { after, from }: TimeRange, limit: number): Promise<Receipt[]> {
  return (await db.query(listStatement, [tenantId, after.createdAt, after.id, from, limit])).map(toReceipt)
}

const payerStatement = statement<Row>(
  'receipts-of-payer',
  `select ${columns} from ${source}
   where r.payer_tenant_id = $1 and r.payer_id = $2 and (r.created_at, r.id) < ($3::timestamptz, $4)
   order by r.created_at desc, r.id desc limit $5`,
)

/** The receipts of what an account has paid, whichever tenant charged it, newest first. */
export async function listReceiptsOfPayer(
  db: Db,
  payer: AccountRef,
  { after }: Pick<TimeRange, 'after'>,
  limit: number,
): Promise<Receipt[]> {
  return (await db.query(payerStatement, [payer.tenantId, payer.id, after.createdAt, after.id, limit])).map(toReceipt)
}
