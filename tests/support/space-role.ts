import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from './atrium-process.ts'
import { databaseEnvironment } from './pooled-database.ts'
import { runAtrium } from './run-atrium.ts'

export interface SpaceRole {
  /** For ATRIUM_SPACES_URL without a proxy. */
  origin: string
  end(): Promise<void>
}

/** Starts the Space service as a separate part, which survives when the API is killed. */
export async function startSpaceRole(databaseUrl: string, publicUrl: string, spacesUrl?: string): Promise<SpaceRole> {
  const port = await freePort()
  const origin = `http://localhost:${port}`
  const dataDir = await mkdtemp(join(tmpdir(), 'atrium-space-'))
  const run = runAtrium(['space'], {
    SPACE_PORT: String(port),
    ...databaseEnvironment(databaseUrl),
    ATRIUM_PUBLIC_URL: publicUrl,
    ATRIUM_SPACES_URL: spacesUrl ?? origin,
    ATRIUM_RATE_LIMIT: 'off',
    ATRIUM_DATA_DIR: dataDir,
  })
  const isUp = () =>
    fetch(`${origin}/cert.json`).then(
      ({ ok }) => ok,
      () => false,
    )
  for (const deadline = Date.now() + 30_000; !(await isUp()); await delay(50)) {
    if (Date.now() < deadline) continue
    run.kill('SIGKILL')
    throw new Error(`the Space service was not ready:\n${run.output()}`)
  }
  return {
    origin,
    end: async () => {
      run.kill()
      await run.ended(10_000)
      await rm(dataDir, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 })
    },
  }
}
