import { spawn, type ChildProcess } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { databaseEnvironment } from './pooled-database.ts'

const cli = fileURLToPath(new URL('../../packages/cli/src/atrium.ts', import.meta.url))
const startTimeoutMs = 60_000

export const adminToken = 'test-operator-token-0123456789'

export interface AtriumProcess {
  /** Origin of the API, such as http://localhost:40123. */
  origin: string
  /** Origin of the Space service, if it was requested. */
  spacesOrigin: string
  pid: number
  /** All that it printed so far. */
  output(): string
  /** Ends it with the signal and waits until it has ended. Returns its exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>
  /** Closes the pipes of its output, as a reader does that has ended. */
  closeOutput(): void
}

export interface AtriumOptions {
  databaseUrl: string
  env?: Record<string, string>
  args?: string[]
  /** Starts only this part. Default: all parts except the Space service. */
  role?: 'api'
  /** Whether the Space service is started too. */
  space?: boolean
  /** Its port; default: a free one. */
  spacePort?: number
  /** A fixed port, to restart on the same one. Default: a free port. */
  port?: number
}

/**
 * Starts `atrium start` as a separate process over the given database, as an operator would, and waits until it is
 * ready.
 */
export async function startAtrium({
  databaseUrl,
  env = {},
  args = [],
  role,
  space = false,
  spacePort,
  port,
}: AtriumOptions): Promise<AtriumProcess> {
  const dataDir = env['ATRIUM_DATA_DIR'] ?? (await dataFolderOf(databaseUrl))
  const chosen = port ?? (await freePort())
  const chosenSpacePort = spacePort ?? (space ? await freePort() : 8788)
  const child = spawn(process.execPath, [cli, ...(role ? [role] : ['start', ...(space ? [] : ['--no-space'])]), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      NODE_ENV: 'test',
      PORT: String(chosen),
      SPACE_PORT: String(chosenSpacePort),
      ATRIUM_DATA_DIR: dataDir,
      ATRIUM_ADMIN_TOKEN: adminToken,
      ATRIUM_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      ATRIUM_RATE_LIMIT: 'off',
      // Tests that compare tables must not find a key that comes and goes.
      ATRIUM_REVOCATION_PROBE: 'off',
      ...databaseEnvironment(databaseUrl),
      ...env,
    },
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const origin = `http://localhost:${chosen}`
  await waitUntilSaid(role ? 'Server listening' : 'Atrium is running', child, () => output)
  return {
    origin,
    spacesOrigin: `http://localhost:${chosenSpacePort}`,
    pid: child.pid!,
    output: () => output,
    end: (signal = 'SIGTERM') => {
      child.kill(signal)
      return ended
    },
    closeOutput: () => [child.stdout, child.stderr].forEach((stream) => stream.destroy()),
  }
}

const dataFolders = new Map<string, Promise<string>>()

/** All processes of a database share a data folder, as they must if files are stored on disk. */
function dataFolderOf(databaseUrl: string): Promise<string> {
  // The name alone: a test may reach the same database through a proxy.
  const database = new URL(databaseUrl).pathname
  const known = dataFolders.get(database)
  if (known) return known
  const made = mkdtemp(join(tmpdir(), 'atrium-process-'))
  dataFolders.set(database, made)
  void made.then((folder) => process.once('exit', () => rmSync(folder, { recursive: true, force: true })))
  return made
}

/** Starts this many of the same kind. If one fails, the others are stopped. */
export async function startSeveral(count: number, options: AtriumOptions): Promise<AtriumProcess[]> {
  const started = await Promise.allSettled(Array.from({ length: count }, () => startAtrium(options)))
  const failed = started.find((one) => one.status === 'rejected')
  const running = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  if (!failed) return running
  await Promise.all(running.map((atrium) => atrium.end('SIGKILL')))
  throw failed.reason
}

/** Waits until it reports that it runs; all its parts run then. */
async function waitUntilSaid(words: string, child: ChildProcess, output: () => string): Promise<void> {
  const deadline = Date.now() + startTimeoutMs
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`atrium ended with ${child.exitCode} while it started:\n${output()}`)
    if (output().includes(words)) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  child.kill('SIGKILL')
  throw new Error(`atrium was not ready in ${startTimeoutMs} ms:\n${output()}`)
}

/** Files of tests run at the same time. Each has a process of its own, and begins at another port. */
let next = process.pid * 61

/**
 * A port that nobody uses now. It is below those that Linux gives to connections and to servers that take any port, so
 * that none of them gets it before the process that is about to start. No other call returns it meanwhile.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    // A browser does not open port 10080.
    const port = 11_000 + (next++ % 21_768)
    if (!(await isReserved(port))) continue
    const server = await listening(port)
    if (!server) continue
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}

/**
 * Whether the port is for this process alone until it ends. The counters of two processes can meet, and neither sees the
 * other's choice before a server listens. Linux has names for that which are not files.
 */
export async function isReserved(port: number): Promise<boolean> {
  return process.platform !== 'linux' || (await listening(`\0atrium-test-port-${port}`)) !== undefined
}

/** A server that does not keep the process alive; undefined if another one listens there. */
function listening(place: number | string): Promise<Server | undefined> {
  const server = createServer().unref()
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined))
    server.listen(place, () => resolve(server))
  })
}
