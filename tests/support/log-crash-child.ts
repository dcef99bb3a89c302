import { makeEntries } from '@atrium/log/testing/stored-log'
import { hashLeaf } from '@atrium/log/merkle'
import { parsePolicy } from '@atrium/log/policy'
import { Vault } from '@atrium/server/crypto/vault/vault'
import { openDatabase, type Database, type Db, type Tx } from '@atrium/server/db/database'
import { integrateLeaves } from '@atrium/server/features/transparency-log/integrate'
import { publishCheckpoint } from '@atrium/server/features/transparency-log/publish'
import { queueLeaves } from '@atrium/server/features/transparency-log/store'

/**
 * Queues, integrates and publishes some leaves, and kills itself at the given step: before and after each statement and
 * each commit. Prints `queued` once the leaves are committed, and at the end how many steps there were.
 */
const [url = '', killAt = '', from = '', count = ''] = process.argv.slice(2)

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
await integrateLeaves(db, 512)
await publishCheckpoint({
  db,
  vault: new Vault([Buffer.alloc(32, 7)]),
  config: { publicUrl: 'https://atrium.example.com', logPolicy: parsePolicy('quorum none\n') },
} as Parameters<typeof publishCheckpoint>[0])
console.log(`steps ${step}`)
await opened.close()
