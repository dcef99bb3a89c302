import assert from 'node:assert/strict'
import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createTestDatabase } from '../packages/server/testing/test-database.ts'
import { freePort, startAtrium } from './support/atrium-process.ts'
import { askGood, call, makeTenant } from './support/call-api.ts'
import { runAtrium } from './support/run-atrium.ts'

interface Installation {
  origin: string
  /** The configuration of the Space app. */
  appKey: unknown
  output(): string
  end(): Promise<void>
}

async function appKeyOf(spacesOrigin: string): Promise<unknown> {
  const res = await fetch(`${spacesOrigin}/space-config`)
  return ((await res.json()) as { publishable_key: unknown }).publishable_key
}

/** With nothing configured but where it lies. */
async function startPlain(t: TestContext, dataDir: string, env: Record<string, string> = {}): Promise<Installation> {
  const [port, spacePort] = [await freePort(), await freePort()]
  const run = runAtrium(['start'], { ATRIUM_DATA_DIR: dataDir, PORT: String(port), SPACE_PORT: String(spacePort), ...env })
  const end = async () => {
    run.kill()
    assert.notEqual(await run.ended(60_000), undefined, 'it ends')
  }
  t.after(end)
  for (const deadline = Date.now() + 60_000; !run.output().includes('Atrium is running'); await delay(50))
    assert.ok(Date.now() < deadline, run.output())
  return {
    origin: `http://localhost:${port}`,
    appKey: await appKeyOf(`http://localhost:${spacePort}`),
    output: run.output,
    end,
  }
}

test('with nothing configured the Space app has a key of the development tenant: one, for all starts, until it is revoked', async (t) => {
  const base = await mkdtemp(join(tmpdir(), 'atrium-app-key-'))
  t.after(() => rm(base, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 }))
  await chmod(base, 0o755)
  const dataDir = join(base, 'data')

  const first = await startPlain(t, dataDir)
  const { appKey } = first
  assert.match(String(appKey), /^wpk_/)
  const file = join(dataDir, 'space-app-key')
  assert.equal((await readFile(file, 'utf8')).trim(), appKey)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  await askGood(first.origin, 'GET /v1/catalog', { key: appKey as string })
  const secret = /secret +(wsk_\w+)/.exec(first.output())![1]!
  const printed = /publishable +(wpk_\w+)/.exec(first.output())![1]
  assert.notEqual(appKey, printed, 'it can be revoked without taking away the one that was printed')
  await first.end()

  const second = await startPlain(t, dataDir)
  assert.equal(second.appKey, appKey)
  const list = async (origin: string) =>
    (await askGood(origin, 'GET /v1/tenant/keys', { key: secret })).data as unknown as { id: string; name: string | null }[]
  const named = (await list(second.origin)).filter(({ name }) => name === 'Space app')
  assert.equal(named.length, 1, 'a start makes no further one')
  assert.equal((await call(second.origin, `DELETE /v1/tenant/keys/${named[0]!.id}`, { key: secret })).status, 204)
  await second.end()

  const third = await startPlain(t, dataDir)
  assert.notEqual(third.appKey, appKey)
  await askGood(third.origin, 'GET /v1/catalog', { key: third.appKey as string })
  await third.end()

  const production = await startPlain(t, dataDir, { NODE_ENV: 'production' })
  assert.equal(production.appKey, null, 'in production it has the key that it is given, or none')
  await production.end()
})

test('over a database of its operator the Space app has the key that it is given, or none', async (t) => {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  const without = await startAtrium({ databaseUrl: database.url, space: true })
  const { publishable } = await makeTenant(without.origin)
  assert.equal(await appKeyOf(without.spacesOrigin), null)
  await without.end()
  const env = { ATRIUM_SPACE_PUBLISHABLE_KEY: publishable }
  const given = await startAtrium({ databaseUrl: database.url, space: true, env })
  assert.equal(await appKeyOf(given.spacesOrigin), publishable)
  await given.end()
})
