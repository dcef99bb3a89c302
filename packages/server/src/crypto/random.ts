import { hash, randomFillSync } from 'node:crypto'
import { makeCredential, makeId, type CredentialKind, type IdKind } from '@atrium/contract/tokens'

// Random bytes are drawn in bulk: one call to the kernel for some hundred ids instead of one for each.
const pool = Buffer.alloc(8 * 1024)
let used = pool.length

/**
 * Fresh random bytes, never given out twice: a view into the pool, which the next call may fill anew. Use them before
 * it, or copy them.
 */
export function randomBytes(length: number): Uint8Array {
  if (used + length > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const bytes = pool.subarray(used, used + length)
  used += length
  return bytes
}

export function newId(kind: IdKind): string {
  return makeId(kind, randomBytes)
}

export function newCredential(kind: CredentialKind): string {
  return makeCredential(kind, randomBytes)
}

/**
 * What is stored of a credential. Plain SHA-256 is enough: a credential has 178 random bits, so there is nothing to
 * guess.
 */
export function hashCredential(credential: string): Buffer {
  return hash('sha256', credential, 'buffer')
}

/** The id of an account of the books; it never leaves the server. */
export function newAccountId(): string {
  return newId('transaction').replace('txn_', 'acc_')
}
