// Compares Atrium with Parse Server and Directus: the same job, on the same PostgreSQL, in the same rounds.
// npm ci --prefix bench/peers && npm run bench:peers [-- --rounds N --seconds N]
import { spawn } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { required } from '@atrium/contract/required'
import { Pool } from 'pg'
import { startEmbeddedPostgres } from '../../packages/server/src/db/embedded-postgres.ts'
import { freePort } from '../../tests/support/atrium-process.ts'
import { Data } from '../data.ts'
import { median } from '../goals.ts'
import { measure, warmUp } from '../measure.ts'
import { probe, type Plan } from '../plan.ts'
import { align } from '../report.ts'
import { runAtrium, startServer } from '../servers.ts'
import type { Ready } from '../stage.ts'
import { targets } from '../targets.ts'
import { UsageError } from '../usage-error.ts'
import { writePlan } from '../wrk.ts'

const modules = fileURLToPath(new URL('./node_modules', import.meta.url))
const rowCount = 1_000
const text = 'Happy birthday, old lighthouse! May your lamp be bright, your stairs be short and the sea be kind to you this year.'
const row = { type: 'message', text, colour: 'teal', author: 'Ada' }
const startTimeoutMs = 120_000

interface Peer {
  name: string
  origin: string
  get: Plan
  post: Plan
}

interface Place {
  folder: string
  databaseUrl: string
  undo: (() => unknown)[]
}

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())
try {
  await comparePeers()
} catch (error) {
  console.error(error instanceof UsageError ? `bench: ${error.message}` : error)
  process.exitCode = 1
}

async function comparePeers(): Promise<void> {
  const { values } = parseArgs({
    options: { rounds: { type: 'string', default: '3' }, seconds: { type: 'string', default: '5' } },
  })
  if (!existsSync(modules)) throw new UsageError('the peers are not installed: npm ci --prefix bench/peers')
  const folder = mkdtempSync(path.join(realpathSync(tmpdir()), 'atrium-peers-'))
  // PostgreSQL's own user must pass through.
  chmodSync(folder, 0o711)
  const undo: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  try {
    // Parse Server reaches no socket in the file system. This address has its own ports.
    const host = '127.0.0.77'
    const settings = { listen_addresses: host }
    const postgres = await startEmbeddedPostgres({ dataDir: folder, say: () => {}, settings })
    undo.push(() => postgres.stop())
    const pool = new Pool({ connectionString: postgres.connectionString, max: 2 })
    // After Ctrl-C, PostgreSQL may end before the pool does.
    pool.on('error', () => {})
    undo.push(() => pool.end())
    await acceptTcp(pool)
    const placeOf = async (name: string): Promise<Place> => {
      await pool.query(`create database ${name}`)
      mkdirSync(path.join(folder, name))
      return { folder: path.join(folder, name), databaseUrl: `postgresql://atrium@${host}:5432/${name}`, undo }
    }
    const peers = [
      await startAtrium(await placeOf('peer_atrium')),
      await startParse(await placeOf('peer_parse')),
      await startDirectus(await placeOf('peer_directus')),
    ]
    const ready: Ready[] = []
    for (const { name, origin, get, post } of peers)
      for (const [kind, plan] of Object.entries({ get, post })) {
        await probe(origin, plan)
        const target = { ...required(targets[0], 'there are targets'), name: `${name} ${kind.toUpperCase()}` }
        ready.push({ target, origin, plan, planArgs: writePlan(folder, `${name}-${kind}`, plan) })
      }
    await warmUp(ready, stopping.signal)
    const rates = new Map(ready.map((one) => [one, [] as number[]]))
    for (let round = 0; round < Number(values.rounds); round++) {
      process.stderr.write(`round ${round + 1} of ${values.rounds}\n`)
      for (const one of round % 2 ? ready.toReversed() : ready)
        rates.get(one)?.push((await measure(one, Number(values.seconds), stopping.signal)).perSecond)
    }
    console.log(peersText(ready, rates))
  } finally {
    for (const end of undo.toReversed()) await end()
  }
}

/** The embedded PostgreSQL accepts only its socket. */
async function acceptTcp(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ hba_file: string }>('show hba_file')
  const file = required(rows[0], 'the setting exists').hba_file
  writeFileSync(file, `host all all 127.0.0.0/8 trust\n${readFileSync(file, 'utf8')}`)
  await pool.query('select pg_reload_conf()')
}

/** The first two are Atrium's. */
function peersText(ready: Ready[], rates: Map<Ready, number[]>): string {
  const lines = ready.map((one, i) => {
    const own = required(rates.get(required(ready[i % 2], 'Atrium runs')), 'it was measured')
    const ratios = required(rates.get(one), 'it was measured').map((rate, round) => required(own[round], 'same rounds') / rate)
    return [
      one.target.name,
      Math.round(median(rates.get(one) ?? [])).toLocaleString('en-US'),
      median(ratios).toFixed(1),
      `${Math.min(...ratios).toFixed(1)}–${Math.max(...ratios).toFixed(1)}`,
    ]
  })
  return align([['peer', 'requests/s', 'Atrium is faster by', 'lowest–highest'], ...lines], 1)
}

