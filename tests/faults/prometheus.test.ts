import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { parse } from 'yaml'
import { type HookServer, startHookServer } from '../../packages/server/testing/hook-server.ts'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { adminToken, freePort } from '../support/atrium-process.ts'
import { askGood, makeTenant } from '../support/call-api.ts'
import { databaseEnvironment } from '../support/pooled-database.ts'
import { type RedisProcess, skipWithoutRedis, startRedis } from '../support/redis-process.ts'
import { type AtriumRun, runAtrium } from '../support/run-atrium.ts'
import { findProgram, skipWithout } from '../support/skip-without.ts'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
const rules = read('../../deploy/grafana/alerts.yaml')
const metricsToken = 'metrics-token-0123456789'
const roles = ['space', 'api', 'worker'] as const
type Role = (typeof roles)[number]

interface Alert {
  labels: { alertname: string; instance?: string }
  state: 'pending' | 'firing'
}

/** What the API of Prometheus says of a rule. */
interface Rule {
  name: string
  health: string
  lastError?: string
  /** In seconds. */
  duration: number
  alerts: Alert[]
}

describe('Prometheus with the configuration of the page', { skip: skipWithout('prometheus'), timeout: 180_000 }, () => {
  let folder: string
  let database: TestDatabase
  let hooks: HookServer
  let redis: RedisProcess | undefined
  let prometheus: ChildProcess
  let said = ''
  const ports = {} as Record<Role | 'http' | 'spaceHttp' | 'prometheus', number>
  const running = new Map<Role, AtriumRun>()

  const instanceOf = (role: Role) => `127.0.0.1:${ports[role]}`
  const origin = () => `http://localhost:${ports.http}`

  const start = (role: Role) => {
    const keys = { ATRIUM_ADMIN_TOKEN: adminToken, ATRIUM_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }
    running.set(
      role,
      runAtrium([role], {
        PORT: String(ports.http),
        SPACE_PORT: String(ports.spaceHttp),
        ATRIUM_PUBLIC_URL: origin(),
        ATRIUM_SPACES_URL: `http://localhost:${ports.spaceHttp}`,
        ATRIUM_DATA_DIR: join(folder, 'data'),
        ATRIUM_METRICS_PORT: String(ports[role]),
        ATRIUM_METRICS_TOKEN: metricsToken,
        // The endpoint of the webhook is on this machine.
        ATRIUM_EGRESS: 'loopback',
        ...databaseEnvironment(database.url),
        ...(role === 'api' && redis ? { REDIS_URL: redis.url } : {}),
        ...(role === 'space' ? { ATRIUM_SPACE_SIGNING_KEY: signingKey } : keys),
      }),
    )
  }

  const ask = async <T>(path: string): Promise<T> => {
    const answer = await fetch(`http://127.0.0.1:${ports.prometheus}/api/v1/${path}`)
    const { status, data, error, warnings } = (await answer.json()) as Record<string, unknown>
    assert.deepEqual([status, error, warnings], ['success', undefined, undefined], path)
    return data as T
  }
  const query = async (expr: string) =>
    (await ask<{ result: { metric: Record<string, string> }[] }>(`query?query=${encodeURIComponent(expr)}`)).result
  const listRules = async () =>
    (await ask<{ groups: { rules: Rule[] }[] }>('rules?type=alert')).groups.flatMap((group) => group.rules)
  const listFiring = async () =>
    (await ask<{ alerts: Alert[] }>('alerts')).alerts.flatMap(({ state, labels }) =>
      state === 'firing' ? [`${labels.alertname} ${labels.instance ?? ''}`.trim()] : [],
    )
  const until = async (what: string, holds: () => Promise<boolean>) => {
    for (const deadline = Date.now() + 60_000; !(await holds().catch(() => false)); await delay(200)) {
      const outputs = [...running].map(([role, run]) => `${role}: ${run.output().slice(-1_000)}`)
      assert.ok(Date.now() < deadline, `${what}\n${said.slice(-2_000)}\n${outputs.join('\n')}`)
    }
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atrium-prometheus-'))
    database = await createTestDatabase()
    hooks = await startHookServer()
    if (skipWithoutRedis === false) redis = await startRedis()
    for (const name of [...roles, 'http', 'spaceHttp', 'prometheus'] as const) ports[name] = await freePort()
    for (const role of roles) start(role)

    const page = read('../../docs/operating/observability.md')
    const config = /^## Prometheus\n\n```yaml\n([^]*?)^```/m
      .exec(page)![1]!
      .replace('/etc/prometheus/atrium-token', join(folder, 'token'))
      .replace('/etc/prometheus/atrium/alerts.yaml', join(folder, '*alerts.yaml'))
      .replace('[127.0.0.1:9464]', JSON.stringify(roles.map(instanceOf)))
    await writeFile(join(folder, 'token'), metricsToken)
    await writeFile(join(folder, 'alerts.yaml'), rules)
    // The same again without the minutes that an alert has to hold for, so that this test need not wait for them.
    await writeFile(join(folder, 'quick-alerts.yaml'), rules.replaceAll(/^( +for:) .*$/gm, '$1 1s'))
    await writeFile(
      join(folder, 'prometheus.yaml'),
      `global: { scrape_interval: 2s, scrape_timeout: 2s, evaluation_interval: 1s }\n${config}`,
    )
    const options = {
      'config.file': 'prometheus.yaml',
      'storage.tsdb.path': 'series',
      'web.listen-address': `127.0.0.1:${ports.prometheus}`,
    }
    const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
    prometheus = spawn(findProgram('prometheus')!, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
    prometheus.stderr!.on('data', (chunk) => (said += chunk))
    await until('Prometheus reads all roles', async () => (await query('up == 1')).length === roles.length)
  })

  after(async () => {
    const ended = prometheus && prometheus.exitCode === null ? once(prometheus, 'exit') : undefined
    prometheus?.kill('SIGTERM')
    await ended
    for (const run of running.values()) run.kill('SIGTERM')
    await Promise.all([...running.values()].map((run) => run.ended(20_000)))
    await hooks?.close()
    await redis?.kill()
    await database?.drop()
    await rm(folder, { recursive: true, force: true })
  })

  test('reads each role with the token of the file', async () => {
    const targets = await ask<{ activeTargets: { labels: Record<string, string>; lastError: string }[] }>('targets')
    const found = targets.activeTargets.map(({ labels, lastError }) => [labels['job'], labels['instance'], lastError])
    assert.deepEqual(found.toSorted(), roles.map((role) => ['atrium', instanceOf(role), '']).toSorted())
    for (const role of roles) {
      const metric = role === 'space' ? 'atrium_space_held_polls' : `process_cpu_seconds_total{role="${role}"}`
      const [series] = await query(metric)
      assert.equal(series?.metric['instance'], instanceOf(role), metric)
    }
  })

  test('evaluates each alert without an error, and none holds while all is well', async () => {
    const { groups } = parse(rules) as { groups: { rules: { alert: string }[] }[] }
    const names = groups.flatMap((group) => group.rules.map(({ alert }) => alert))
    await until('every rule is evaluated', async () => (await listRules()).every(({ health }) => health !== 'unknown'))
    const evaluated = await listRules()
    assert.deepEqual(evaluated.map(({ name }) => name).toSorted(), [...names, ...names].toSorted())
    for (const { name, health, lastError } of evaluated) assert.deepEqual([health, lastError], ['ok', undefined], name)
    // A machine that is busy with other tests answers late.
    const ofTime = new Set(['AtriumEventLoopDelay', 'AtriumConnectionsWaitedFor', 'AtriumSlow', 'AtriumProcessSilent'])
    await until('no alert holds', async () =>
      (await listRules()).every(({ name, alerts }) => ofTime.has(name) || alerts.length === 0),
    )
  })

  test('answers each query of the dashboard', async (t) => {
    const tenant = await makeTenant(origin())
    await askGood(origin(), 'PUT /v1/tenant/webhooks', { key: tenant.secret, body: { url: hooks.url } })
    await askGood(origin(), 'POST /v1/collections', { key: tenant.publishable, body: {} })
    await askGood(origin(), 'POST /v1/space', { body: { op: 'attest' } })
    const dashboard = JSON.parse(read('../../deploy/grafana/dashboard.json')) as {
      panels: { title: string; targets?: { expr: string }[] }[]
    }
    const queries = dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })))
    assert.ok(queries.length > 30)
    // No rate limit has refused anybody, no model was called, no sweep has failed, and revocations are measured once a minute.
    const mayBeEmpty = new Set(['Refusals', 'Tokens of models', 'Sweeps that fail', 'Measurements of revocations'])
    let empty: string[] = []
    await until('each panel has a value', async () => {
      empty = []
      for (const { title, expr } of queries)
        if ((await query(expr.replaceAll('$__rate_interval', '1m'))).length === 0) empty.push(title)
      return empty.every((title) => mayBeEmpty.has(title))
    }).finally(() => t.diagnostic(`${queries.length} queries; without a value: ${empty.join(', ')}`))
  })

  test('answers each query of the runbooks', async () => {
    const folderOfPages = new URL('../../docs/operating/alerts/', import.meta.url)
    let count = 0
    for (const name of readdirSync(folderOfPages))
      for (const [, code = ''] of readFileSync(new URL(name, folderOfPages), 'utf8').matchAll(/(?<!`)`([^`]+)`(?!`)/g)) {
        if (!/\b(?:atrium|nodejs|process)_[a-z]|^up\b/.test(code)) continue
        await query(code.replaceAll(/\s+/g, ' '))
        count += 1
      }
    assert.ok(count > 10)
  })

  test('AtriumArtifactsFailing fires when no artifact can be stored', async () => {
    const { id, secret: key } = await makeTenant(origin())
    const made = await askGood(origin(), 'POST /v1/collections', { key, body: {} })
    // A file takes the place of the collection's folder, so nothing can be stored.
    await mkdir(join(folder, 'data', 'blobs'), { recursive: true })
    await writeFile(join(folder, 'data', 'blobs', id), '')
    const paint = { key, token: made.data.admin_token, body: { prompt: 'A pier', size: '1024x1024' } }
    const paints = Array.from({ length: 10 }, (_, n) =>
      askGood(origin(), `POST /v1/collections/${made.data.id}/paint`, { ...paint, idempotencyKey: `paint-${n}` }),
    )
    await Promise.all(paints)
    await until('it fires', async () => (await listFiring()).includes('AtriumArtifactsFailing'))
  })

  test('AtriumRedisUnreachable fires when Redis is killed', { skip: skipWithoutRedis }, async () => {
    await redis!.kill()
    await until('it fires', async () => (await listFiring()).some((one) => one.startsWith('AtriumRedisUnreachable')))
  })

  test('AtriumDown and AtriumNoWorker fire when the worker is killed, and end when it runs again', async () => {
    const expected = [`AtriumDown ${instanceOf('worker')}`, 'AtriumNoWorker']
    running.get('worker')!.kill('SIGKILL')
    await running.get('worker')!.ended(10_000)
    await until('both fire', async () => {
      const firing = await listFiring()
      return expected.every((one) => firing.includes(one))
    })
    const isOfWorker = ({ labels }: Alert) => (labels.instance ?? instanceOf('worker')) === instanceOf('worker')
    // The rules as they are shipped wait for minutes.
    const statesOf = async () =>
      (await listRules()).flatMap(({ name, duration, alerts }) =>
        duration > 1 && expected.some((one) => one.startsWith(name)) ? alerts.filter(isOfWorker).map(({ state }) => state) : [],
      )
    assert.deepEqual(await statesOf(), ['pending', 'pending'])
    start('worker')
    await until('both end', async () => {
      const firing = await listFiring()
      return !expected.some((one) => firing.includes(one))
    })
    await until('and none waits', async () => (await statesOf()).length === 0)
  })
})

const signingKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString()
