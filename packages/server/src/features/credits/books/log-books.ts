import { randomBytes } from 'node:crypto'
import { sumLeaf, SumTreeBuilder } from '@atrium/log/sum-tree'
import type { Database, Tx } from '#db/database.ts'
import type { Context } from '#features/context.ts'
import { leafOf, type LogEntry } from '#features/transparency-log/entries.ts'
import { queueLeaves } from '#features/transparency-log/store.ts'
import type { AccountRef } from '../ledger/movement.ts'
import {
  type BooksRoot,
  deleteOldTiles,
  findDueDay,
  insertRoot,
  insertTile,
  listHolders,
  sumCirculation,
  takeSnapshot,
  type TileLeaves,
} from './store.ts'

/** What the log keeps of the books of a day. */
export function booksEntry({ day, accounts, totalCredits, root }: BooksRoot): LogEntry {
  return { type: 'books', day, accounts, total: totalCredits, root: root.toString('hex') }
}

/** How long people can get proofs of a day. */
export const proofDays = 7
const tilesAtOnce = 1_000

/**
 * Makes the root of the books of today, once, and queues it for the transparency log. Proofs of days that are long past
 * are deleted; their roots stay.
 */
export async function logBooks({ db, booksMaker }: Pick<Context, 'db' | 'booksMaker'>): Promise<void> {
  while ((await deleteOldTiles(db, proofDays, tilesAtOnce)) === tilesAtOnce);
  if ((await findDueDay(db)) !== undefined) await booksMaker.run()
}

/** With many accounts, the transaction takes longer than those of requests may. */
export async function makeBooks(db: Database): Promise<void> {
  const day = await findDueDay(db)
  if (day === undefined) return
  // Once: a second process that makes the same day fails on the key, with all that it wrote.
  await db.transactionOnce(async (tx) => {
    await takeSnapshot(tx)
    const root = await buildTree(tx, day)
    const circulation = await sumCirculation(tx)
    if (root.totalCredits !== circulation)
      throw new Error(`accounts hold ${root.totalCredits} credits, and ${circulation} are in circulation: run atrium audit`)
    await insertRoot(tx, root)
    await queueLeaves(tx, [leafOf(booksEntry(root))])
  })
}

const accountsAtOnce = 2_048

/** Reads the accounts in the order of their keys, some at a time. Memory does not depend on how many there are. */
async function buildTree(tx: Tx, day: string): Promise<BooksRoot> {
  let leaves: TileLeaves = { accounts: [], salts: [] }
  const builder = new SumTreeBuilder(async (tile) => {
    if (tile.level > 0) return insertTile(tx, day, tile)
    await insertTile(tx, day, tile, leaves)
    leaves = { accounts: [], salts: [] }
  })
  let after: AccountRef = { tenantId: '', id: '' }
  let accounts = 0
  const readPage = () => listHolders(tx, after, accountsAtOnce)
  for (let page = await readPage(); page.length > 0; page = await readPage()) {
    for (const { account, balanceCredits: balance } of page) {
      after = account
      const salt = randomBytes(32)
      leaves.accounts.push(account)
      leaves.salts.push(salt)
      await builder.add(sumLeaf({ account: `${account.tenantId}/${account.id}`, balance, salt }))
    }
    accounts += page.length
  }
  const { sum, hash } = await builder.finish()
  return { day, accounts, totalCredits: sum, root: hash }
}
