import { ed25519PublicKey, signEd25519, verifyEd25519, type Ed25519Seed } from './ed25519.ts'
import { LogError } from './log-error.ts'
import { makeVerifier, signaturesOf, signatureTypes, type Note, type NoteSignature, type Verifier } from './note.ts'

/** What a witness signs: a time and the whole text of the checkpoint (C2SP tlog-cosignature, Ed25519). */
export function cosignedMessage(checkpointText: string, timestamp: number): Buffer {
  return Buffer.from(`cosignature/v1\ntime ${timestamp}\n${checkpointText}`)
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

/** When a witness cosigned the note, in seconds since 1970. Undefined: it did not. Throws LogError if it is forged. */
export function cosignedAt(note: Note, witness: Verifier): number | undefined {
  let latest: number | undefined
  for (const { signature } of signaturesOf(note, witness)) {
    const bytes = Buffer.from(signature)
    const timestamp = bytes.length === 72 ? Number(bytes.readBigUInt64BE()) : Number.NaN
    const isRight =
      witness.type === signatureTypes.cosignature &&
      Number.isSafeInteger(timestamp) &&
      verifyEd25519(witness.publicKey, cosignedMessage(note.text, timestamp), bytes.subarray(8))
    if (!isRight) throw new LogError(`the cosignature of ${witness.name} is wrong`)
    latest = Math.max(latest ?? 0, timestamp)
  }
  return latest
}
