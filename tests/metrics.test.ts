import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments } from 'yaml'
import { passesOnce } from '../packages/server/testing/busy-machine.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { freePort, startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { call } from './support/call-api.ts'
import { until } from './support/embedded-installation.ts'
import { childPids, workerPids } from './support/worker-pids.ts'

const token = 'metrics-token-0123456789'

let database: TestDatabase
let atrium: AtriumProcess
let metricsUrl: string

before(async () => {
  database = await createTestDatabase()
  const port = await freePort()
  metricsUrl = `http://127.0.0.1:${port}/metrics`
  atrium = await startAtrium({
    databaseUrl: database.url,
    args: ['--workers', '2'],
    space: true,
    env: { ATRIUM_METRICS_PORT: String(port), ATRIUM_METRICS_TOKEN: token },
  })
})

after(async () => {
  await atrium.end()
  await database.drop()
})

const read = (url: string, headers: Record<string, string> = { authorization: `Bearer ${token}` }) =>
  fetch(url, { headers, redirect: 'manual' })

/** A page with the answers of so many processes. On a busy machine one may not answer in time, and is silent there. */
async function pageOf(answered: number, readPage: () => Promise<Response>): Promise<string> {
  let text = ''
  const isWhole = async () => {
    text = await (await readPage()).text()
    return valueOf(text, 'atrium_processes{state="answered"}') === answered
  }
  await until(isWhole, `${answered} processes answer`, 30_000)
  return text
}

/** The value of the series that starts so. */
function valueOf(text: string, series: string): number {
  const line = text.split('\n').find((one) => one.startsWith(series))
  return line === undefined ? Number.NaN : Number(line.slice(line.lastIndexOf(' ') + 1))
}

test('one page has the metrics of both API processes, added up, of the worker and of Space', async () => {
  // Each on a connection of its own, so that both processes get some.
  const asks = Array.from({ length: 24 }, () => fetch(`${atrium.origin}/v1/collections`, { headers: { connection: 'close' } }))
  for (const answer of await Promise.all(asks)) assert.equal(answer.status, 401)
  const headers = { 'content-type': 'application/json' }
  await fetch(`${atrium.spacesOrigin}/space`, { method: 'POST', headers, body: '{"op":"attest"}' })
  const text = await pageOf(4, async () => {
    const answer = await read(metricsUrl)
    assert.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
    return answer
  })
  assert.equal(valueOf(text, 'atrium_http_requests_total{operation="listCollections",status="401",role="api"}'), 24)
  assert.equal(valueOf(text, 'atrium_http_request_duration_seconds_bucket{le="+Inf",operation="listCollections",role="api"}'), 24)
  assert.equal(valueOf(text, 'atrium_processes{state="silent"}'), 0)
  assert.equal(valueOf(text, 'atrium_queue_depth{queue="webhook_deliveries",role="worker"}'), 0)
  assert.ok(valueOf(text, 'atrium_database_size_bytes{role="worker"}') > 1e6)
  assert.equal(valueOf(text, 'atrium_space_requests_total{op="attest",outcome="ok",role="space"}'), 1)
  for (const role of ['api', 'worker'])
    assert.ok(text.includes(`nodejs_eventloop_lag_p99_seconds{role="${role}"}`), `the event loop of ${role}`)
  const autoscaler = readFileSync(new URL('../deploy/kubernetes/base/api.yaml', import.meta.url), 'utf8')
  const [, scaledOn] = /metric:\s+name: (\S+)/.exec(autoscaler) ?? []
  assert.ok(valueOf(text, `${scaledOn}{role="api"}`) > 0, `the API exports ${scaledOn}, on which Kubernetes scales it`)
  const names = text.split('\n').filter((line) => line.startsWith('# TYPE'))
  assert.equal(new Set(names).size, names.length, 'each metric is declared once')
})

test('the API answers with all processes too, whichever of them is asked', async () => {
  for (let i = 0; i < 4; i++)
    await pageOf(4, () => read(`${atrium.origin}/metrics`, { authorization: `bearer ${token}`, connection: 'close' }))
})

const linux = { skip: process.platform === 'linux' ? false : 'reads /proc' }

test('a process that hangs is counted as silent, and the API still answers with the others', linux, async () => {
  const [pid] = childPids(atrium.pid, 'job-worker-main.ts')
  process.kill(pid!, 'SIGSTOP')
  try {
    const text = await pageOf(3, () => read(`${atrium.origin}/metrics`))
    assert.equal(valueOf(text, 'atrium_processes{state="silent"}'), 1, text)
  } finally {
    process.kill(pid!, 'SIGCONT')
  }
})

