import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createTestDatabase } from '../../packages/server/testing/test-database.ts'
import { adminToken, freePort } from './atrium-process.ts'

/** Clean-up steps, run in reverse order of their set-up. Separate `after` hooks would run in the order of set-up. */
const endings = new WeakMap<TestContext, (() => Promise<unknown>)[]>()

export function atEnd(t: TestContext, end: () => Promise<unknown>): void {
  const known = endings.get(t)
  if (known) return void known.unshift(end)
  const steps = [end]
  endings.set(t, steps)
  t.after(async () => {
    for (const step of steps) await step()
  })
}

/** A folder with a space in its path, readable by the user under which root runs PostgreSQL. */
export async function dataFolder(t: TestContext): Promise<string> {
  const base = await mkdtemp(join(tmpdir(), 'atrium start '))
  await chmod(base, 0o755)
  atEnd(t, () => rm(base, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 }))
  return join(base, 'my data')
}

/** A valid environment for a start. Each case then breaks one setting. */
export async function goodEnv(t: TestContext): Promise<Record<string, string>> {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  return { ...(await goodSettings(t)), DATABASE_URL: database.url }
}

/** As `goodEnv`, with a database that has no tables yet. */
export async function emptyDatabase(t: TestContext): Promise<Record<string, string>> {
  const database = await createTestDatabase({ template: 'template0' })
  t.after(() => database.drop())
  return { ...(await goodSettings(t)), DATABASE_URL: database.url }
}

/** As `goodEnv`, without the database. */
export async function goodSettings(t: TestContext): Promise<Record<string, string>> {
  const ATRIUM_MASTER_KEY = Buffer.alloc(32, 7).toString('base64')
  const PORT = String(await freePort())
  return {
    ATRIUM_DATA_DIR: await dataFolder(t),
    ATRIUM_ADMIN_TOKEN: adminToken,
    ATRIUM_MASTER_KEY,
    PORT,
  }
}
