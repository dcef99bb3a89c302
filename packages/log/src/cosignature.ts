import { verifyEd25519 } from '#crypto'
import { readUint64, utf8 } from './bytes.ts'
import { LogError } from './log-error.ts'
import { signaturesOf, signatureTypes, type Note, type Verifier } from './note.ts'

/** What a witness signs: a time and the whole text of the checkpoint (C2SP tlog-cosignature, Ed25519). */
export function cosignedMessage(checkpointText: string, timestamp: number): Uint8Array {
  return utf8(`cosignature/v1\ntime ${timestamp}\n${checkpointText}`)
}

/** When a witness cosigned the note, in seconds since 1970. Undefined: it did not. Throws LogError if it is forged. */
export function cosignedAt(note: Note, witness: Verifier): number | undefined {
  let latest: number | undefined
  for (const { signature } of signaturesOf(note, witness)) {
    const timestamp = signature.length === 72 ? readUint64(signature) : Number.NaN
    const isRight =
      witness.type === signatureTypes.cosignature &&
      Number.isSafeInteger(timestamp) &&
      verifyEd25519(witness.publicKey, cosignedMessage(note.text, timestamp), signature.subarray(8))
    if (!isRight) throw new LogError(`the cosignature of ${witness.name} is wrong`)
    latest = Math.max(latest ?? 0, timestamp)
  }
  return latest
}
