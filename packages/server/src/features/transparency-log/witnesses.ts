import { isSame } from '@atrium/log/bytes'
import { openCheckpoint, type OpenedCheckpoint } from '@atrium/log/checkpoint'
import { cosignedAt } from '@atrium/log/cosignature'
import { LogError } from '@atrium/log/log-error'
import { formatSignature, formatVerifier, parseNote, parseSignatures, type Verifier } from '@atrium/log/note'
import type { Policy } from '@atrium/log/policy'
import { Tree } from '@atrium/log/tree'
import type { Context } from '../context.ts'
import { findCheckpoint, listCosignatures, recordHearing, recordRefusal, saveCosignature } from './checkpoint-store.ts'
import { listLogVerifiers } from './log-keys.ts'
import { getTree } from './store.ts'
import { readStoredTile } from './stored-tree.ts'
import { askToCosign, fetchSeen } from './witness-calls.ts'

type LogContext = Pick<Context, 'config' | 'db' | 'log' | 'restoreWindow'>

/**
 * Whether the tree may be signed. It may not be once a witness shows that this log signed what the database does not
 * have: it was restored from an older backup, or lost commits, and signing would fork the log. Only a checkpoint with
 * this log's signature counts, so a witness that lies stops nothing. A witness that cannot be reached delays nothing,
 * with one exception: a restored database waits until one has answered. It also waits while a witness shows a
 * checkpoint of a key that it does not know, because the key may have been rotated after the backup.
 */
export async function maySign(ctx: LogContext, origin: string): Promise<boolean> {
  const { db, log, config } = ctx
  const tree = await getTree(db)
  if (tree.refusal !== undefined) return false
  const witnesses = reachable(config.logPolicy)
  if (witnesses.length === 0) return true
  const restoredAt = await ctx.restoreWindow.restoredAt()
  const isUnheard = restoredAt !== undefined && (tree.heardAt === undefined || tree.heardAt < restoredAt)
  // After a restore, those retired long ago count too: a witness that was not told of a rotation still has what they
  // signed. Otherwise whoever has a leaked key could stop the log with it after the rotation.
  const keys = await listLogVerifiers(db, origin, isUnheard)
  const answers = await Promise.allSettled(witnesses.map(({ url }) => fetchSeen(url, origin)))
  let hasHeard = false
  let stranger: string | undefined
  for (const [i, answer] of answers.entries()) {
    if (answer.status === 'rejected') continue
    const seen = answer.value === undefined ? undefined : openSeen(answer.value, keys)
    if (answer.value !== undefined && !seen) stranger = witnesses[i]?.name
    else hasHeard = true
    const lost = seen && (await findLost(ctx, tree.size, seen))
    if (lost === undefined) continue
    const refusal = `witness ${witnesses[i]?.name} has a checkpoint that this log signed and this database does not have: ${lost}`
    await recordRefusal(db, refusal)
    log.error({ refusal }, 'the transparency log signs nothing more: restore a newer backup (docs/operating/backup.md)')
    return false
  }
  if (isUnheard && stranger !== undefined) {
    log.warn(
      { witness: stranger },
      'the transparency log signs nothing after the restore: a witness has a checkpoint of another key',
    )
    return false
  }
  if (hasHeard) {
    await recordHearing(db)
    return true
  }
  if (isUnheard) log.warn('the transparency log signs nothing after the restore until a witness has answered')
  return !isUnheard
}

/** undefined: it is no checkpoint that this log signed. */
function openSeen(signed: string, keys: readonly Verifier[]): OpenedCheckpoint | undefined {
  try {
    return openCheckpoint(signed, keys)
  } catch (error) {
    if (error instanceof LogError) return undefined
    throw error
  }
}

/** What a signed checkpoint proves to be missing here. */
async function findLost({ db }: LogContext, size: number, seen: OpenedCheckpoint): Promise<string | undefined> {
  if (seen.size > size) return `it has ${seen.size} leaves, and there are ${size} here`
  const root = await new Tree(size, readStoredTile(db)).root(seen.size)
  return isSame(root, seen.root) ? undefined : `its root of ${seen.size} leaves is another one`
}

/** Asks each witness that has not cosigned the last checkpoint to do so. Returns how many have cosigned it now. */
export async function collectCosignatures(ctx: LogContext, origin: string): Promise<number> {
  const { db, log, config } = ctx
  const last = await findCheckpoint(db, origin)
  if (last === undefined) return 0
  const known = new Map((await listCosignatures(db, origin)).map((one) => [one.witness, one.size]))
  const outcomes = await Promise.allSettled(
    reachable(config.logPolicy).map(async ({ name, url, verifier }) => {
      const witness = formatVerifier(verifier)
      const line = known.get(witness) === last.size || (await askWitness(ctx, url, last, known.get(witness) ?? 0, verifier))
      if (line === false) log.warn({ witness: name }, 'a witness did not cosign the checkpoint')
      else if (line !== true) await saveCosignature(db, origin, { witness, size: last.size, line })
      return line !== false
    }),
  )
  return outcomes.filter((outcome) => outcome.status === 'fulfilled' && outcome.value).length
}

/** The signature line, or false. Throws if the witness cannot be reached. */
async function askWitness(
  { db }: LogContext,
  url: string,
  { size, signed }: { size: number; signed: string },
  knownSize: number,
  verifier: Verifier,
): Promise<string | false> {
  const tree = new Tree(size, readStoredTile(db))
  const ask = async (oldSize: number) =>
    askToCosign(url, { oldSize, proof: await tree.consistencyProof(oldSize), checkpoint: signed })
  let answer = await ask(knownSize)
  // The witness is right about what it has seen, for instance after our answer was lost.
  if (answer.outcome === 'conflict' && answer.size <= size) answer = await ask(answer.size)
  if (answer.outcome !== 'cosigned') return false
  const note = { text: parseNote(signed).text, signatures: parseSignatures(answer.lines) }
  const own = note.signatures.find((signature) => cosignedAt({ ...note, signatures: [signature] }, verifier) !== undefined)
  return own === undefined ? false : formatSignature(own)
}

/** The policy's witnesses. `readLogPolicy` has checked that each has an address. */
const reachable = ({ witnesses }: Policy) => witnesses.flatMap((one) => (one.url === undefined ? [] : [{ ...one, url: one.url }]))
