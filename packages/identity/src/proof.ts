import type { KeyObject } from 'node:crypto'
import { decodeJsonPart, parseCompactJws } from './compact-jws.ts'
import { isEs256Signature } from './signature.ts'

/** What the device must have signed. */
export interface ExpectedProof {
  readonly publicKey: KeyObject
  readonly op: string
  readonly room: string
  /** SHA-256 of the message, lower-case hex. The caller decides over which bytes; both sides must take the same. */
  readonly sha256: string
  readonly nowMs: number
}

const MAX_PROOF_LENGTH = 4096
const MAX_AGE_SECONDS = 5 * 60
const CLOCK_SKEW_SECONDS = 60

/**
 * Whether `proof` is a compact JWS (ES256) made by the device key in the last five minutes over exactly this
 * operation, room and message. Within those minutes it can be sent again: what it allows must be the same done twice
 * (see `proofId`).
 */
export function isProof(proof: unknown, { publicKey, op, room, sha256, nowMs }: ExpectedProof): boolean {
  const jws = parseCompactJws(proof, MAX_PROOF_LENGTH)
  if (jws?.header.alg !== 'ES256' || !isEs256Signature(publicKey, jws.signedText, jws.signature)) return false
  const claims = decodeJsonPart(jws.payload)
  if (!claims || claims.op !== op || claims.room !== room || claims.sha256 !== sha256) return false
  return isRecent(claims.iat, nowMs / 1000)
}

/** Characters of base64url that hold only bits of r, the first half of the signature. */
const R_CHARACTERS = 42

/**
 * What identifies a genuine proof, however often it is sent. Without s, the second half of the signature: whoever has
 * (r, s) can compute (r, n - s), which verifies too. r is fresh for each signature, so that two proofs of the same
 * content in one second are still two.
 */
export function proofId(proof: string): string {
  const end = proof.lastIndexOf('.') + 1
  return proof.slice(0, end + R_CHARACTERS)
}

function isRecent(iat: unknown, now: number): boolean {
  if (typeof iat !== 'number') return false
  return iat <= now + CLOCK_SKEW_SECONDS && now <= iat + MAX_AGE_SECONDS + CLOCK_SKEW_SECONDS
}
