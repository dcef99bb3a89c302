import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureBuilt } from '../packages/space/build/ensure-built.ts'
import { freePort } from '../tests/support/atrium-process.ts'

const scripts = {
  empty: new URL('./floors/empty.ts', import.meta.url),
  read: new URL('./floors/read.ts', import.meta.url),
  insert: new URL('./floors/insert.ts', import.meta.url),
  file: new URL('./floors/file.ts', import.meta.url),
  atrium: new URL('../packages/cli/src/atrium.ts', import.meta.url),
  space: new URL('../packages/space/dist/space.mjs', import.meta.url),
}

export type ServerName = keyof typeof scripts

export interface Server {
  origin: string
  /** SIGTERM, and SIGKILL when that does not help. */
  stop(): Promise<void>
}

export const adminToken = 'bench-operator-token-0123456789'

const startTimeoutMs = 30_000
const stopTimeoutMs = 15_000

interface ServerOptions {
  databaseUrl: string
  /** Holds its log, and its data if it has any. */
  folder: string
  nodeArgs?: string[]
  /** Of atrium: only its API, on a database that is up to date. */
  apiOnly?: boolean
  env?: Record<string, string>
}

/** Runs a command of the command line, such as `migrate`, to its end. */
export function runAtrium(command: string, databaseUrl: string): void {
  const { status, stderr } = spawnSync(process.execPath, [fileURLToPath(scripts.atrium), command], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], NODE_ENV: 'production', DATABASE_URL: databaseUrl },
  })
  if (status !== 0) throw new Error(`atrium ${command} failed:\n${stderr}`)
}

/** Starts a server as a separate process with an operator's settings, and waits until it answers. */
export async function startServer(
  name: ServerName,
  { databaseUrl, folder, nodeArgs = [], apiOnly = false, env = {} }: ServerOptions,
): Promise<Server> {
  const port = await freePort()
  if (name === 'space') await ensureBuilt()
  const logFile = path.join(folder, `${name}.log`)
  const log = openSync(logFile, 'a')
  const child = spawn(
    process.execPath,
    [...nodeArgs, fileURLToPath(scripts[name]), ...(name !== 'atrium' ? [] : apiOnly ? ['api'] : ['start', '--no-space'])],
    {
      stdio: ['ignore', log, log],
      // Passes nothing of this process's environment: a REDIS_URL there would change what is measured.
      env: {
        PATH: process.env['PATH'],
        NODE_ENV: 'production',
        HOST: '127.0.0.1',
        PORT: String(port),
        SPACE_PORT: String(port),
        DATABASE_URL: databaseUrl,
        ATRIUM_DATA_DIR: path.join(folder, 'atrium'),
        ATRIUM_ADMIN_TOKEN: adminToken,
        ATRIUM_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        // Counted, never reached.
        ATRIUM_RATE_LIMIT: '100000',
        ...env,
      },
    },
  )
  closeSync(log)
  const origin = `http://127.0.0.1:${port}`
  const stop = () => endProcess(child)
  try {
    await waitUntilAnswers(origin, child)
  } catch (error) {
    await stop()
    throw new Error(`${name} did not start:\n${readFileSync(logFile, 'utf8').slice(-4_000)}`, { cause: error })
  }
  return { origin, stop }
}

async function waitUntilAnswers(origin: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + startTimeoutMs
  while (Date.now() < deadline) {
    if (hasEnded(child)) throw new Error('it ended')
    // The floors do not have this path. Their error answer is enough.
    const answers = await fetch(`${origin}/readyz`).then(
      (res) => res.status !== 503,
      () => false,
    )
    if (answers) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`no answer in ${startTimeoutMs} ms`)
}

async function endProcess(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
  child.kill('SIGTERM')
  await gone
  clearTimeout(timer)
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null
}
