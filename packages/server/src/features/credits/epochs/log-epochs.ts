import type { Context } from '#features/context.ts'
import { leafOf } from '#features/transparency-log/entries.ts'
import { advanceSource, getSourcePosition, queueLeaves } from '#features/transparency-log/store.ts'
import { epochEntry } from './epoch.ts'
import { listEpochs } from './store.ts'

const source = 'epochs'

/**
 * Queues up to `limit` epochs for the transparency log, from where the last call ended. Epochs are numbered in the order
 * of their commits, so none is missed, and publishing one waits for nothing. Returns how many there were.
 */
export async function logEpochs({ db }: Pick<Context, 'db'>, limit: number): Promise<number> {
  const epochs = await listEpochs(db, await getSourcePosition(db, source), limit)
  const last = epochs.at(-1)
  if (last === undefined) return 0
  await db.transaction(async (tx) => {
    await queueLeaves(
      tx,
      epochs.map((epoch) => leafOf(epochEntry(epoch))),
    )
    await advanceSource(tx, source, last.seq)
  })
  return epochs.length
}
