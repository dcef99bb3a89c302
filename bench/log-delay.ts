// Measures how much an append to the transparency log delays a caller: node bench/log-delay.ts [rounds]. A server with its
// API in one process publishes epochs, which are entries of the log, alone and while another process appends, in turn. Printed
// are the medians and 95th percentiles, and the median of the differences of each pair with its middle 80 %.
import { fork } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { startEmbeddedPostgres } from '../packages/server/src/db/embedded-postgres.ts'
import { median } from './goals.ts'
import { adminToken, runAtrium, startServer, type Server } from './servers.ts'

const [rounds = 200] = process.argv.slice(2).map(Number)
const appender = fileURLToPath(new URL('log-appender.ts', import.meta.url))

const folder = mkdtempSync(path.join(realpathSync(tmpdir()), 'atrium-bench-'))
chmodSync(folder, 0o711)
const postgres = await startEmbeddedPostgres({ dataDir: folder, say: () => {} })
const databaseUrl = postgres.connectionString
let server: Server | undefined
try {
  runAtrium('migrate', databaseUrl)
  server = await startServer('atrium', { databaseUrl, folder, apiOnly: true })
  const key = await makeKey(server.origin)
  // What calls cause between two appends, and what one append takes at most.
  for (const leaves of [8, 512]) await compare(server.origin, key, leaves)
} finally {
  await server?.stop()
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function makeKey(origin: string): Promise<string> {
  const { data } = await post(origin, '/tenants', { 'x-admin-token': adminToken }, { name: 'Bench' })
  const key = (data as Record<string, unknown> | undefined)?.['secret_key']
  if (typeof key !== 'string') throw new Error('the new tenant has no key')
  return key
}

async function post(origin: string, to: string, rights: Record<string, string>, body: object): Promise<Record<string, unknown>> {
  const res = await fetch(`${origin}/v1${to}`, {
    method: 'POST',
    headers: { ...rights, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (res.status !== 201) throw new Error(`POST ${to} answered ${res.status}: ${await res.text()}`)
  return (await res.json()) as Record<string, unknown>
}

async function compare(origin: string, key: string, leaves: number): Promise<void> {
  const child = fork(appender, [databaseUrl, String(leaves)])
  const append = async (): Promise<number> => {
    child.send('append')
    return Number((await once(child, 'message'))[0])
  }
  // Each epoch has a key of its own, which takes a while to make.
  const newEpoch = () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
    return { public_key: publicKey.export({ format: 'jwk' }), value: 5 }
  }
  const call = async (body: object): Promise<number> => {
    const began = performance.now()
    await post(origin, '/epochs', { authorization: `Bearer ${key}` }, body)
    return performance.now() - began
  }
  const [alone, beside, appends]: [number[], number[], number[]] = [[], [], []]
  for (let round = -5; round < rounds; round++) {
    const [one, other] = [newEpoch(), newEpoch()]
    const aloneMs = await call(one)
    const appending = append()
    const besideMs = await call(other)
    const appendMs = await appending
    // The first rounds warm up.
    if (round < 0) continue
    alone.push(aloneMs)
    beside.push(besideMs)
    appends.push(appendMs)
  }
  child.disconnect()
  const differences = alone.map((ms, i) => (beside[i] ?? Number.NaN) - ms)
  console.log(
    `an append of ${leaves} leaves (${median(appends).toFixed(1)} ms): alone ${both(alone)}, beside ${both(beside)}, ` +
      `later by ${median(differences).toFixed(1)} ms (${at(differences, 0.1)}–${at(differences, 0.9)})`,
  )
}

function at(values: readonly number[], part: number): string {
  return (values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN).toFixed(1)
}

function both(values: readonly number[]): string {
  return `${at(values, 0.5)} ms (95 %: ${at(values, 0.95)})`
}