async function startAtrium({ folder, databaseUrl, undo }: Place): Promise<Peer> {
  runAtrium('migrate', databaseUrl)
  const server = await startServer('atrium', { databaseUrl, folder })
  undo.push(() => server.stop())
  const data = new Data(new Pool({ connectionString: databaseUrl, max: 1 }), server.origin, stopping.signal)
  const of = async (name: string) =>
    required(
      targets.find((target) => target.name === name),
      name,
    ).plan(data, '')
  return { name: 'Atrium', origin: server.origin, get: await of('get-collection'), post: await of('add-item') }
}

async function startParse(place: Place): Promise<Peer> {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const env = {
    PARSE_SERVER_APPLICATION_ID: 'bench',
    PARSE_SERVER_MASTER_KEY: 'bench-master-key-0123456789',
    PARSE_SERVER_REST_API_KEY: 'bench-rest-key-0123456789',
    PARSE_SERVER_DATABASE_URI: place.databaseUrl,
    PARSE_SERVER_LOGS_FOLDER: place.folder,
    PARSE_SERVER_ALLOW_CLIENT_CLASS_CREATION: 'true',
    PORT: String(port),
  }
  await startPeer('parse-server', [path.join(modules, 'parse-server/bin/parse-server')], `${origin}/parse/health`, env, place)
  const headers = { 'x-parse-application-id': 'bench', 'x-parse-rest-api-key': env.PARSE_SERVER_REST_API_KEY }
  const ids = await addRows(`${origin}/parse/classes/Greeting`, headers, (body) => (body as { objectId: string }).objectId)
  return {
    name: 'Parse Server',
    origin,
    get: { method: 'GET', paths: ids.map((id) => `/parse/classes/Greeting/${id}`), headers, status: 200 },
    post: { method: 'POST', paths: ['/parse/classes/Greeting'], headers, body: JSON.stringify(row), status: 201 },
  }
}

async function startDirectus(place: Place): Promise<Peer> {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const token = 'bench-directus-token-0123456789'
  const env = {
    HOST: '127.0.0.1',
    PORT: String(port),
    SECRET: 'bench-secret-0123456789-0123456789',
    DB_CLIENT: 'pg',
    DB_CONNECTION_STRING: place.databaseUrl,
    ADMIN_EMAIL: 'bench@example.com',
    ADMIN_PASSWORD: 'bench-password',
    ADMIN_TOKEN: token,
    TELEMETRY: 'false',
    LOG_LEVEL: 'warn',
    STORAGE_LOCAL_ROOT: place.folder,
  }
  const cli = [
    '--require',
    fileURLToPath(new URL('./without-isolated-vm.cjs', import.meta.url)),
    path.join(modules, 'directus/cli.js'),
  ]
  await runToEnd([...cli, 'bootstrap'], env, place)
  await startPeer('directus', [...cli, 'start'], `${origin}/server/ping`, env, place)
  const headers = { authorization: `Bearer ${token}` }
  const fields = Object.keys(row).map((field) => ({ field, type: field === 'text' ? 'text' : 'string' }))
  await postJson(`${origin}/collections`, headers, { collection: 'greetings', schema: {}, meta: {}, fields })
  const ids = await addRows(`${origin}/items/greetings`, headers, (body) => String((body as { data: { id: number } }).data.id))
  return {
    name: 'Directus',
    origin,
    get: { method: 'GET', paths: ids.map((id) => `/items/greetings/${id}`), headers, status: 200 },
    post: { method: 'POST', paths: ['/items/greetings'], headers, body: JSON.stringify(row), status: 200 },
  }
}

async function postJson(url: string, headers: Record<string, string>, body: object): Promise<unknown> {
  const res = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = await res.text()
  if (!res.ok) throw new Error(`POST ${url} answered ${res.status}: ${answer.slice(0, 300)}`)
  return JSON.parse(answer)
}

async function addRows(url: string, headers: Record<string, string>, idOf: (body: unknown) => string): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < rowCount; i++) {
    stopping.signal.throwIfAborted()
    ids.push(idOf(await postJson(url, headers, row)))
  }
  return ids
}

/** The environment of a peer has nothing of this process's but PATH. */
function spawnPeer(args: string[], env: Record<string, string>, { folder }: Place) {
  const log = openSync(path.join(folder, 'peer.log'), 'a')
  const options = { cwd: folder, env: { PATH: process.env['PATH'], NODE_ENV: 'production', ...env } }
  const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', log, log] })
  closeSync(log)
  return child
}

async function runToEnd(args: string[], env: Record<string, string>, place: Place): Promise<void> {
  const [code] = (await once(spawnPeer(args, env, place), 'exit')) as [number | null]
  if (code !== 0)
    throw new Error(`${args.join(' ')} failed:\n${readFileSync(path.join(place.folder, 'peer.log'), 'utf8').slice(-3_000)}`)
}

async function startPeer(name: string, args: string[], health: string, env: Record<string, string>, place: Place): Promise<void> {
  const child = spawnPeer(args, env, place)
  const gone = once(child, 'exit')
  place.undo.push(async () => {
    child.kill('SIGKILL')
    await gone
  })
  for (const deadline = Date.now() + startTimeoutMs; Date.now() < deadline; await delay(100)) {
    stopping.signal.throwIfAborted()
    if (child.exitCode !== null) break
    const answers = await fetch(health).then(
      (res) => res.ok,
      () => false,
    )
    if (answers) return
  }
  throw new Error(`${name} did not start:\n${readFileSync(path.join(place.folder, 'peer.log'), 'utf8').slice(-3_000)}`)
}
