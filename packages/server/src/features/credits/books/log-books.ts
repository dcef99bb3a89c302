import type { Database, Tx } from '#db/database.ts'
import type { Context } from '#features/context.ts'
import { buildTree, proofDays, type Entry } from '#features/transparency-log/daily-tree/build-tree.ts'
import { takeSnapshot } from '#features/transparency-log/daily-tree/tile-store.ts'
import { leafOf, type LogEntry } from '#features/transparency-log/entries.ts'
import { queueLeaves } from '#features/transparency-log/store.ts'
import type { AccountRef } from '../ledger/movement.ts'
import { booksTiles, type BooksRoot, findDueDay, insertRoot, listHolders, sumCirculation } from './store.ts'

/** What the log keeps of the books of a day. */
export function booksEntry({ day, accounts, totalCredits, root }: BooksRoot): LogEntry {
  return { type: 'books', day, accounts, total: totalCredits, root: root.toString('hex') }
}

/**
 * Makes the root of the books of today, once, and queues it for the transparency log. Proofs of days that are long past
 * are deleted; their roots stay.
 */
export async function logBooks({ db, booksMaker }: Pick<Context, 'db' | 'booksMaker'>): Promise<void> {
  await booksTiles.deleteOldTiles(db, proofDays)
  if ((await findDueDay(db)) !== undefined) await booksMaker.run()
}

/** With many accounts, the transaction takes longer than those of requests may. */
export async function makeBooks(db: Database): Promise<void> {
  const day = await findDueDay(db)
  if (day === undefined) return
  // Once: a second process that makes the same day fails on the key, with all that it wrote.
  await db.transactionOnce(async (tx) => {
    await takeSnapshot(tx)
    const { count: accounts, sum: totalCredits, hash } = await buildTree(tx, booksTiles, day, listEntries(tx))
    const root: BooksRoot = { day, accounts, totalCredits, root: hash }
    const circulation = await sumCirculation(tx)
    if (root.totalCredits !== circulation)
      throw new Error(`accounts hold ${root.totalCredits} credits, and ${circulation} are in circulation: run atrium audit`)
    await insertRoot(tx, root)
    await queueLeaves(tx, [leafOf(booksEntry(root))])
  })
}

const accountsAtOnce = 2_048

/** Reads the accounts in the order of their keys, some at a time. */
async function* listEntries(tx: Tx): AsyncGenerator<Entry[]> {
  let after: AccountRef = { tenantId: '', id: '' }
  for (;;) {
    const page = await listHolders(tx, after, accountsAtOnce)
    const last = page.at(-1)
    if (last === undefined) return
    yield page.map(({ account, balanceCredits }) => ({
      key: [account.tenantId, account.id],
      name: accountName(account),
      value: balanceCredits,
    }))
    after = last.account
  }
}

/** The name of an account in its leaf. */
export const accountName = ({ tenantId, id }: AccountRef): string => `${tenantId}/${id}`
