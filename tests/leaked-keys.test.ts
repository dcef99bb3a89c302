import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { makeCredential } from '@atrium/contract/tokens'
import { passesOnce } from '../packages/server/testing/busy-machine.ts'
import { publishedKeys, ReportSigner } from '../packages/server/testing/report-signer.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { adminToken, startSeveral, type AtriumProcess } from './support/atrium-process.ts'
import { eventually } from './support/remote-agents.ts'
import { askGood, call, makeTenant } from './support/call-api.ts'
import { runAtrium } from './support/run-atrium.ts'

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
  const works = async (origin: string, of: string) => (await call(origin, 'GET /v1/tenant', { key: of })).status === 200
  const reported: string[] = []
  await passesOnce(async () => {
    const { key } = (await askGood(origins[0]!, 'POST /v1/tenant/keys', { key: tenant.secret, body: { kind: 'secret' } })).data
    reported.push(key)
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
  })
  for (const origin of origins) assert.ok(await works(origin, tenant.secret))
  const isLogged = async () => processes.some(({ output }) => output().includes('a leaked key was reported'))
  await eventually(isLogged, 'the report is logged')
  for (const { output } of processes) for (const key of reported) assert.ok(!output().includes(key))
})

test('a scan that is reported revokes the keys that it finds, and prints none', async () => {
  const { origin } = processes[0]!
  const tenant = await makeTenant(origin, 'Scanned')
  const { key } = (await askGood(origin, 'POST /v1/tenant/keys', { key: tenant.secret, body: { kind: 'secret' } })).data
  const [unknown, inName] = [makeCredential('secretKey', randomBytes), makeCredential('secretKey', randomBytes)]
  const file = join(folder, `${inName}-app.log`)
  await writeFile(file, `key ${key}\nother ${unknown}\n`)
  const works = async () => (await call(origin, 'GET /v1/tenant', { key })).status === 200
  const scan = async (token: string, ...options: string[]) => {
    const run = runAtrium(['leaks', 'scan', file, ...options], { ATRIUM_PUBLIC_URL: origin, ATRIUM_ADMIN_TOKEN: token })
    assert.equal(await run.ended(30_000), 1)
    for (const secret of [key, unknown, inName]) assert.ok(!run.output().includes(secret))
    return run.output()
  }
  await scan(adminToken)
  assert.match(await scan('wrong-operator-token-0123456789', '--report'), /does not accept the operator's token/)
  assert.ok(await works())
  // Twice: a scan may be repeated.
  for (let i = 0; i < 2; i++) {
    const output = await scan(adminToken, '--report')
    assert.match(output, new RegExp(`app\\.log:1: secret key wsk_….{4}, reported\n`))
    assert.match(output, /app\.log:2: secret key wsk_….{4}, not of this installation\n/)
  }
  await eventually(async () => !(await works()), 'the key is refused')
  const leaks: any = (await askGood(origin, 'GET /v1/tenant/keys/leaks', { key: tenant.secret })).data
  const [leak] = leaks
  assert.equal(leak.action, 'revoked')
  // Long names, of which the report has the end: one is cut within an emoji.
  const deep = join(folder, ...Array.from({ length: 3 }, () => '😀'.repeat(60)))
  await mkdir(deep, { recursive: true })
  for (const name of ['a.log', 'ab.log']) await writeFile(join(deep, name), makeCredential('secretKey', randomBytes))
  const long = runAtrium(['leaks', 'scan', deep, '--report'], { ATRIUM_PUBLIC_URL: origin, ATRIUM_ADMIN_TOKEN: adminToken })
  assert.equal(await long.ended(30_000), 1)
  assert.equal(long.output().match(/not of this installation/g)?.length, 2, long.output())
  assert.deepEqual(
    leak.places.map(({ url, source }: { url: string; source: string }) => [url, source]),
    [[`${file.replace(inName, `wsk_…${inName.slice(-4)}`)}:1`, 'atrium leaks scan']],
  )
})
