import { isSame, toHex, utf8 } from './bytes.ts'
import { openCheckpoint, type OpenedCheckpoint } from './checkpoint.ts'
import { LogError } from './log-error.ts'
import { assertConsistency, hashLeaf } from './merkle.ts'
import type { Verifier } from './note.ts'
import { verifyProof } from './proof.ts'
import { tilePath } from './tiles.ts'
import { Tree } from './tree.ts'

// What `atrium verify` and the panel of the Space app check of an installation's log, with the same code.

/** Gets a file of the log by its path, such as `/log/checkpoint`. */
export type GetFile = (path: string) => Promise<Uint8Array>

/** The tree that a device saw before. */
export interface SeenTree {
  size: number
  root: Uint8Array
}

/** The log is not the one that this device saw before. */
export class LogChanged extends LogError {
  readonly kind: 'rolled_back' | 'forked'
  constructor(kind: LogChanged['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

const getText = async (getFile: GetFile, path: string) => new TextDecoder().decode(await getFile(path))

/** The head of the log now, signed by one of the keys. Throws LogError. */
export async function readHead(getFile: GetFile, keys: readonly Verifier[]): Promise<OpenedCheckpoint> {
  return openCheckpoint(await getText(getFile, '/log/checkpoint'), keys)
}

/** Throws LogChanged unless the log still has, in their places, all entries that this device saw. */
export async function assertContinues(getFile: GetFile, seen: SeenTree, head: SeenTree): Promise<void> {
  if (head.size < seen.size)
    throw new LogChanged(
      'rolled_back',
      `the log was rolled back: it had ${seen.size} entries when this machine saw it, and now has ${head.size}`,
    )
  if (head.size === seen.size && !isSame(head.root, seen.root))
    throw new LogChanged('forked', `the log forked: it has another root for ${seen.size} entries than this machine saw`)
  const tree = new Tree(head.size, (id) => getFile(`/log/${tilePath(id)}`))
  const proof = await tree.consistencyProof(seen.size)
  try {
    assertConsistency(seen, head, proof)
  } catch (error) {
    throw error instanceof LogError ? new LogChanged('forked', error.message) : error
  }
}

/**
 * Throws LogError unless the log has the entry. The proof may be of a newer or an older head than the given one, and one
 * must continue the other: a log that shows each person another tree would have a proof for everyone. Returns the newer
 * head, with which the next proof is compared.
 */
export async function proveEntry(
  getFile: GetFile,
  entry: object,
  head: OpenedCheckpoint,
  keys: readonly Verifier[],
): Promise<OpenedCheckpoint> {
  const bytes = utf8(JSON.stringify(entry))
  const proof = await getText(getFile, `/log/proof/${toHex(hashLeaf(bytes))}`)
  const proved = verifyProof(proof, bytes, keys)
  if (proved.origin !== head.origin) throw new LogError(`the proof is of another log, ${proved.origin}`)
  const [older, newer] = proved.size > head.size ? [head, proved] : [proved, head]
  if (older.size === newer.size && !isSame(older.root, newer.root))
    throw new LogChanged('forked', 'the log forked: the proof has another root than its head')
  if (older.size < newer.size) await assertContinues(getFile, older, newer)
  return newer
}

/** The entry of a certificate, of the answer of `/cert.json`. */
export function certificateEntry({ signed, sig, alg, pubkey }: Record<string, unknown>) {
  return { type: 'certificate', signed, sig, alg, pubkey }
}

/** The entry of an epoch, of the answer of the API. */
export function epochEntry(offered: Record<string, unknown>) {
  const { epoch, issuer, public_key: key, value, created_at, expires_at } = offered
  const { kty, n, e } = typeof key === 'object' && key !== null ? (key as Record<string, unknown>) : {}
  return { type: 'epoch', epoch, issuer, public_key: { kty, n, e }, value, created_at, expires_at }
}

/** As the API writes it. `Date.parse` alone also reads "0" and "never 1" as dates of the past. */
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/

/**
 * Whether tokens of this epoch are still accepted. Without a valid `expires_at` they count as accepted: otherwise, an
 * operator could keep the epoch out of the comparison with the log.
 */
export const isOffered = ({ expires_at: ends }: Record<string, unknown>, nowMs: number): boolean =>
  typeof ends !== 'string' || !time.test(ends) || !(Date.parse(ends) <= nowMs)
