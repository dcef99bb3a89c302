// Appends to the transparency log as the job worker does, in a process of its own: node bench/log-appender.ts URL LEAVES.
// Each message of its parent is one append, which it answers with how long that took, in milliseconds.
import { hashLeaf } from '../packages/log/src/merkle.ts'
import { parsePolicy } from '../packages/log/src/policy.ts'
import { makeEntries } from '../packages/log/src/testing/stored-log.ts'
import { Vault } from '../packages/server/src/crypto/vault/vault.ts'
import { openDatabase } from '../packages/server/src/db/database.ts'
import { logEpochs } from '../packages/server/src/features/credits/epochs/log-epochs.ts'
import { integrateLeaves } from '../packages/server/src/features/transparency-log/integrate.ts'
import { publishCheckpoint } from '../packages/server/src/features/transparency-log/publish.ts'
import { queueLeaves } from '../packages/server/src/features/transparency-log/store.ts'

const [url = '', leaves = ''] = process.argv.slice(2)
const count = Number(leaves)
const db = openDatabase({ url, maxConnections: 4, onConnectionError: () => undefined })
const ctx = {
  db,
  vault: new Vault([Buffer.alloc(32, 7)]),
  config: { publicUrl: 'https://atrium.example.com', logPolicy: parsePolicy('quorum none\n') },
} as Parameters<typeof publishCheckpoint>[0]
let from = 0

process.on('message', () => void append().then((tookMs) => process.send?.(tookMs)))
process.on('disconnect', () => void db.close())

async function append(): Promise<number> {
  const began = performance.now()
  await queueLeaves(
    db,
    makeEntries(count, from).map((entry) => ({ leafHash: hashLeaf(entry), entry })),
  )
  from += count
  await logEpochs(ctx, 1_000)
  await integrateLeaves(db, count + 1_000)
  await publishCheckpoint(ctx)
  return performance.now() - began
}
