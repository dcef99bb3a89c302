import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const cli = fileURLToPath(new URL('../../packages/cli/src/atrium.ts', import.meta.url))
const startTimeoutMs = 60_000

export const adminToken = 'test-operator-token-0123456789'

export interface AtriumProcess {
  /** Origin of the API, such as http://localhost:40123. */
  origin: string
  /** Origin of the Space service, when it was asked for. */
  spacesOrigin: string
  pid: number
  /** All that it printed so far. */
  output(): string
  /** Ends it with the signal and waits until it is gone; gives its exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>
}

export interface AtriumOptions {
  databaseUrl: string
  env?: Record<string, string>
  args?: string[]
  /** Starts that part alone; default: all but the Space service. */
  role?: 'api'
  /** Whether the Space service is started too. */
  space?: boolean
  /** Its port; default: a free one. */
  spacePort?: number
  /** A port to be started on again after an end; default: a free one. */
  port?: number
}

/**
 * Starts `atrium start` as a process of its own over the given database, as an operator would, and waits until it is
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
  const dataDir = await mkdtemp(join(tmpdir(), 'atrium-process-'))
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
      DATABASE_URL: databaseUrl,
      ...env,
    },
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve)).finally(() =>
    rm(dataDir, { recursive: true, force: true }),
  )
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
  }
}

/** Starts that many alike; where one fails, none is left behind. */
export async function startSeveral(count: number, options: AtriumOptions): Promise<AtriumProcess[]> {
  const started = await Promise.allSettled(Array.from({ length: count }, () => startAtrium(options)))
  const failed = started.find((one) => one.status === 'rejected')
  const running = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  if (!failed) return running
  await Promise.all(running.map((atrium) => atrium.end('SIGKILL')))
  throw failed.reason
}

/** Until it says that it runs: then all its parts do. */
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

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
