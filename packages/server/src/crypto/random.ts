import { hash, randomFillSync } from 'node:crypto'
import { makeCredential, makeId, makeTimedId, type CredentialKind, type IdKind } from '@atrium/contract/tokens'

// Random bytes are drawn in bulk: one system call for several hundred ids.
const pool = Buffer.alloc(8 * 1024)
let used = pool.length

/**
 * Returns fresh random bytes, each only once. The result is a view into the pool, which the next call may overwrite:
 * use or copy it before that.
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

/** The id of a request that arrives now. The request log finds the entry by the time in the id. */
export function newRequestId(): string {
  return makeTimedId('request', Date.now(), randomBytes)
}

export function newCredential(kind: CredentialKind): string {
  return makeCredential(kind, randomBytes)
}

/**
 * The hash that is stored of a credential. Plain SHA-256 is enough, because a credential has 178 random bits and
 * cannot be guessed.
 */
export function hashCredential(credential: string): Buffer {
  return hash('sha256', credential, 'buffer')
}

/** The id of an account of the ledger. It never leaves the server. */
export function newAccountId(): string {
  return newId('transaction').replace('txn_', 'acc_')
}
