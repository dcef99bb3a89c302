import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createTestDatabase } from '../../packages/server/testing/test-database.ts'
import { adminToken, freePort, startAtrium } from '../support/atrium-process.ts'
import { call, makeTenant, type Answer } from '../support/call-api.ts'
import { install, lockFile, postmasterPid, until } from '../support/embedded-installation.ts'
import { databaseEnvironment } from '../support/pooled-database.ts'
import { startPostgresProxy } from '../support/postgres-proxy.ts'
import { queryDatabase } from '../support/query-database.ts'
import { runAtrium, type AtriumRun } from '../support/run-atrium.ts'
import { skipWithout } from '../support/skip-without.ts'
import { childPids } from '../support/worker-pids.ts'

/** The process and all its descendants. */
function familyOf(pid: number): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      parents.set(Number(name), Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1]))
    } catch {
      // Ended since it was listed.
    }
  }
  const family = [pid]
  for (const one of family) for (const [child, parent] of parents) if (parent === one) family.push(child)
  return family
}

/** Not gone until it is reaped, but dead. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s*[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

const linux = { skip: process.platform === 'linux' ? false : 'reads /proc' }

test('kill -9 of atrium ends everything that it started within seconds, and a start right after it works', linux, async (t) => {
  const { origin, start } = await install(t)
  const first = await start(['--workers', '2'])
  const { secret } = await makeTenant(origin)
  const family = familyOf(first.pid)
  // Two API processes, the job worker, the Space service, PostgreSQL with its own processes, and the watchdog.
  assert.ok(family.length >= 10, `${family.length} processes`)
  first.kill('SIGKILL')
  const killedAt = performance.now()
  const second = await start(['--workers', '2'])
  assert.equal((await call(origin, 'GET /v1/tenant', { key: secret })).status, 200, 'what was committed is there')
  await until(() => !family.some(isAlive), `they end: ${family.filter(isAlive).join(', ')}`, 25_000)
  t.diagnostic(`all ${family.length} processes had ended ${Math.round(performance.now() - killedAt)} ms after the kill`)
  second.kill('SIGTERM')
  assert.equal(await second.ended(12_000), 0, second.output())
})

test('the data folder may be moved, as an upgrade does, and the first start on an empty one says that it is new', async (t) => {
  const { dataDir, origin, start } = await install(t)
  const stop = async (run: AtriumRun) => {
    run.kill('SIGTERM')
    assert.equal(await run.ended(12_000), 0, run.output())
  }
  const first = await start(['--no-space'])
  assert.match(first.output(), /^ {2}data .* \(new and empty; to use existing data, set ATRIUM_DATA_DIR to its folder\)$/m)
  const { secret } = await makeTenant(origin)
  await stop(first)
  const moved = `${dataDir}-moved`
  t.after(() => rm(moved, { recursive: true, force: true }))
  await rename(dataDir, moved)
  const second = await start(['--no-space'], moved)
  assert.doesNotMatch(second.output(), /\(new/)
  assert.equal((await call(origin, 'GET /v1/tenant', { key: secret })).status, 200)
  await stop(second)
  await rename(moved, dataDir)
})

test('after kill -9 of PostgreSQL, answers are 503 with Retry-After until the service recovers by itself', linux, async (t) => {
  const { dataDir, origin, start } = await install(t)
  const run = await start()
  const { secret } = await makeTenant(origin)
  const isNew = (pid: number) => existsSync(lockFile(dataDir)) && postmasterPid(dataDir) !== pid
  for (let round = 0; round < 2; round++) {
    const pid = postmasterPid(dataDir)
    process.kill(pid, 'SIGKILL')
    const killedAt = performance.now()
    const answers: Answer[] = []
    // Writes, which no cache can answer. The old server processes may answer for a moment longer, but cannot commit
    // when the new PostgreSQL runs.
    for (let answer: Answer | undefined; answer?.status !== 201 || !isNew(pid); await delay(10)) {
      assert.ok(performance.now() - killedAt < 60_000, run.output())
      answer = await call(origin, 'POST /v1/tenants', { headers: { 'x-admin-token': adminToken }, body: { name: `t${round}` } })
      answers.push(answer)
      assert.equal((await call(origin, 'GET /healthz')).status, 200)
    }
    for (const { status, code, headers, text } of answers.filter((answer) => answer.status !== 201)) {
      assert.deepEqual([status, code], [503, 'unavailable'], `${text}\n${run.output()}`)
      assert.match(String(headers['retry-after']), /^[1-9]\d*$/)
    }
    assert.ok(answers.length > 1, 'the kill was noticed')
    t.diagnostic(`writes again after ${Math.round(performance.now() - killedAt)} ms, ${answers.length - 1} answers 503`)
  }
  assert.equal((await call(origin, 'GET /v1/tenant', { key: secret })).status, 200)
  assert.match(run.output(), /PostgreSQL ended: .*SIGKILL.*; starting it again in/)
  assert.match(run.output(), /PostgreSQL runs again/)
})

/** The npm that runs the tests. */
const npm = process.env['npm_execpath']
const withNpm = { skip: linux.skip || (npm?.endsWith('.js') ? false : 'run by something else than npm') }

