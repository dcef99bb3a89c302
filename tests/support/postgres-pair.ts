import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from './atrium-process.ts'
import { startDistance } from './distance.ts'
import { queryDatabase } from './query-database.ts'
import { skipWithout } from './skip-without.ts'

const bin = '/usr/lib/postgresql/15/bin'

/** For the options of a test: why it cannot run, or false. */
export const skipWithoutPostgresPair =
  skipWithout('setpriv') ||
  (!existsSync(`${bin}/pg_basebackup`) && 'no PostgreSQL 15 here: apt-get install postgresql-15') ||
  (process.getuid?.() !== 0 && 'PostgreSQL has to run as the user postgres: run this as root')

interface Node {
  port: number
  /** Answers 200 at /primary while this is the primary, as Patroni does. */
  checkPort: number
}

/** A primary and its synchronous standby, of Debian. */
export interface PostgresPair {
  primary: Node
  standby: Node
  urlOf(node: Node): string
  /** Kills every process of the primary at once, as the end of its machine would. */
  killPrimary(): Promise<void>
  promoteStandby(): Promise<void>
  /** Brings a killed primary back as the synchronous standby of the promoted one. `primary` and `standby` change places. */
  rejoin(): Promise<void>
  /** Runs statements on the primary as its superuser, in the database of `urlOf`. */
  asSuperuser(sql: string): Promise<void>
  stop(): Promise<void>
}

/** `distanceMs`: how long what the primary sends takes to the standby. */
export async function startPostgresPair({ distanceMs = 0 } = {}): Promise<PostgresPair> {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-pair-'))
  chmodSync(folder, 0o777)
  const asPostgres = ['--reuid', 'postgres', '--regid', 'postgres', '--clear-groups', '--pdeathsig', 'KILL']
  const env = { PATH: `${bin}:${process.env['PATH']}`, LC_ALL: 'C.UTF-8' }
  const run = (program: string, ...args: string[]) =>
    promisify(execFile)('setpriv', [...asPostgres, `${bin}/${program}`, ...args], { cwd: '/', env })
  const checks: Server[] = []
  const distance = distanceMs > 0 ? await startDistance(distanceMs) : undefined
  const servers = new Map<Node, ChildProcess>()
  const urlOf = ({ port }: Node, user = 'atrium', database = 'atrium') => `postgresql://${user}@127.0.0.1:${port}/${database}`
  const query = (node: Node, sql: string) => queryDatabase<{ value: string }>(urlOf(node, 'postgres', 'postgres'), sql)
  const valueOf = async (node: Node, sql: string) =>
    query(node, sql).then(
      ([row]) => row?.value,
      () => undefined,
    )
  const addNode = async (): Promise<Node> => {
    const node = { port: await freePort(), checkPort: 0 }
    const check = createServer(async (_req, res) => {
      const role = await valueOf(node, `select pg_is_in_recovery()::text as value`)
      res.writeHead(role === 'false' ? 200 : 503).end()
    })
    await once(check.listen(0, '127.0.0.1'), 'listening')
    checks.push(check)
    node.checkPort = (check.address() as AddressInfo).port
    return node
  }
  const start = async (node: Node, data: string, ...more: string[]) => {
    const settings = [
      ...more,
      '-p',
      String(node.port),
      '-k',
      folder,
      '-c',
      'max_connections=200',
      '-c',
      'listen_addresses=127.0.0.1',
    ]
    const args = [...asPostgres, `${bin}/postgres`, '-D', data, ...settings]
    const server = spawn('setpriv', args, { cwd: '/', env, stdio: 'ignore' })
    servers.set(node, server)
    await until(async () => {
      if (server.exitCode !== null) throw new Error(`PostgreSQL ended with ${server.exitCode}`)
      return (await valueOf(node, `select 'up' as value`)) === 'up'
    })
  }
  const kill = async (node: Node) => {
    const server = servers.get(node)
    servers.delete(node)
    if (server?.pid === undefined || server.exitCode !== null) return
    const exited = once(server, 'exit')
    for (const pid of [server.pid, ...childrenOf(server.pid)]) endProcess(pid)
    await exited
  }

  let [primary, standby] = [await addNode(), await addNode()]
  const dataOf = new Map([
    [primary, join(folder, 'primary')],
    [standby, join(folder, 'standby')],
  ])
  const copyPrimary = async (by = primary.port) => {
    const copy = dataOf.get(standby)!
    await rm(copy, { recursive: true, force: true })
    await run('pg_basebackup', '-h', '127.0.0.1', '-p', String(primary.port), '-U', 'postgres', '-D', copy, '-R', '-c', 'fast')
    await start(standby, copy, ...(by === primary.port ? [] : ['-c', `primary_conninfo=host=127.0.0.1 port=${by} user=postgres`]))
    // Set after the copy: the standby must not wait for another one once it is the primary.
    await query(primary, `alter system set synchronous_standby_names = '*'`)
    await query(primary, 'select pg_reload_conf()')
    await until(async () => (await valueOf(primary, 'select sync_state as value from pg_stat_replication')) === 'sync')
  }
  const stop = async () => {
    for (const node of [primary, standby]) await kill(node)
    for (const check of checks) check.close()
    distance?.close()
    await rm(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 })
  }
  try {
    const data = dataOf.get(primary)!
    await run('initdb', '-D', data, '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8')
    await start(primary, data)
    await query(primary, 'create role atrium login')
    await query(primary, 'create database atrium owner atrium')
    await copyPrimary(distance?.portTo(primary.port))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    get primary() {
      return primary
    },
    get standby() {
      return standby
    },
    urlOf,
    killPrimary: () => kill(primary),
    asSuperuser: async (sql) => {
      await queryDatabase(urlOf(primary, 'postgres'), sql)
    },
    promoteStandby: async () => {
      await query(standby, 'select pg_promote() as value')
    },
    rejoin: async () => {
      ;[primary, standby] = [standby, primary]
      await copyPrimary()
    },
    stop,
  }
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) === parent
      } catch {
        // Ended since it was listed.
        return false
      }
    })
    .map(Number)
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Ended by itself, because its parent did.
  }
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 20_000; !(await isTrue()); await delay(50))
    if (Date.now() > deadline) throw new Error('PostgreSQL was not ready in time')
}
