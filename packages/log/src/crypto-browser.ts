import { ed25519 } from '@noble/curves/ed25519'
import { sha256 as sha256Of } from '@noble/hashes/sha2'
import { joinBytes } from './bytes.ts'

// The same as crypto-node.ts, which package.json replaces in a browser. WebCrypto has both, but only as promises, and
// many browsers in use have no Ed25519. So the code that verifies is the same in both places.

/** SHA-256 of the parts, one after the other. */
export function sha256(...parts: Uint8Array[]): Uint8Array {
  return sha256Of(joinBytes(...parts))
}

/** Whether it is the signature of RFC 8032 with this key of 32 bytes. */
export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== 64) return false
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false })
  } catch {
    // The key is no point of the curve.
    return false
  }
}
