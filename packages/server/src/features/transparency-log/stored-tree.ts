import { formatProof } from '@atrium/log/proof'
import { Tree, type ReadTile } from '@atrium/log/tree'
import type { Db } from '#db/database.ts'
import { findTile } from './store.ts'

/** Reads tiles of the tree in the database. */
export const readStoredTile =
  (db: Db): ReadTile =>
  async (id) => {
    const tile = await findTile(db, id)
    if (tile === undefined) throw new Error(`tile ${id.level}/${id.index} of the log is missing`)
    return tile
  }

interface Published {
  size: number
  checkpoint: string
}

/** The inclusion proof of the entry at `index`, with the entry itself in the line `extra` (C2SP tlog-proof). */
export async function proveEntry(db: Db, { size, checkpoint }: Published, index: number, entry: Buffer): Promise<string> {
  const hashes = await new Tree(size, readStoredTile(db)).inclusionProof(index)
  return formatProof({ index, hashes, checkpoint, extra: entry })
}
