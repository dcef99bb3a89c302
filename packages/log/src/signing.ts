import { createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto'
import { formatCheckpoint, type Checkpoint } from './checkpoint.ts'
import { cosignedMessage } from './cosignature.ts'
import { formatNote, makeVerifier, signatureTypes, type NoteSignature, type Verifier } from './note.ts'

/** The 32 secret bytes of an Ed25519 key (RFC 8032 §5.1.5). */
export type Ed25519Seed = Uint8Array

/** What PKCS #8 (RFC 8410) has before the seed. */
const prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

const privateKey = (seed: Ed25519Seed): KeyObject =>
  createPrivateKey({ key: Buffer.concat([prefix, seed]), format: 'der', type: 'pkcs8' })

/** The 64 bytes of a signature. */
export function signEd25519(seed: Ed25519Seed, message: Uint8Array): Buffer {
  return sign(null, message, privateKey(seed))
}

/** The 32 bytes of the public key. */
export function ed25519PublicKey(seed: Ed25519Seed): Buffer {
  return createPublicKey(privateKey(seed)).export({ format: 'der', type: 'spki' }).subarray(-32)
}

/** Signs the text of a note, which ends in a newline (signature type 0x01). */
export function signNote(text: string, name: string, seed: Ed25519Seed): NoteSignature {
  const { keyId } = makeVerifier(name, signatureTypes.note, ed25519PublicKey(seed))
  return { name, keyId, signature: signEd25519(seed, Buffer.from(text)) }
}

/** Signs a checkpoint as its log. The key's name is the origin. */
export function signCheckpoint(checkpoint: Checkpoint, seed: Ed25519Seed): string {
  const text = formatCheckpoint(checkpoint)
  return formatNote({ text, signatures: [signNote(text, checkpoint.origin, seed)] })
}

/** The vkey of a witness: signature type 0x04. */
export const witnessVerifier = (name: string, seed: Ed25519Seed): Verifier =>
  makeVerifier(name, signatureTypes.cosignature, ed25519PublicKey(seed))

/** Cosigns a checkpoint. `timestamp` is in seconds since 1970. */
export function cosign(checkpointText: string, name: string, seed: Ed25519Seed, timestamp: number): NoteSignature {
  const time = Buffer.alloc(8)
  time.writeBigUInt64BE(BigInt(timestamp))
  const signature = Buffer.concat([time, signEd25519(seed, cosignedMessage(checkpointText, timestamp))])
  return { name, keyId: witnessVerifier(name, seed).keyId, signature }
}
