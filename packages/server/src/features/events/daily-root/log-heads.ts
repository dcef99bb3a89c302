import type { Database, Tx } from '#db/database.ts'
import type { Context } from '#features/context.ts'
import { buildTree, proofDays, type Entry } from '#features/transparency-log/daily-tree/build-tree.ts'
import { takeSnapshot } from '#features/transparency-log/daily-tree/tile-store.ts'
import { leafOf, type LogEntry } from '#features/transparency-log/entries.ts'
import { queueLeaves } from '#features/transparency-log/store.ts'
import { type ChainHead, findDueDay, headTiles, type HeadsRoot, insertRoot, listChainHeads } from './store.ts'

/** What the log keeps of all chains on a day. */
export function headsEntry({ day, chains, root }: HeadsRoot): LogEntry {
  return { type: 'event_heads', day, chains, root: root.toString('hex') }
}

/**
 * Makes the root of the heads of all chains today, once, and queues it for the transparency log. Proofs of days that are
 * long past are deleted; their roots stay.
 */
export async function logEventHeads({ db, headsMaker }: Pick<Context, 'db' | 'headsMaker'>): Promise<void> {
  await headTiles.deleteOldTiles(db, proofDays)
  if ((await findDueDay(db)) !== undefined) await headsMaker.run()
}

/** With many tenants, the transaction takes longer than those of requests may. */
export async function makeHeadsRoot(db: Database): Promise<void> {
  const day = await findDueDay(db)
  if (day === undefined) return
  // Once: a second process that makes the same day fails on the key, with all that it wrote.
  await db.transactionOnce(async (tx) => {
    await takeSnapshot(tx)
    const { count, hash } = await buildTree(tx, headTiles, day, listEntries(tx))
    const root: HeadsRoot = { day, chains: count, root: hash }
    await insertRoot(tx, root)
    await queueLeaves(tx, [leafOf(headsEntry(root))])
  })
}

const headsAtOnce = 2_048

/** Each chain counts one: how many events a tenant has is in the name, which a proof of another tenant does not show. */
async function* listEntries(tx: Tx): AsyncGenerator<Entry[]> {
  let after = ''
  for (;;) {
    const page = await listChainHeads(tx, after, headsAtOnce)
    const last = page.at(-1)
    if (last === undefined) return
    yield page.map((head) => ({ key: [head.tenantId], name: headName(head), value: 1 }))
    after = last.tenantId
  }
}

/** The name of a head in its leaf. */
const headName = ({ tenantId, sequence, hash }: ChainHead): string => `${tenantId}/${sequence}/${hash}`
