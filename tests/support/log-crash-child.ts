import { makeEntries } from '@atrium/log/testing/stored-log'
import { hashLeaf } from '@atrium/log/merkle'
import { parsePolicy } from '@atrium/log/policy'
import { Vault } from '@atrium/server/crypto/vault/vault'
import { openDatabase, type Database, type Db, type Tx } from '@atrium/server/db/database'
import { logEpochs } from '@atrium/server/features/credits/epochs/log-epochs'
import { integrateLeaves } from '@atrium/server/features/transparency-log/integrate'
import { logOrigin, publishCheckpoint } from '@atrium/server/features/transparency-log/publish'
import { queueLeaves } from '@atrium/server/features/transparency-log/store'
import { collectCosignatures } from '@atrium/server/features/transparency-log/witnesses'

/**
 * Appends some leaves and the epochs that are new, integrates and publishes them, and asks the witness of the policy. Kills
 * itself at the given step: before and after each statement, and after each commit. Prints `queued` once the leaves are
 * committed, and at the end how many steps there were.
 */
const [url = '', killAt = '', from = '', count = '', policy = ''] = process.argv.slice(2)

let step = 0
async function reach(): Promise<void> {
  if (++step !== Number(killAt)) return
  process.kill(process.pid, 'SIGKILL')
  await new Promise(() => undefined)
}

const watch = (inner: Db): Db => ({
  query: async (statement, values) => {
    await reach()
    const rows = await inner.query(statement, values)
    await reach()
    return rows
  },
})

const opened = openDatabase({ url, maxConnections: 2, onConnectionError: () => undefined })
const transaction: Database['transaction'] = async (run) => {
  const result = await opened.transaction(async (tx) => {
    const done = await run({ ...watch(tx), wake: () => undefined } as unknown as Tx)
    await reach()
    return done
  })
  await reach()
  return result
}
const db = { ...opened, ...watch(opened), transaction } as Database

await queueLeaves(
  db,
  makeEntries(Number(count), Number(from)).map((entry) => ({ leafHash: hashLeaf(entry), entry })),
)
console.log('queued')
const publicUrl = 'https://atrium.example.com'
const ctx = {
  db,
  vault: new Vault([Buffer.alloc(32, 7)]),
  config: { publicUrl, logPolicy: parsePolicy(policy) },
  log: console,
  restoreWindow: { restoredAt: () => Promise.resolve(undefined) },
} as unknown as Parameters<typeof publishCheckpoint>[0]
await logEpochs(ctx, 100)
await integrateLeaves(db, 512)
await publishCheckpoint(ctx)
await collectCosignatures(ctx, logOrigin(publicUrl))
console.log(`steps ${step}`)
await opened.close()
