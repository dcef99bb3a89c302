import { CompactSign } from '#libraries/jose.js'
import type { Context } from '#features/context.ts'
import type { HoldEnd } from '../ledger/movement.ts'

export type ReceiptKind = 'session' | 'budget' | 'paint' | 'grant' | 'checkout' | 'refund' | 'loss' | 'recovery' | 'reinstatement'

/** What was settled. It never changes. Times are RFC 3339. */
export interface Receipt {
  /** The number among the receipts of the tenant, from 1 on, without a gap. */
  seq: number
  id: string
  kind: ReceiptKind
  /** The id of the session, artifact or checkout, or of the transaction of a grant. */
  subject: string
  priceCredits: number
  chargedCredits: number
  /** SHA-256 of the code that paid or, of a grant, of the coupon. */
  codeHash: Buffer | null
  heldAt: string | null
  joinedAt: string | null
  stoppedAt: string | null
  /** What a session with a budget used in all. */
  use: HoldEnd['use'] | null
  createdAt: string
}

const receiptType = 'receipt+jwt'

/** The receipt as a compact JWS with ES256. It is signed when it is read, so that no settlement waits for a key. */
async function signReceipt({ agentIssuer, signingKeys }: Pick<Context, 'agentIssuer' | 'signingKeys'>, receipt: Receipt) {
  const { kid, privateKey } = await signingKeys.receipts.current()
  const claims = {
    iss: agentIssuer.issuer,
    jti: receipt.id,
    iat: Math.floor(Date.parse(receipt.createdAt) / 1_000),
    kind: receipt.kind,
    sub: receipt.subject,
    price: receipt.priceCredits,
    charged: receipt.chargedCredits,
    held_at: receipt.heldAt,
    joined_at: receipt.joinedAt,
    stopped_at: receipt.stoppedAt,
    coupon_sha256: receipt.codeHash?.toString('hex') ?? null,
    budget: receipt.use?.budgetCredits ?? null,
    used: receipt.use?.usedCredits ?? null,
    tokens: receipt.use?.tokens ?? null,
    tool_calls: receipt.use?.toolCalls ?? null,
    seq: receipt.seq,
  }
  const known = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== null))
  return new CompactSign(Buffer.from(JSON.stringify(known)))
    .setProtectedHeader({ alg: 'ES256', typ: receiptType, kid })
    .sign(privateKey)
}

export async function receiptView(ctx: Pick<Context, 'agentIssuer' | 'signingKeys'>, receipt: Receipt) {
  const { id, kind, chargedCredits, createdAt } = receipt
  return { id, receipt: await signReceipt(ctx, receipt), kind, amount: chargedCredits, created_at: createdAt }
}