test('a counter never falls, whichever process hangs, ends and is replaced', linux, async () => {
  const ask = async (count: number) => {
    for (let i = 0; i < count; i++)
      assert.equal((await fetch(`${atrium.origin}/v1/sessions`, { headers: { connection: 'close' } })).status, 401)
  }
  const series = 'atrium_http_requests_total{operation="listSessions",status="401",role="api"}'
  const page = async () => (await read(metricsUrl)).text()
  const areFour = async () => valueOf(await page(), 'atrium_processes{state="answered"}') === 4
  const counted = async () => valueOf(await page(), series)
  await ask(200)
  // On a busy machine a process may not answer in time. It counts with its last answer then.
  await until(async () => (await counted()) === 200, 'all are counted', 30_000)
  const [pid] = workerPids(atrium.pid)
  process.kill(pid!, 'SIGSTOP')
  const hanging = await page().finally(() => process.kill(pid!, 'SIGKILL'))
  assert.ok(valueOf(hanging, 'atrium_processes{state="silent"}') >= 1)
  assert.equal(valueOf(hanging, series), 200)
  assert.equal(await counted(), 200)
  await until(() => workerPids(atrium.pid).filter((other) => other !== pid).length === 2, 'another process is started', 30_000)
  // It is asked once it is ready.
  await until(areFour, 'it answers', 60_000)
  await ask(20)
  await until(async () => (await counted()) >= 220, 'all are counted', 30_000)
  assert.equal(await counted(), 220)

  const attested = 'atrium_space_requests_total{op="attest",outcome="ok",role="space"}'
  const attest = async () => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${atrium.spacesOrigin}/space`, { method: 'POST', headers, body: '{"op":"attest"}' }).catch(
      () => undefined,
    )
    return answer?.ok === true
  }
  const before = valueOf(await page(), attested)
  assert.ok(before > 0)
  process.kill(childPids(atrium.pid, 'space.mjs')[0]!, 'SIGKILL')
  await until(attest, 'Space is back', 60_000)
  await until(areFour, 'it answers', 30_000)
  assert.equal(valueOf(await page(), attested), before + 1)
})

test('the API has no page while the process that adds up hangs: its own counters would be a fall', linux, async () => {
  // If this process stands still for long, the API closes the connection as an idle one.
  await passesOnce(async () => {
    // The connection must exist: the process that hangs accepts the new ones.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    try {
      const ask = () => call(atrium.origin, 'GET /metrics', { agent })
      assert.equal((await ask()).status, 200)
      process.kill(atrium.pid, 'SIGSTOP')
      const { status, headers } = await ask().finally(() => process.kill(atrium.pid, 'SIGCONT'))
      assert.deepEqual([status, headers['retry-after']], [503, '1'])
      assert.equal((await ask()).status, 200)
    } finally {
      agent.destroy()
    }
  })
})

test('nobody reads metrics without the token or from elsewhere', async () => {
  assert.equal((await read(metricsUrl, {})).status, 401)
  assert.equal((await read(metricsUrl, { authorization: `Bearer ${token}x` })).status, 401)
  assert.equal((await read(metricsUrl.replace('/metrics', '/'))).status, 404)
  assert.equal((await fetch(metricsUrl, { method: 'POST' })).status, 405)
  assert.equal((await read(`${atrium.spacesOrigin}/metrics`)).status, 404)
})

test('the liveness probe of a worker in Kubernetes, which has no token, tells a port that answers from one that does not', async () => {
  const manifest = readFileSync(new URL('../deploy/kubernetes/base/worker.yaml', import.meta.url), 'utf8')
  const [deployment] = parseAllDocuments(manifest).map((document) => document.toJS())
  const [program, script, ...args] = deployment.spec.template.spec.containers[0].livenessProbe.exec.command as string[]
  assert.equal(program, 'node')
  const path = fileURLToPath(new URL(script!.replace(/^\/app\//, '../'), import.meta.url))
  const probe = async (port: string) => {
    const child = spawn(process.execPath, [path, ...args], { env: { ATRIUM_METRICS_PORT: port }, stdio: 'ignore' })
    const [code] = (await once(child, 'exit')) as [number | null]
    return code
  }
  assert.equal(await probe(new URL(metricsUrl).port), 0)
  assert.equal(await probe(String(await freePort())), 1)
})

test('in production the port of the API shows metrics to the token alone', async () => {
  const other = await startAtrium({
    databaseUrl: database.url,
    role: 'api',
    env: { NODE_ENV: 'production', ATRIUM_METRICS_TOKEN: token, ATRIUM_TRUST_PROXY: 'loopback' },
  })
  try {
    assert.equal((await read(`${other.origin}/metrics`, {})).status, 404)
    assert.equal((await read(`${other.origin}/metrics`)).status, 200)
  } finally {
    await other.end()
  }
})

test('outside of production this machine reads metrics, and nobody behind a proxy', async () => {
  const other = await startAtrium({ databaseUrl: database.url, role: 'api', env: { ATRIUM_TRUST_PROXY: 'loopback' } })
  try {
    assert.equal((await read(`${other.origin}/metrics`, {})).status, 200)
    assert.equal((await read(`${other.origin}/metrics`, { 'x-forwarded-for': '203.0.113.9' })).status, 404)
  } finally {
    await other.end()
  }
})
