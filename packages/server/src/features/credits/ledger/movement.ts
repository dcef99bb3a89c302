import { hash } from 'node:crypto'
import { base62, idPrefixes } from '@atrium/contract/tokens'
import type { NewEvent } from '#features/events/event.ts'
import type { WrittenClaim } from '#http/idempotency/claim.ts'

/** An account of the books: its home tenant, with which its rows are stored, and its id. */
export interface AccountRef {
  tenantId: string
  id: string
}

/**
 * platform: credits in circulation; the only account that grows by debits, because credits originate there and return
 * there. issuer: a tenant's prefunded balance. revenue: what its agents and services earned. wallet, coupon, license:
 * the holder of the code spends them. held: what open holds set aside out of another account. loss: credits whose
 * payment was returned and that were not taken back; they are out of circulation.
 */
export type AccountKind = 'platform' | 'issuer' | 'revenue' | 'wallet' | 'coupon' | 'license' | 'held' | 'loss'

/** The source of credits that a buyer pays for, and the recipient of the platform's own fees. */
export const platformAccount: AccountRef = { tenantId: 'platform', id: 'platform' }

/** A tenant's prefunded balance: pays for its grants, its tokens and its fees. */
export function issuerAccount(tenantId: string): AccountRef {
  return { tenantId, id: 'issuer' }
}

/** A tenant's earnings. */
export function revenueAccount(tenantId: string): AccountRef {
  return { tenantId, id: 'revenue' }
}

/** What a tenant's sales have lost to refunds and disputes. */
export function lossAccount(tenantId: string): AccountRef {
  return { tenantId, id: 'loss' }
}

/** The account of what holds set aside out of another account. */
export function heldAccount({ tenantId, id }: AccountRef): AccountRef {
  return { tenantId, id: `${id}.held` }
}

/** The kind of an account that needs no opening; undefined: a transfer must have opened the account. */
export function implicitKind({ id }: AccountRef): AccountKind | undefined {
  if (id === 'platform' || id === 'issuer' || id === 'revenue' || id === 'loss') return id
  return id.endsWith('.held') ? 'held' : undefined
}

/** An account as the key of a map. */
export function accountKey({ tenantId, id }: AccountRef): string {
  return `${tenantId}/${id}`
}

/**
 * The reason of a transfer. refund, to the platform: taken back because its payment was returned; from the platform:
 * given back because the payment came back. loss, to the loss account: what could not be taken back; from it: what no
 * longer is a loss. The two directions have one kind, because the previous release audits by kinds that it knows.
 */
export type TransferKind =
  | 'prefund'
  | 'sale'
  | 'redemption'
  | 'grant'
  | 'return'
  | 'fee'
  | 'hold'
  | 'capture'
  | 'release'
  | 'refund'
  | 'loss'

/** Moves credits from one account to another. */
export interface Transfer {
  type: 'transfer'
  /** See transactionId. */
  id: string
  kind: Exclude<TransferKind, 'return' | 'hold' | 'capture' | 'release' | 'refund' | 'loss'>
  from: AccountRef
  to: AccountRef
  amountCredits: number
  /** `amountCredits` is all that `from` holds: where `from` holds more or less, nothing moves. */
  isWholeBalance?: boolean
  /** The tenant on whose behalf the credits move. */
  actor: string
  memo?: string
  /** What the credits pay for, such as a checkout's id. */
  purpose?: string
  /** The account that this transfer opens, at `to`. */
  opens?: NewAccount
  /** Stored with a redemption, so that a caller that lost the answer can recover the wallet. */
  recovery?: { thumbprint: string; sealedCode: string }
  claim?: WrittenClaim
  /** Recorded if the transfer is posted. */
  event?: NewEvent
}

export interface NewAccount {
  kind: 'wallet' | 'coupon' | 'license'
  /** SHA-256 of the code that spends the account. */
  codeHash: Buffer
  /** Then the rest returns to `from`. RFC 3339. */
  expiresAt?: string
}

