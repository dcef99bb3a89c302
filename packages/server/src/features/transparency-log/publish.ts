import { signNote } from '@atrium/log/signing'
import { formatCheckpoint } from '@atrium/log/checkpoint'
import { formatNote, parseNote, signaturesOf } from '@atrium/log/note'
import type { Context } from '../context.ts'
import { findCheckpoint, listCosignatures, recordWaiting, saveCheckpoint } from './checkpoint-store.ts'
import { openLogKeys, type LogKey } from './log-keys.ts'
import { getTree } from './store.ts'
import { maySign } from './witnesses.ts'

/** The log's identity: its address without the scheme. */
export const logOrigin = (publicUrl: string) => `${new URL(publicUrl).host}/log`

/**
 * Signs the tree, if it has grown since the last checkpoint or the keys have changed. The tree is committed before it is
 * signed: what was signed is never lost with the process.
 */
export async function publishCheckpoint(ctx: Pick<Context, 'config' | 'db' | 'vault' | 'log' | 'restoreWindow'>): Promise<void> {
  const { db, vault } = ctx
  const origin = logOrigin(ctx.config.publicUrl)
  const { size, root, waiting } = await getTree(db)
  const last = await findCheckpoint(db, origin)
  const keys = await openLogKeys(db, vault, origin)
  if (size === 0 || (last?.size === size && isSignedByAll(last.signed, keys))) {
    // The log of another address waited for its witnesses. Nothing is to be signed for this one.
    if (waiting !== undefined) await recordWaiting(db, null)
    return
  }
  if (!(await maySign(ctx, origin))) return
  const text = formatCheckpoint({ origin, size, root })
  const signatures = keys.map(({ seed }) => signNote(text, origin, seed))
  await saveCheckpoint(db, origin, { size, signed: formatNote({ text, signatures }) })
}

function isSignedByAll(signed: string, keys: readonly LogKey[]): boolean {
  const note = parseNote(signed)
  return note.signatures.length === keys.length && keys.every(({ verifier }) => signaturesOf(note, verifier).length > 0)
}

/** The last checkpoint with the cosignatures that it has. undefined: nothing was published yet. */
export async function findPublished(
  db: Context['db'],
  origin: string,
): Promise<{ size: number; checkpoint: string } | undefined> {
  const last = await findCheckpoint(db, origin)
  if (last === undefined) return undefined
  const cosignatures = (await listCosignatures(db, origin)).filter(({ size }) => size === last.size)
  return { size: last.size, checkpoint: last.signed + cosignatures.map(({ line }) => line).join('') }
}
