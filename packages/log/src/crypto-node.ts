import { createPublicKey, hash, verify } from 'node:crypto'

/** SHA-256 of the parts, one after the other. */
export function sha256(...parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(hash('sha256', Buffer.concat(parts), 'buffer'))
}

/** What SubjectPublicKeyInfo (RFC 8410) has before the key. */
const prefix = Buffer.from('302a300506032b6570032100', 'hex')

/** Whether it is the signature of RFC 8032 with this key of 32 bytes. */
export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== 64) return false
  const key = createPublicKey({ key: Buffer.concat([prefix, publicKey]), format: 'der', type: 'spki' })
  return verify(null, message, key, signature)
}