/** Sets credits of an account aside until the hold ends. */
export interface Hold {
  type: 'hold'
  /** The id of the hold and of its transfer. See transactionId. */
  id: string
  from: AccountRef
  amountCredits: number
  actor: string
  /** The sweeper releases a hold that is still open then. RFC 3339. */
  endsAt: string
  /** What the hold pays for, such as a session's id. */
  purpose: string
}

/** Ends a hold: the capture goes to `to`, the rest returns to `from`. A hold ends once. */
export interface HoldEnd {
  type: 'hold_end'
  /** The hold's id. */
  id: string
  from: AccountRef
  actor: string
  outcome: 'captured' | 'released' | 'expired'
  /** At most the hold's amount; absent: nothing. */
  capture?: { to: AccountRef; amountCredits: number }
  /** When the agent of a session joined, for the receipt. RFC 3339. */
  joinedAt?: string | null
  /** What a session with a budget used in all, for the receipt. */
  use?: { budgetCredits: number; usedCredits: number; tokens: number; toolCalls: number } | undefined
}

/** Returns the rest of an expired coupon to its origin. The amount is read under the lock. */
interface Return {
  type: 'return'
  /** Any fresh id, because a rest can return only once. */
  id: string
  from: AccountRef
  to: AccountRef
}

/**
 * Takes credits back out of circulation after their payment was returned. What `from` has left goes to the platform.
 * The rest was spent or is held: it is booked to the loss account, and `from` owes it. Credits that return to `from`
 * later, out of a hold or an expired coupon, pay what it owes. Nothing goes below zero.
 */
export interface Reversal {
  type: 'reversal'
  id: string
  from: AccountRef
  amountCredits: number
  /** All credits of the purpose that are taken back or lost after this. */
  totalCredits: number
  /** The tenant that sold the credits, which has the loss. */
  actor: string
  purpose: string
}

/**
 * Undoes a part of the reversals of a purpose, because the payment came back: a dispute was won. What is still owed is
 * cancelled first; so what was taken back in all is what is given back.
 */
export interface Reinstatement {
  type: 'reinstatement'
  id: string
  /** The platform's account. */
  from: AccountRef
  to: AccountRef
  amountCredits: number
  /** The tenant that sold the credits. */
  actor: string
  purpose: string
}

export type Movement = Transfer | Hold | HoldEnd | Return | Reversal | Reinstatement

/**
 * The outcome of a movement. repeated: it was posted before, and nothing moved. insufficient: `from` is unknown, has
 * expired or holds too little, or `isWholeBalance` is set and it holds another amount. claim_taken: another request used
 * the Idempotency-Key. unknown_hold: the hold does not exist, or holds less than the capture. tenant_suspended: the actor
 * may no longer move credits; only a batch has it.
 */
export type MovementOutcome = 'posted' | 'repeated' | 'insufficient' | 'claim_taken' | 'unknown_hold' | 'tenant_suspended'

/** The id of a movement, derived from its cause (`redeem`, token), so that a retry finds the first attempt. */
export function transactionId(...cause: string[]): string {
  const digest = hash('sha256', JSON.stringify(cause), 'buffer')
  let number = BigInt(`0x${digest.subarray(0, 17).toString('hex')}`)
  let out = ''
  for (let i = 0; i < 22; i++) {
    out = base62.charAt(Number(number % 62n)) + out
    number /= 62n
  }
  return idPrefixes.transaction + out
}

/** The id of the one redemption of a license. */
export function redemptionId({ tenantId, id }: AccountRef): string {
  return transactionId('redeem-license', tenantId, id)
}

/** The id of the transfer to the loss account, for the part of a reversal that was not there. */
export function lossId(reversalId: string): string {
  return transactionId('loss', reversalId)
}

/** The id of the transfer out of the loss account, beside the repayment or reinstatement with this id. */
export function recoveryId(movementId: string): string {
  return transactionId('recovery', movementId)
}
