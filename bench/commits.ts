// Measures whether commits wait for each other: node bench/commits.ts [seconds] [milliseconds]. Turns and ends of
// sessions are written by 1 to 8 writers, each of which waits for its answer, to a PostgreSQL with a synchronous
// standby at a distance of 5 ms. A writer of turns is a Space service of its own, a writer of sessions has a connection of
// its own. Needs root and Debian's postgresql-15.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openDatabase } from '../packages/server/src/db/database.ts'
import { migrate } from '../packages/server/src/db/migrate.ts'
import { updateEnded } from '../packages/server/src/features/sessions/store.ts'
import { startSpace } from '../packages/space/src/start-space.ts'
import { skipWithoutPostgresPair, startPostgresPair } from '../tests/support/postgres-pair.ts'

const [seconds = 4, distanceMs = 5] = process.argv.slice(2).map(Number)
const writerCounts = [1, 2, 4, 8]
let addresses = 0

if (skipWithoutPostgresPair) throw new Error(skipWithoutPostgresPair)
const pair = await startPostgresPair({ distanceMs })
const folder = mkdtempSync(path.join(tmpdir(), 'atrium-bench-'))
const url = pair.urlOf(pair.primary)
const db = openDatabase({ url, maxConnections: 20, onConnectionError: () => undefined })
try {
  await migrate(db.pool)
  console.log(`a synchronous standby at ${distanceMs} ms; per second, and compared with one writer`)
  console.log(`${'writers'.padEnd(20)}${writerCounts.map((count) => String(count).padStart(16)).join('')}`)
  await report('turns', turnWriter)
  await report('ends of sessions', sessionWriter)
} finally {
  await db.close()
  await pair.stop()
  rmSync(folder, { recursive: true, force: true })
}

interface Writer {
  write: () => Promise<void>
  close: () => Promise<void>
}

async function report(name: string, open: () => Promise<Writer>): Promise<void> {
  const rates: number[] = []
  for (const count of writerCounts) rates.push(await measure(count, open))
  const cells = rates.map((rate) => `${Math.round(rate)} (${(rate / (rates[0] ?? rate)).toFixed(1)})`.padStart(16))
  console.log(`${name.padEnd(20)}${cells.join('')}`)
}

async function measure(count: number, open: () => Promise<Writer>): Promise<number> {
  const writers = await Promise.all(Array.from({ length: count }, open))
  try {
    await Promise.all(writers.map(({ write }) => write()))
    let written = 0
    const untilMs = performance.now() + seconds * 1_000
    await Promise.all(
      writers.map(async ({ write }) => {
        for (; performance.now() < untilMs; written++) await write()
      }),
    )
    return written / seconds
  } finally {
    await Promise.all(writers.map((writer) => writer.close()))
  }
}

async function turnWriter(): Promise<Writer> {
  const build = { gitCommit: 'bench', functionCode: Buffer.from('code'), sourceArchive: Buffer.from('source'), app: [] }
  const env = { SPACE_PORT: '0', DATABASE_URL: url, ATRIUM_DATA_DIR: folder, ATRIUM_RATE_LIMIT: 'off' }
  const space = await startSpace({ env, build, log: () => undefined })
  const secret = { room: `r${randomBytes(8).toString('hex')}`, mk: randomBytes(32).toString('base64url') }
  // Each writer has an address, because bytes are counted by address.
  const from = `192.0.2.${++addresses}`
  const body = JSON.stringify({ op: 'turn', ...secret, message: { text: 'The lamps are lit.' } })
  return {
    write: async () => {
      const options = { method: 'POST', headers: { 'content-type': 'application/json', 'x-forwarded-for': from }, body }
      const answer = await fetch(`http://127.0.0.1:${space.port}/space`, options)
      if (!answer.ok) throw new Error(await answer.text())
      await answer.arrayBuffer()
    },
    close: () => space.stop(),
  }
}

async function sessionWriter(): Promise<Writer> {
  const tenantId = `ten_${randomBytes(8).toString('hex')}`
  // Without the rows that a launch writes: only the end is measured.
  await pair.asSuperuser(`set session_replication_role = replica; insert into sessions (tenant_id, id, agent_tenant_id, agent_id, agent_version, is_remote, room,
      status, price, max_minutes, answered_seq, expires_at)
    select '${tenantId}', '${tenantId}' || i, 't', 'a', sha256('a'), false, '${tenantId}' || i, 'running', 1, 5, 0, now() + interval '1 hour'
    from generate_series(1, 5000) i`)
  let next = 0
  return {
    write: async () => {
      const session = { tenantId, id: `${tenantId}${++next}` } as Parameters<typeof updateEnded>[1]
      const ended = await db.transaction((tx) => updateEnded(tx, session, { status: 'stopped' }, 0))
      if (!ended) throw new Error('no session is left')
    },
    close: async () => undefined,
  }
}
