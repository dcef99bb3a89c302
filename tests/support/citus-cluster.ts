import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { isReserved } from './atrium-process.ts'
import { queryDatabase } from './query-database.ts'
import { skipWithout } from './skip-without.ts'

const run = promisify(execFile)
const script = fileURLToPath(new URL('../../../shared/tools/citus/cluster.sh', import.meta.url))
const bin = '/usr/lib/postgresql/15/bin'

/** The build does not load in an earlier PostgreSQL 15. */
const neededMinor = 20

/** Why there can be no cluster here, or false. For `{ skip }`. */
export const skipWithoutCitus: string | false = findMissing()

function findMissing(): string | false {
  if (!existsSync(script)) return '../shared/tools/citus is not there'
  if (!existsSync('/usr/share/postgresql/15/extension/citus.control') || !existsSync(`${bin}/postgres`))
    return 'no Citus here: as root, run ../shared/tools/citus/install.sh'
  const [version = '', minor] = /15\.(\d+)/.exec(execFileSync(`${bin}/postgres`, ['-V'], { encoding: 'utf8' })) ?? []
  if (Number(minor) < neededMinor)
    return `Citus needs PostgreSQL 15.${neededMinor}, and this is ${version}: apt-get install postgresql-15`
  return skipWithout('psql')
}

export interface CitusCluster {
  /** The database of the coordinator. */
  url: string
  /** Holds the data of all nodes. */
  folder: string
  /** Kills a worker (1 or 2) without letting it write anything. */
  killWorker(number: 1 | 2): Promise<void>
  startWorker(number: 1 | 2): Promise<void>
  /** Stops all processes of a worker (SIGSTOP): its connections stay open, and nothing answers. */
  freezeWorker(number: 1 | 2): Promise<void>
  thawWorker(number: 1 | 2): Promise<void>
  stop(): Promise<void>
}

/** A coordinator and two workers of Citus on this machine, with an empty database of 16 shards for each group. */
export async function startCitusCluster(): Promise<CitusCluster> {
  // Another process may take a port between the search and the start.
  for (let tries = 1; ; tries++) {
    try {
      return await tryStart()
    } catch (error) {
      if (tries === 3) throw error
    }
  }
}

async function tryStart(): Promise<CitusCluster> {
  // Below /var/tmp, because the user postgres must reach it, and a socket's path has at most 107 bytes.
  const folder = await mkdtemp('/var/tmp/atrium-citus-')
  await chmod(folder, 0o755)
  const port = await findPorts(3)
  const stop = async () => {
    await run('bash', [script, 'stop', folder])
    await rm(folder, { recursive: true, force: true })
  }
  const start = async () => {
    const { stdout } = await run('bash', [script, 'start', folder, String(port)], { timeout: 120_000 })
    const url = stdout.trim().split('\n').at(-1)!
    // Nothing here outlives a crash of the machine. Otherwise each checkpoint, and so each cloned database, waits for the
    // disk: for 2 to 11 seconds on a busy machine, instead of one.
    for (const nodePort of [port, port + 1, port + 2]) {
      const node = url.replace(`:${port}/`, `:${nodePort}/`)
      await queryDatabase(node, 'alter system set fsync = off')
      await queryDatabase(node, 'select pg_reload_conf()')
    }
    return url
  }
  const url = await start().catch(async (error: unknown) => {
    await stop()
    throw error
  })
  const control = (number: 1 | 2, ...args: string[]) => {
    const command = [`${bin}/pg_ctl`, '-D', `${folder}/n${number}`, '-l', `${folder}/n${number}.log`, '-w', ...args]
    return process.getuid?.() === 0
      ? run('su', ['postgres', '-s', '/bin/bash', '-c', command.join(' ')])
      : run(command[0]!, command.slice(1))
  }
  const signal = async (number: 1 | 2, name: 'SIGSTOP' | 'SIGCONT') => {
    const [pid = ''] = (await readFile(`${folder}/n${number}/postmaster.pid`, 'utf8')).split('\n')
    // The postmaster first, so that it starts no process that is not in the list.
    process.kill(Number(pid), name)
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
    for (const child of children.trim().split(' '))
      try {
        process.kill(Number(child), name)
      } catch {
        // It has just ended.
      }
  }
  return {
    url,
    folder,
    killWorker: async (number) => void (await control(number, 'stop', '-m', 'immediate')),
    startWorker: async (number) => void (await control(number, 'start')),
    freezeWorker: (number) => signal(number, 'SIGSTOP'),
    thawWorker: (number) => signal(number, 'SIGCONT'),
    stop,
  }
}

/** The first of this many free ports in a row. */
async function findPorts(count: number): Promise<number> {
  for (;;) {
    // Below the ports that the system gives to connections.
    const first = 20_000 + Math.floor(Math.random() * 12_000)
    const ports = Array.from({ length: count }, (_, n) => first + n)
    const free = await Promise.all(ports.map(async (port) => (await isReserved(port)) && (await isFree(port))))
    if (free.every(Boolean)) return first
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
