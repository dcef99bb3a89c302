import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'

/** The 32 secret bytes of an Ed25519 key (RFC 8032 §5.1.5). */
export type Ed25519Seed = Uint8Array

/** What PKCS #8 (RFC 8410) has before the seed, and SubjectPublicKeyInfo before the public key. */
const privatePrefix = Buffer.from('302e020100300506032b657004220420', 'hex')
const publicPrefix = Buffer.from('302a300506032b6570032100', 'hex')

const privateKey = (seed: Ed25519Seed): KeyObject =>
  createPrivateKey({ key: Buffer.concat([privatePrefix, seed]), format: 'der', type: 'pkcs8' })

const importPublicKey = (publicKey: Uint8Array): KeyObject =>
  createPublicKey({ key: Buffer.concat([publicPrefix, publicKey]), format: 'der', type: 'spki' })

/** The 64 bytes of a signature. */
export function signEd25519(seed: Ed25519Seed, message: Uint8Array): Buffer {
  return sign(null, message, privateKey(seed))
}

/** The 32 bytes of the public key. */
export function ed25519PublicKey(seed: Ed25519Seed): Buffer {
  const spki = createPublicKey(privateKey(seed)).export({ format: 'der', type: 'spki' })
  return spki.subarray(publicPrefix.length)
}

export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  return signature.length === 64 && verify(null, message, importPublicKey(publicKey), signature)
}
