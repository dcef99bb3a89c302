import { chmodSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { adminToken, freePort } from '../support/atrium-process.ts'
import { runAtrium } from '../support/run-atrium.ts'

export interface Installation {
  origin: string
  spacesOrigin: string
  pid: number
  output(): string
  /** The process id of the embedded PostgreSQL; undefined while it is down. */
  postmasterPid(): number | undefined
  /** The processes of Atrium by their script, without PostgreSQL's. */
  processes(): { pid: number; name: string }[]
  end(): Promise<void>
}

/** One `atrium start` with its own PostgreSQL, as an operator runs it on one machine. */
export async function startInstallation(): Promise<Installation> {
  const dataDir = mkdtempSync(path.join(realpathSync(tmpdir()), 'atrium-soak-'))
  // PostgreSQL's own user must pass through.
  chmodSync(dataDir, 0o711)
  const [port, spacePort] = [await freePort(), await freePort()]
  const run = runAtrium(['start'], {
    PORT: String(port),
    SPACE_PORT: String(spacePort),
    ATRIUM_DATA_DIR: dataDir,
    ATRIUM_ADMIN_TOKEN: adminToken,
    ATRIUM_RATE_LIMIT: 'off',
    ATRIUM_EGRESS: 'loopback',
    TURN_URLS: 'turn:127.0.0.1:3478',
    TURN_SECRET: 'soak-turn-secret-0123456789',
  })
  for (const deadline = Date.now() + 90_000; !run.output().includes('Atrium is running'); await delay(100)) {
    if (Date.now() < deadline && (await run.ended(1)) === undefined) continue
    run.kill('SIGKILL')
    throw new Error(`atrium did not start:\n${run.output()}`)
  }
  return {
    origin: `http://localhost:${port}`,
    spacesOrigin: `http://localhost:${spacePort}`,
    pid: run.pid,
    output: run.output,
    postmasterPid: () => readPid(path.join(dataDir, 'postgres', 'postmaster.pid')),
    processes: () => listDescendants(run.pid),
    end: async () => {
      run.kill('SIGTERM')
      if ((await run.ended(20_000)) === undefined) run.kill('SIGKILL')
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

function readPid(file: string): number | undefined {
  try {
    return Number(readFileSync(file, 'utf8').split('\n')[0]) || undefined
  } catch {
    return undefined
  }
}

/** The process and its descendants. */
function listDescendants(root: number): { pid: number; name: string }[] {
  const parents = new Map<number, { parent: number; name: string }>()
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const parent = Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${entry}/status`, 'utf8'))?.[1])
      const words = readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0')
      const script = words.find((word) => /\.m?[jt]s$/.test(word))
      parents.set(Number(entry), { parent, name: script ? path.basename(script) : path.basename(words[0] ?? '') })
    } catch {
      // Ended since it was listed.
    }
  }
  const isOurs = (pid: number): boolean => pid === root || (parents.has(pid) && isOurs(parents.get(pid)!.parent))
  return [...parents.entries()]
    .filter(([pid, { name }]) => /\.m?[jt]s$/.test(name) && isOurs(pid))
    .map(([pid, { name }]) => ({ pid, name }))
}
