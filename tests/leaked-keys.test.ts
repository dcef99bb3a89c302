import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { publishedKeys, ReportSigner } from '../packages/server/testing/report-signer.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { startSeveral, type AtriumProcess } from './support/atrium-process.ts'
import { eventually } from './support/remote-agents.ts'
import { askGood, call, makeTenant } from './support/call-api.ts'

const signer = new ReportSigner()
let folder: string
let database: TestDatabase
let processes: AtriumProcess[]
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atrium-leaked-'))
  const file = join(folder, 'keys.json')
  await writeFile(file, publishedKeys([signer]))
  database = await createTestDatabase()
  processes = await startSeveral(2, { databaseUrl: database.url, role: 'api', env: { ATRIUM_LEAKS_KEYS_FILE: file } })
})
after(async () => {
  await Promise.all(processes.map((atrium) => atrium.end('SIGKILL')))
  await database.drop()
  await rm(folder, { recursive: true })
})

test('a reported key stops in every process, other keys go on, and no process logs the key', async (t) => {
  const origins = processes.map(({ origin }) => origin)
  const tenant = await makeTenant(origins[0]!, 'Leaky')
  const { key } = (await askGood(origins[0]!, 'POST /v1/tenant/keys', { key: tenant.secret, body: { kind: 'secret' } })).data
  const works = async (origin: string, of: string) => (await call(origin, 'GET /v1/tenant', { key: of })).status === 200
  // Both processes have the key in memory.
  for (const origin of origins) assert.ok(await works(origin, key))
  const body = JSON.stringify([
    { token: key, type: 'atrium_secret_key', url: 'https://github.com/octocat/Hello-World', source: 'commit' },
  ])
  const got = await call(origins[0]!, 'POST /v1/tenant/keys/leaks', { body, headers: signer.headers(body) })
  assert.equal(got.status, 200, got.text)
  const reportedAt = performance.now()
  for (const origin of origins)
    // Without a notification it would take up to 15 s.
    for (; await works(origin, key); await delay(20)) assert.ok(performance.now() - reportedAt < 7_000, origin)
  t.diagnostic(`refused everywhere after ${Math.round(performance.now() - reportedAt)} ms`)
  for (const origin of origins) assert.ok(await works(origin, tenant.secret))
  for (const { output } of processes) assert.ok(!output().includes(key))
  const isLogged = async () => processes.some(({ output }) => output().includes('a leaked key was reported'))
  await eventually(isLogged, 'the report is logged')
})
