// A separate process that posts movements and can be killed meanwhile. It takes a database address and then movements
// as JSON, one per line of standard input, and prints the outcome of each on a line.
import { createInterface } from 'node:readline'
import { openDatabase } from '../../packages/server/src/db/database.ts'
import { openLedger } from '../../packages/server/src/features/credits/ledger/ledger.ts'
import type { Movement } from '../../packages/server/src/features/credits/ledger/movement.ts'

const db = openDatabase({ url: process.argv[2]!, maxConnections: 1, onConnectionError: () => undefined })
const ledger = openLedger(db)

for await (const line of createInterface({ input: process.stdin })) console.log(await ledger.add(revive(line)))
await db.close()

/** Bytes travel as hex. */
function revive(line: string): Movement {
  return JSON.parse(line, (name, value: unknown) => (name === 'codeHash' ? Buffer.from(String(value), 'hex') : value)) as Movement
}
