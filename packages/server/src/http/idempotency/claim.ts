import { hash, timingSafeEqual } from 'node:crypto'
import { limits } from '@atrium/contract/limits'
import type { Vault } from '#crypto/vault/vault.ts'

/** A serialised answer. */
export interface SentAnswer {
  status: number
  body: string
}

/**
 * A request's claim on its Idempotency-Key. The transaction that writes the request's effect also writes the claim's
 * row with the sealed answer, so a crash never leaves one without the others.
 */
export interface Claim<Answer = unknown> {
  /** Identifies the caller: the tenant, or another credential. */
  scope: string
  keyHash: Buffer
  /** The row's body_hash column. See Vault.fingerprintDigestWith. */
  bodyHash: Buffer
  /** Whether a stored body_hash matches this request's body. */
  isSameBody: (bodyHash: Buffer) => boolean
  /**
   * A hash of the request, the same for every repeat. It does not depend on the master key, so it must not be stored.
   */
  seed: () => Buffer
  expiresAt: string
  /** See ClaimInput. */
  proof: string | undefined
  bindsProof: boolean
  /** The row's answer column. */
  seal: (answer: Answer) => Buffer
}

/** A claim's row with the sealed answer, written by the same statement as the effect. */
export interface WrittenClaim {
  scope: string
  keyHash: Buffer
  bodyHash: Buffer
  expiresAt: string
  answer: Buffer
}

interface ClaimInput<Answer> {
  scope: string
  operationId: string
  path: string
  idempotencyKey: string
  body: Buffer
  nowMs: number
  vault: Vault
  /**
   * SHA-256, base64url, of the X-Collection-Token if the operation accepts one, or of the key if the operation may
   * expire that key. It is stored with the answer, so that a repeat can be attributed to the same caller after the
   * collection or the key is gone. For an operation with query parameters, it is the hash of these.
   */
  proof: string | undefined
  /** Whether a request with another proof is another request. Earlier releases stored no proof then. */
  bindsProof: boolean
  /** Serialises a handler's answer. */
  serialise: (answer: Answer) => SentAnswer
}

export function makeClaim<Answer>(input: ClaimInput<Answer>): Claim<Answer> {
  const secret = JSON.stringify([input.scope, input.operationId, input.path, input.idempotencyKey])
  return {
    scope: input.scope,
    keyHash: hash('sha256', secret, 'buffer'),
    bodyHash: input.vault.fingerprintDigestWith(secret, digestOf(input.body)),
    isSameBody: (stored) => isSameBody(input.vault, secret, input.body, stored),
    seed: () => hash('sha256', Buffer.concat([Buffer.from(secret), input.body]), 'buffer'),
    expiresAt: new Date(input.nowMs + limits.idempotencyTtlMs).toISOString(),
    proof: input.proof,
    bindsProof: input.bindsProof,
    seal: (answer) => {
      const { status, body } = input.serialise(answer)
      const head = input.proof === undefined ? `${status}` : `${status} ${input.proof}`
      return input.vault.sealWith(secret, Buffer.from(`${head} ${body}`))
    },
  }
}

/** What a caller who looks up the outcome of a request says of it. */
export interface AskedRequest {
  scope: string
  operationId: string
  path: string
  idempotencyKey: string
  /** SHA-256 of its body. */
  bodyDigest: Buffer
}

/** A claim to look up, without a body of its own. */
export type AskedClaim = Pick<Claim, 'scope' | 'keyHash' | 'isSameBody'>

export function askedClaim(vault: Vault, { bodyDigest, ...asked }: AskedRequest): AskedClaim {
  const secret = JSON.stringify([asked.scope, asked.operationId, asked.path, asked.idempotencyKey])
  return {
    scope: asked.scope,
    keyHash: hash('sha256', secret, 'buffer'),
    isSameBody: (stored) =>
      stored.length === plainHashBytes
        ? timingSafeEqual(stored, bodyDigest)
        : vault.isDigestFingerprintWith(secret, bodyDigest, stored),
  }
}

function digestOf(body: Buffer): Buffer {
  return hash('sha256', body, 'buffer')
}

const plainHashBytes = 32

/**
 * The fingerprint is of the body's SHA-256, so that whoever looks up the outcome need not send the body. Earlier
 * releases made it of the body itself, or stored the plain SHA-256. Those rows expire within a day of the upgrade and
 * are accepted until then: docs/decisions/0016-what-is-hashed.md.
 */
function isSameBody(vault: Vault, secret: string, body: Buffer, stored: Buffer): boolean {
  if (stored.length === plainHashBytes) return stored.equals(digestOf(body))
  return vault.isDigestFingerprintWith(secret, digestOf(body), stored) || vault.isFingerprintWith(secret, body, stored)
}

export interface KeptAnswer extends SentAnswer {
  proof: string | undefined
}

// A body is empty or JSON, so it cannot be mistaken for a proof.
const keptPattern = /^(\d{3}) (?:([\w-]{43}) )?(.*)$/s

/** Opens a stored answer with the caller's Idempotency-Key. */
export function openAnswer(
  input: Pick<ClaimInput<never>, 'scope' | 'operationId' | 'path' | 'idempotencyKey' | 'vault'>,
  sealed: Buffer,
): KeptAnswer {
  const secret = JSON.stringify([input.scope, input.operationId, input.path, input.idempotencyKey])
  const [, status, proof, body] = keptPattern.exec(input.vault.openWith(secret, sealed).toString()) ?? []
  if (body === undefined) throw new Error('a stored answer is malformed')
  return { status: Number(status), body, proof }
}

const keyPattern = /^[\x20-\x7e]{1,255}$/

export function isIdempotencyKey(text: string): boolean {
  return keyPattern.test(text)
}
