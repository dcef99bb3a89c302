import { isSame } from '@atrium/log/bytes'
import { openCheckpoint, type OpenedCheckpoint } from '@atrium/log/checkpoint'
import { cosignedAt } from '@atrium/log/cosignature'
import { LogError } from '@atrium/log/log-error'
import { formatSignature, formatVerifier, parseNote, parseSignatures, type Verifier } from '@atrium/log/note'
import type { Policy } from '@atrium/log/policy'
import { Tree } from '@atrium/log/tree'
import { codeOf, fieldOf, messageOf } from '#errors/caught.ts'
import type { Context } from '../context.ts'
import {
  findCheckpoint,
  listCosignatures,
  recordHearing,
  recordRefusal,
  recordWaiting,
  saveCosignature,
} from './checkpoint-store.ts'
import { listLogVerifiers } from './log-keys.ts'
import { getTree, type LogTree } from './store.ts'
import { readStoredTile } from './stored-tree.ts'
import { askToCosign, fetchSeen } from './witness-calls.ts'

type LogContext = Pick<Context, 'config' | 'db' | 'log' | 'restoreWindow'>

/**
 * Whether the tree may be signed. It may not be once a witness shows that this log signed what the database does not
 * have: it was restored from an older backup, or lost commits, and signing would fork the log. Only a checkpoint with
 * this log's signature counts, so a witness that lies stops nothing. A witness that cannot be reached delays nothing,
 * with one exception: a restored database waits until all have answered once, because the one that is missing may be the
 * one that has seen most. The operator goes on without it by taking it out of the policy.
 */
export async function maySign(ctx: LogContext, origin: string): Promise<boolean> {
  const { db, log, config } = ctx
  const tree = await getTree(db)
  if (refusalOf(tree, origin) !== undefined) return false
  const witnesses = reachable(config.logPolicy)
  const restoredAt = await ctx.restoreWindow.restoredAt()
  const isUnheard = restoredAt !== undefined && (tree.heardAt === undefined || tree.heardAt < restoredAt)
  // After a restore, those retired long ago count too: a witness that was not told of a rotation still has what they
  // signed. Otherwise whoever has a leaked key could stop the log with it after the rotation.
  const keys = await listLogVerifiers(db, origin, isUnheard)
  const answers = await Promise.all(witnesses.map((witness) => hear(ctx, witness, { origin, keys, isUnheard })))
  const at = answers.findIndex(({ lost }) => lost !== undefined)
  if (at !== -1) {
    const refusal = `witness ${witnesses[at]?.name} has a checkpoint that this log signed and this database does not have: ${answers[at]?.lost}`
    await recordRefusal(db, origin, refusal)
    log.error({ refusal }, 'the transparency log signs nothing more: restore a newer backup (docs/transparency-log.md)')
    return false
  }
  const missing = answers.flatMap((answer, i) =>
    answer.missing === undefined ? [] : [`${witnesses[i]?.name} ${answer.missing}`],
  )
  if (isUnheard && missing.length > 0) {
    const waiting = `after the restore, the log waits for each witness of its policy: ${missing.join('; ')}`
    if (waiting !== tree.waiting) {
      await recordWaiting(db, waiting)
      log.warn({ waiting }, 'the transparency log signs nothing yet (docs/transparency-log.md, "After a restore")')
    }
    return false
  }
  if (missing.length < answers.length) await recordHearing(db)
  else if (tree.waiting !== undefined) await recordWaiting(db, null)
  return true
}

/** Why the log signs nothing, for the operator. undefined: it signs. */
export async function findStopped(db: Context['db'], origin: string): Promise<string | undefined> {
  const tree = await getTree(db)
  return refusalOf(tree, origin) ?? tree.waiting
}

/** Another origin is another log, which the refusal of this one does not stop. */
const refusalOf = ({ refusal }: LogTree, origin: string) =>
  refusal !== undefined && (refusal.origin ?? origin) === origin ? refusal.reason : undefined

interface Asked {
  origin: string
  keys: readonly Verifier[]
  /** Whether nothing is signed without the answer. */
  isUnheard: boolean
}

interface Answer {
  /** What the witness proves to be missing in the database. */
  lost?: string
  /** Why the answer does not show what the witness has seen. */
  missing?: string
}

async function hear(ctx: LogContext, { url, verifier }: Reachable, { origin, keys, isUnheard }: Asked): Promise<Answer> {
  const { status, body } = await fetchSeen(url, origin).catch((error: unknown) => ({ status: undefined, body: causeOf(error) }))
  const seen = status === 200 ? openSeen(body, keys) : undefined
  if (seen !== undefined) {
    const lost = await findLost(ctx, seen)
    return lost === undefined ? {} : { lost }
  }
  const shows =
    status === undefined
      ? `was not reached (${body})`
      : status !== 200
        ? `answers ${status}`
        : body.startsWith(`${origin}\n`)
          ? 'shows a checkpoint of a key that this database does not have'
          : 'answers 200 with something else than a checkpoint of this log'
  if (!isUnheard) return { missing: shows }
  // The witness may have no checkpoint of this log, or may not show it: a proxy answers 404 while its witness is down. A
  // witness that cosigns the last checkpoint of the database has seen nothing newer.
  const last = await findCheckpoint(ctx.db, origin)
  if (last === undefined) return { missing: `${shows}, and this database has no checkpoint of ${origin} that it could cosign` }
  return askWitness(ctx, url, last, last.size, verifier).then(
    (line) => (line === false ? { missing: shows } : {}),
    // The cause may also be here, such as a tile that cannot be read.
    (error: unknown) => ({
      missing: status === undefined ? shows : `${shows}, and could not be asked to cosign (${causeOf(error)})`,
    }),
  )
}

/** The code of the error on the network, such as ECONNREFUSED, which fetch hides. */
const causeOf = (error: unknown) => codeOf(fieldOf(error, 'cause')) ?? messageOf(error)

/** undefined: it is no checkpoint that this log signed. */
function openSeen(signed: string, keys: readonly Verifier[]): OpenedCheckpoint | undefined {
  try {
    return openCheckpoint(signed, keys)
  } catch (error) {
    if (error instanceof LogError) return undefined
    throw error
  }
}

/**
 * What a signed checkpoint proves to be missing here. The tree is read after the witness has answered: while this
 * process asked, or stood still, another one may have grown the tree, signed it and had it cosigned.
 */
async function findLost({ db }: LogContext, seen: OpenedCheckpoint): Promise<string | undefined> {
  const { size } = await getTree(db)
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
  const collect = async ({ name, url, verifier }: Reachable): Promise<boolean> => {
    const witness = formatVerifier(verifier)
    if (known.get(witness) === last.size) return true
    const line = await askWitness(ctx, url, last, known.get(witness) ?? 0, verifier)
    if (line === false) log.warn({ witness: name }, 'a witness did not cosign the checkpoint')
    else await saveCosignature(db, origin, { witness, size: last.size, line })
    return line !== false
  }
  // One that fails does not keep the others from being stored.
  const outcomes = await Promise.all(
    reachable(config.logPolicy).map((witness) =>
      collect(witness).catch((error: unknown) => {
        log.warn({ witness: witness.name, reason: causeOf(error) }, 'no cosignature of a witness was stored')
        return false
      }),
    ),
  )
  return outcomes.filter(Boolean).length
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

type Reachable = Policy['witnesses'][number] & { url: string }

/** The policy's witnesses. `readLogPolicy` has checked that each has an address. */
const reachable = ({ witnesses }: Policy): Reachable[] =>
  witnesses.flatMap((one) => (one.url === undefined ? [] : [{ ...one, url: one.url }]))
