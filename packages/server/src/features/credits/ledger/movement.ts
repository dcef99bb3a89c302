import { hash } from 'node:crypto'
import { base62, idPrefixes } from '@atrium/contract/tokens'
import type { WrittenClaim } from '#http/idempotency/claim.ts'
import type { NewEvent } from '#features/events/record-event.ts'
import type { AccountRef } from './account.ts'

/** Why credits moved. */
export type TransferKind = 'prefund' | 'sale' | 'redemption' | 'grant' | 'return' | 'fee' | 'hold' | 'capture' | 'release'

/** Moves credits from one account to another. */
export interface Transfer {
  type: 'transfer'
  /** See transactionId. */
  id: string
  kind: Exclude<TransferKind, 'return' | 'hold' | 'capture' | 'release'>
  from: AccountRef
  to: AccountRef
  amountCredits: number
  /** On whose behalf: the tenant whose call it was. */
  actor: string
  memo?: string
  /** `to` is made by this very transfer. */
  opens?: NewAccount
  /** Kept beside a redemption, so that whoever lost its answer finds the wallet again. */
  recovery?: { thumbprint: string; sealedCode: string }
  claim?: WrittenClaim
  /** Told if it is posted. */
  event?: NewEvent
}

export interface NewAccount {
  kind: 'wallet' | 'coupon' | 'license'
  /** SHA-256 of the code that spends it. */
  codeHash: Buffer
  /** What is left then flows back to `from`. RFC 3339. */
  expiresAt?: string
}

/** Sets credits of an account aside until the hold ends. */
export interface Hold {
  type: 'hold'
  /** Of the hold, and of the transfer that makes it. See transactionId. */
  id: string
  from: AccountRef
  amountCredits: number
  actor: string
  /** Released by the sweeper then, if nobody ended it. RFC 3339. */
  endsAt: string
  /** What it is for, such as a session's id. */
  purpose: string
}

/** Ends a hold: what is captured goes to `to`, the rest back to where it came from. A hold ends once. */
export interface HoldEnd {
  type: 'hold_end'
  /** The hold's id, and the account it was taken from. */
  id: string
  from: AccountRef
  actor: string
  outcome: 'captured' | 'released' | 'expired'
  /** Up to the hold's amount; absent: nothing. */
  capture?: { to: AccountRef; amountCredits: number }
}

/** Gives what a coupon still holds after its expiry back to where it came from; how much that is shows under lock. */
export interface Return {
  type: 'return'
  /** Any fresh id: what is left can go back only once. */
  id: string
  from: AccountRef
  to: AccountRef
}

export type Movement = Transfer | Hold | HoldEnd | Return

/**
 * What became of a movement. repeated: its own trace was there already, and nothing moved. insufficient: `from` holds too little, or is
 * unknown or over. claim_taken: the caller's Idempotency-Key was used. unknown_hold: there is no such hold, or it holds less than is to
 * be captured.
 */
export type MovementOutcome = 'posted' | 'repeated' | 'insufficient' | 'claim_taken' | 'unknown_hold'

/** The id of a movement, derived from what causes it (`redeem`, token): a retry meets its own trace. */
export function transactionId(...cause: string[]): string {
  const digest = hash('sha256', JSON.stringify(cause), 'buffer')
  let number = BigInt(`0x${digest.subarray(0, 17).toString('hex')}`)
  let out = ''
  for (let i = 0; i < 22; i++) {
    out = base62[Number(number % 62n)]! + out
    number /= 62n
  }
  return idPrefixes.transaction + out
}
