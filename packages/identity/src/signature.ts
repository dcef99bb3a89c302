import { constants, type KeyObject, verify } from 'node:crypto'
import { promisify } from 'node:util'
import { decodeBase64url } from './base64url.ts'

/** Whether `signature` (base64url) is the RS256 signature of `text`: RSASSA-PKCS1-v1_5 with SHA-256, RFC 7518 §3.3. */
export function isRs256Signature(publicKey: KeyObject, text: string | Uint8Array, signature: string): boolean {
  const bytes = decodeBase64url(signature)
  if (bytes === undefined || publicKey.asymmetricKeyType !== 'rsa') return false
  // The padding is explicit, so that the key never chooses between PKCS #1 v1.5 and PSS.
  return verify('sha256', Buffer.from(text), { key: publicKey, padding: constants.RSA_PKCS1_PADDING }, bytes)
}

/** Whether `signature` (base64url) is the ES256 signature of `text`: ECDSA P-256 with SHA-256, r‖s, RFC 7518 §3.4. */
export function isEs256Signature(publicKey: KeyObject, text: string | Uint8Array, signature: string): boolean {
  const bytes = decodeBase64url(signature)
  if (bytes?.length !== 64 || publicKey.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return false
  return verify('sha256', Buffer.from(text), { key: publicKey, dsaEncoding: 'ieee-p1363' }, bytes)
}

/**
 * Whether `signature` (base64url) is the EdDSA signature of `text` with Ed25519: RFC 8032, RFC 8037 §3.1. Computed by a
 * thread of the pool, because it takes as long as everything else that a request needs: see decision 0045.
 */
export async function isEdDsaSignature(publicKey: KeyObject, text: string | Uint8Array, signature: string): Promise<boolean> {
  const bytes = decodeBase64url(signature)
  if (bytes?.length !== 64 || publicKey.asymmetricKeyType !== 'ed25519') return false
  return verifyInPool(null, Buffer.from(text), publicKey, bytes)
}

const verifyInPool = promisify(verify)
