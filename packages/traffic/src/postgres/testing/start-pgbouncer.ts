import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../../../../../tests/support/atrium-process.ts'
import { Connection } from '../connection.ts'

const version = /PgBouncer (\d+)\.(\d+)/.exec(spawnSync('pgbouncer', ['--version'], { encoding: 'utf8' }).stdout ?? '')

/** For the options of a test: why it cannot run, or false. */
export const skipWithoutPgBouncer = version ? false : 'needs pgbouncer (apt-get install pgbouncer)'

/** PgBouncer keeps track of prepared statements from 1.21. */
export const pgBouncerKeepsNames = version !== null && Number(version[1]) * 1_000 + Number(version[2]) >= 1_021

export interface PgBouncer {
  /** The address of a database of that server, through the pooler. */
  urlOf(database: string): string
  /** Holds its settings, and is on its command line. */
  folder: string
  stop(): Promise<void>
}

interface PgBouncerOptions {
  /** The server: an address with the folder of its socket, or with a host and a port. */
  serverUrl: string
  /** Lines of pgbouncer.ini, below [pgbouncer]. */
  settings: string
  /** A database to connect to, to see whether it serves. Default: postgres. */
  database?: string
}

/** Starts a PgBouncer in front of a server, and waits until it serves. */
export async function startPgBouncer({ serverUrl, settings, database = 'postgres' }: PgBouncerOptions): Promise<PgBouncer> {
  const { username, hostname, port: serverPort, searchParams } = new URL(serverUrl)
  const socketFolder = searchParams.get('host')
  const server = socketFolder === null ? `host=${hostname} port=${serverPort}` : `host=${socketFolder}`
  // It refuses to run as root, and a server may accept its own user alone on its socket.
  const { uid, gid } = await ownerOf(socketFolder)
  const port = await freePort()
  const folder = mkdtempSync(path.join(tmpdir(), 'atrium-pgbouncer-'))
  chmodSync(folder, 0o755)
  const file = path.join(folder, 'pgbouncer.ini')
  const text = `[databases]\n* = ${server} user=${username}\n[pgbouncer]\nlisten_addr=127.0.0.1\nlisten_port=${port}\nunix_socket_dir=\nauth_type=any\n${settings}\n`
  writeFileSync(file, text)
  const pooler = spawn('pgbouncer', ['-q', file], { uid, gid, stdio: 'ignore' })
  const exited = once(pooler, 'exit')
  const urlOf = (database: string) => `postgresql://${username}@127.0.0.1:${port}/${database}`
  const stop = async () => {
    // From 1.23, SIGTERM waits for the clients.
    pooler.kill('SIGKILL')
    await exited
    rmSync(folder, { recursive: true })
  }
  for (const deadline = Date.now() + 10_000; ; await delay(20)) {
    const failure = await Connection.open({ url: urlOf(database), connectMs: 1_000, answerMs: 1_000 }).then(
      (connection) => void connection.end(),
      (error: unknown) => error,
    )
    if (failure === undefined) return { urlOf, folder, stop }
    if (Date.now() < deadline) continue
    await stop()
    throw failure
  }
}

async function ownerOf(folder: string | null): Promise<{ uid?: number; gid?: number }> {
  if (folder !== null) return statSync(folder)
  return process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
}
