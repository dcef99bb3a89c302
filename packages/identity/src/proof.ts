import type { KeyObject } from 'node:crypto'
import { decodeJsonPart, parseCompactJws } from './compact-jws.ts'
import { isEs256Signature } from './signature.ts'

/** The content that the device must have signed. */
export interface ExpectedProof {
  readonly publicKey: KeyObject
  readonly op: string
  readonly room: string
  /** SHA-256 of the message, lower-case hex. The caller defines the bytes; both sides must use the same. */
  readonly sha256: string
  readonly nowMs: number
}

const MAX_PROOF_LENGTH = 4096
const MAX_AGE_SECONDS = 5 * 60
const CLOCK_SKEW_SECONDS = 60

/**
 * Whether `proof` is a compact JWS (ES256) by the device key, made in the last five minutes, over exactly this
 * operation, room and message. It can be sent again within that time, so the operation must have no further effect
 * when repeated (see `proofId`).
 */
export function isProof(proof: unknown, { publicKey, op, room, sha256, nowMs }: ExpectedProof): boolean {
  const jws = parseCompactJws(proof, MAX_PROOF_LENGTH)
  if (jws?.header.alg !== 'ES256' || !isEs256Signature(publicKey, jws.signedText, jws.signature)) return false
  const claims = decodeJsonPart(jws.payload)
  if (!claims || claims.op !== op || claims.room !== room || claims.sha256 !== sha256) return false
  return isRecent(claims.iat, nowMs / 1000)
}

/** The number of base64url characters that contain only bits of r, the first half of the signature. */
const R_CHARACTERS = 42

/**
 * Identifies a valid proof, however often it is sent. The second half of the signature, s, is left out: anyone who
 * has (r, s) can compute (r, n - s), which verifies too. r is random for each signature, so two proofs of the same
 * content in one second have different ids.
 */
export function proofId(proof: string): string {
  const end = proof.lastIndexOf('.') + 1
  return proof.slice(0, end + R_CHARACTERS)
}

function isRecent(iat: unknown, now: number): boolean {
  if (typeof iat !== 'number') return false
  return iat <= now + CLOCK_SKEW_SECONDS && now <= iat + MAX_AGE_SECONDS + CLOCK_SKEW_SECONDS
}
