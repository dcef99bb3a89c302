import { sha256, verifyEd25519 } from '#crypto'
import { decodeBase64, encodeBase64 } from './base64.ts'
import { isSame, joinBytes, toHex, utf8 } from './bytes.ts'
import { LogError } from './log-error.ts'

/** What a key signs (C2SP signed-note): a note's text, or a checkpoint with a time, as a witness does. */
export const signatureTypes = { note: 0x01, cosignature: 0x04 } as const
type SignatureType = (typeof signatureTypes)[keyof typeof signatureTypes]

/** A name and a public key for one type of signature. Its text form is a vkey. */
export interface Verifier {
  name: string
  type: SignatureType
  /** 32 bytes (RFC 8032). */
  publicKey: Uint8Array
  /** The first 4 bytes of the hash of the other fields. */
  keyId: Uint8Array
}

/** One line under a note. */
export interface NoteSignature {
  name: string
  keyId: Uint8Array
  signature: Uint8Array
}

export interface Note {
  /** Ends in a newline. */
  text: string
  signatures: NoteSignature[]
}

/** No note that is read here needs more. Verifiers must accept 16 signatures, and each may have 5 kB. */
const maxNoteBytes = 256 * 1024
const maxSignatures = 64

/** Names that a signature line can carry: no Unicode space, no plus, no control character. */
const isKeyName = (name: string) => name !== '' && !/[\s+\p{White_Space}\p{Cc}]/u.test(name)

export function makeVerifier(name: string, type: SignatureType, publicKey: Uint8Array): Verifier {
  if (!isKeyName(name)) throw new LogError(`"${name}" cannot be the name of a key`)
  if (publicKey.length !== 32) throw new LogError('an Ed25519 public key has 32 bytes')
  const hash = sha256(utf8(`${name}\n`), Uint8Array.of(type), publicKey)
  return { name, type, publicKey, keyId: hash.subarray(0, 4) }
}

/** The vkey: `name+keyid+base64`, such as `example.com/log+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k`. */
export function formatVerifier({ name, type, publicKey, keyId }: Verifier): string {
  return `${name}+${toHex(keyId)}+${encodeBase64(joinBytes(Uint8Array.of(type), publicKey))}`
}

/** Reads a vkey of one of our signature types. Throws LogError. */
export function parseVerifier(vkey: string): Verifier {
  // base64 may contain a plus, the name and the hexadecimal key ID may not.
  const [, name, idText, encoded] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(vkey) ?? []
  if (name === undefined || idText === undefined || encoded === undefined) {
    throw new LogError(`"${vkey}" is not a verifier key of the form name+id+key`)
  }
  const [type, ...key] = decodeBase64(encoded, 'the verifier key')
  if (type !== signatureTypes.note && type !== signatureTypes.cosignature) {
    throw new LogError(`the verifier key of ${name} is not of a type for Ed25519`)
  }
  const verifier = makeVerifier(name, type, Uint8Array.from(key))
  if (toHex(verifier.keyId) !== idText) {
    throw new LogError(`the verifier key of ${name} has another key ID than its content`)
  }
  return verifier
}

export function formatSignature({ name, keyId, signature }: NoteSignature): string {
  return `— ${name} ${encodeBase64(joinBytes(keyId, signature))}\n`
}

export function formatNote({ text, signatures }: Note): string {
  return `${text}\n${signatures.map(formatSignature).join('')}`
}

/** Reads signature lines, each of which ends in a newline. */
export function parseSignatures(text: string): NoteSignature[] {
  if (!text.endsWith('\n')) throw new LogError('the signatures do not end in a newline')
  const lines = text.slice(0, -1).split('\n')
  if (lines.length > maxSignatures) throw new LogError(`a note has more than ${maxSignatures} signatures`)
  return lines.map((line) => {
    const [dash, name, encoded, ...others] = line.split(' ')
    if (dash !== '—' || name === undefined || encoded === undefined || others.length > 0 || !isKeyName(name)) {
      throw new LogError('a signature line has not the form "— name signature"')
    }
    const bytes = decodeBase64(encoded, `the signature of ${name}`)
    if (bytes.length < 5) throw new LogError(`the signature of ${name} is too short`)
    return { name, keyId: bytes.subarray(0, 4), signature: bytes.subarray(4) }
  })
}

/** Reads a signed note. It verifies nothing: use `isSignedBy`, or the functions of checkpoints, before the text. */
export function parseNote(note: string): Note {
  if (utf8(note).length > maxNoteBytes) throw new LogError('the note is too long')
  if (!note.isWellFormed() || /[\0-\x09\x0b-\x1f]/.test(note)) throw new LogError('the note has control characters')
  const end = note.lastIndexOf('\n\n')
  if (end === -1) throw new LogError('the note has no signatures')
  return { text: note.slice(0, end + 1), signatures: parseSignatures(note.slice(end + 2)) }
}

/** The signatures of a note that claim to be of this key. */
export const signaturesOf = ({ signatures }: Pick<Note, 'signatures'>, { name, keyId }: Verifier) =>
  signatures.filter((line) => line.name === name && isSame(line.keyId, keyId))

/**
 * Whether this key signed the note's text. Throws LogError if a signature names the key and is wrong: such a note is
 * malformed, and nothing in it can be relied on.
 */
export function isSignedBy(note: Note, verifier: Verifier): boolean {
  const lines = signaturesOf(note, verifier)
  for (const { signature } of lines) {
    if (verifier.type !== signatureTypes.note || !verifyEd25519(verifier.publicKey, utf8(note.text), signature)) {
      throw new LogError(`the signature of ${verifier.name} is wrong`)
    }
  }
  return lines.length > 0
}
