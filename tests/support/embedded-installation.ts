import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { adminToken, freePort } from './atrium-process.ts'
import { runAtrium, type AtriumRun } from './run-atrium.ts'

interface Installation {
  dataDir: string
  origin: string
  /** `folder` is where the data has been moved to. */
  start(args?: string[], folder?: string): Promise<AtriumRun>
}

/** With its own PostgreSQL and everything that `atrium start` runs. */
export async function install(t: TestContext, { parent = tmpdir() } = {}): Promise<Installation> {
  const dataDir = await mkdtemp(join(parent, 'atrium-supervised-'))
  await chmod(dataDir, 0o711)
  const [port, spacePort] = [await freePort(), await freePort()]
  const origin = `http://localhost:${port}`
  let last: AtriumRun | undefined
  t.after(async () => {
    last?.kill('SIGKILL')
    await last?.ended(5_000)
    await until(() => !existsSync(lockFile(dataDir)), 'PostgreSQL has ended', 60_000)
    await rm(dataDir, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 })
  })
  const start = async (args: string[] = [], folder = dataDir) => {
    const env = {
      ATRIUM_DATA_DIR: folder,
      ATRIUM_ADMIN_TOKEN: adminToken,
      ATRIUM_RATE_LIMIT: 'off',
      PORT: String(port),
      SPACE_PORT: String(spacePort),
    }
    const run = runAtrium(['start', ...args], env)
    last = run
    for (let waitedMs = 0; !run.output().includes('Atrium is running'); waitedMs += 20) {
      assert.ok(waitedMs < 60_000 && (await run.ended(20)) === undefined, `it starts:\n${run.output()}`)
    }
    return run
  }
  return { dataDir, origin, start }
}

export const lockFile = (dataDir: string) => join(dataDir, 'postgres', 'postmaster.pid')
export const postmasterPid = (dataDir: string) => Number(readFileSync(lockFile(dataDir), 'utf8').split('\n')[0])

export async function until(isTrue: () => boolean | Promise<boolean>, what: string, withinMs: number): Promise<void> {
  for (const began = performance.now(); !(await isTrue()); await delay(20)) assert.ok(performance.now() - began < withinMs, what)
}