test('SIGTERM to npm start ends the server within seconds: no shell stands between them', withNpm, async (t) => {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  const dataDir = await mkdtemp(join(tmpdir(), 'atrium-npm-start-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  const child = spawn(process.execPath, [npm!, 'start'], {
    cwd: join(import.meta.dirname, '../..'),
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'test',
      DATABASE_URL: database.url,
      ATRIUM_DATA_DIR: dataDir,
      PORT: String(await freePort()),
      SPACE_PORT: String(await freePort()),
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  let family = [child.pid!]
  t.after(() => family.filter(isAlive).forEach((pid) => process.kill(pid, 'SIGKILL')))
  await until(() => output.includes('Atrium is running'), `it starts:\n${output}`, 60_000)
  family = familyOf(child.pid!)
  assert.ok(family.length >= 4, 'npm, the API, the job worker and the Space service')
  child.kill('SIGTERM')
  await until(() => !family.some(isAlive), `they end: ${family.filter(isAlive).join(', ')}`, 12_000)
})

test(
  'if a process ends while the database is down, the log says why it does not start, and it starts with the database',
  linux,
  async (t) => {
    const database = await createTestDatabase()
    const proxy = await startPostgresProxy(database.url)
    const atrium = await startAtrium({ databaseUrl: proxy.url, args: ['--workers', '2'], space: true })
    t.after(async () => {
      await atrium.end('SIGKILL')
      await proxy.close()
      await database.drop()
    })
    const parts = { 'an API process': 'api-process.ts', 'the job worker': 'job-worker-main.ts', 'the Space service': 'space.mjs' }
    const pidsOf = (script: string) => childPids(atrium.pid, script)
    await proxy.cut()
    for (const script of Object.values(parts)) process.kill(pidsOf(script)[0]!, 'SIGKILL')
    for (const part of Object.keys(parts)) {
      const refusal = new RegExp(
        `^atrium: ${part} did not start: .*ECONNREFUSED.*; starting (it again|another) in [\\d.]+ s$`,
        'm',
      )
      await until(() => refusal.test(atrium.output()), `${part} says why`, 30_000)
    }
    await proxy.restore()
    const isUp = async (url: string) => (await fetch(url).catch(() => undefined))?.status === 200
    await until(() => isUp(`${atrium.spacesOrigin}/space`), 'Space is back', 60_000)
    await until(() => pidsOf('api-process.ts').length === 2 && pidsOf('job-worker-main.ts').length === 1, 'all are back', 60_000)
  },
)

test('a worker that cannot begin its work when a restore is confirmed ends, to be started again', async (t) => {
  const database = await createTestDatabase()
  const proxy = await startPostgresProxy(database.url)
  const dataDir = await mkdtemp(join(tmpdir(), 'atrium-restored-worker-'))
  await queryDatabase(database.url, 'insert into restores (snapshot_at) values (now())')
  const metricsPort = String(await freePort())
  const worker = runAtrium(['worker'], {
    // Only the connections that listen go through the proxy.
    DATABASE_URL: database.url,
    DATABASE_DIRECT_URL: databaseEnvironment(proxy.url)['DATABASE_DIRECT_URL'] ?? proxy.url,
    ATRIUM_DATA_DIR: dataDir,
    ATRIUM_ADMIN_TOKEN: adminToken,
    ATRIUM_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    ATRIUM_METRICS_PORT: metricsPort,
  })
  t.after(async () => {
    worker.kill('SIGKILL')
    await worker.ended(5_000)
    await proxy.close()
    await database.drop()
    await rm(dataDir, { recursive: true, force: true })
  })
  const isUp = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`).catch(() => undefined))?.ok === true
  await until(isUp, `it starts:\n${worker.output()}`, 60_000)
  await proxy.cut()
  await queryDatabase(database.url, 'update restores set confirmed_at = now()')
  assert.equal(await worker.ended(30_000), 1, worker.output())
  assert.match(worker.output(), /work did not begin after the confirmation of the restore/)
})

test('what a child process writes to standard error ends nothing when its reader has ended', linux, async (t) => {
  const database = await createTestDatabase()
  const reports = await mkdtemp(join(tmpdir(), 'atrium-reports-'))
  // A process of Node then writes a report when SIGUSR2 arrives, and says so on standard error.
  const env = { NODE_OPTIONS: `--report-on-signal --report-directory=${reports}` }
  const atrium = await startAtrium({ databaseUrl: database.url, env })
  t.after(async () => {
    await atrium.end('SIGKILL')
    await database.drop()
    await rm(reports, { recursive: true, force: true })
  })
  const find = () => childPids(atrium.pid, 'job-worker-main.ts')
  const [first] = find()
  assert.ok(first)
  atrium.closeOutput()
  process.kill(first, 'SIGUSR2')
  await until(() => readdirSync(reports).length > 0, 'the worker writes its report', 30_000)
  // It is started again when all that it said has been passed on.
  process.kill(first, 'SIGKILL')
  await until(() => find().some((pid) => pid !== first) || !isAlive(atrium.pid), 'the worker is started again', 30_000)
  assert.equal((await call(atrium.origin, 'GET /healthz')).status, 200)
})

const limited = { skip: linux.skip || skipWithout('prlimit') }

test('processes that cannot be spawned again, because no file can be opened, start once one can', limited, async (t) => {
  const database = await createTestDatabase()
  const atrium = await startAtrium({ databaseUrl: database.url, args: ['--workers', '2'], space: true })
  t.after(async () => {
    await atrium.end('SIGKILL')
    await database.drop()
  })
  const [, allowed] = /^Max open files\s+(\d+)/m.exec(readFileSync(`/proc/${atrium.pid}/limits`, 'utf8'))!
  const allow = (files: string) => execFileSync('prlimit', ['--pid', String(atrium.pid), `--nofile=${files}:`])
  const counts = { 'api-process.ts': 2, 'job-worker-main.ts': 1, 'space.mjs': 1 }
  const first = Object.keys(counts).map((script) => childPids(atrium.pid, script)[0]!)
  allow('4')
  for (const pid of first) process.kill(pid, 'SIGKILL')
  for (const part of ['an API process', 'the job worker', 'the Space service']) {
    const refusal = new RegExp(`^atrium: ${part} could not be spawned: .*EMFILE; starting (it again|another) in [\\d.]+ s$`, 'm')
    await until(() => refusal.test(atrium.output()), `${part} could not be spawned`, 30_000)
  }
  allow(allowed!)
  const areBack = () =>
    Object.entries(counts).every(([script, count]) => {
      const pids = childPids(atrium.pid, script)
      return pids.length === count && !pids.some((pid) => first.includes(pid))
    })
  await until(areBack, 'all are back', 60_000)
  const answers = async () => (await fetch(`${atrium.spacesOrigin}/space`).catch(() => undefined))?.status === 200
  await until(answers, 'Space answers', 60_000)
})
