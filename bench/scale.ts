import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { required } from '@atrium/contract/required'
import { Pool } from 'pg'
import { startEmbeddedPostgres } from '../packages/server/src/db/embedded-postgres.ts'
import { skipWithoutPgBouncer, startPgBouncer } from '../packages/traffic/src/postgres/testing/start-pgbouncer.ts'
import { skipWithoutCitus, startCitusCluster } from '../tests/support/citus-cluster.ts'
import { Data } from './data.ts'
import { settle } from './fill.ts'
import { median } from './goals.ts'
import { probe, type Plan } from './plan.ts'
import { processorTimeOf } from './processor-time.ts'
import { align } from './report.ts'
import { runAtrium, type Server, startServer } from './servers.ts'
import { targets } from './targets.ts'
import { connections, runWrk, writePlan } from './wrk.ts'

interface Options {
  rounds: number
  seconds: number
  signal: AbortSignal
}

interface ScaleRound {
  perSecond: number
  usPerRequest: number
}

/** One measured arrangement. The first case of a group with the same target is what the others are compared with. */
interface Case {
  group: string
  name: string
  target: string
  origins: string[]
  plan: Plan
  planArgs: string[]
  rounds: ScaleRound[]
}

const processCounts = [1, 2, 4]
/** Four processes with this many connections each stay below the embedded database's limit. */
const poolEnvironment = { DATABASE_POOL_SIZE: '10', SPACE_DATABASE_POOL_SIZE: '10' }
const tenantCounts = [10, 10_000]
const tenantCollections = 10_000
const pauseMs = 300

/**
 * Measures how the processor time of a request changes: with the number of processes, with PgBouncer or Citus instead
 * of a plain PostgreSQL, and with the number of tenants. Requests per second say little here, because all processes
 * share the processors of one machine. Prints a table, and returns the cases.
 */
export async function benchScale({ rounds, seconds, signal }: Options): Promise<Case[]> {
  const folder = mkdtempSync(path.join(realpathSync(tmpdir()), 'atrium-scale-'))
  // PostgreSQL's own user must pass through.
  chmodSync(folder, 0o711)
  const undo: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  const folders = [folder]
  const cases: Case[] = []
  const start = async (name: 'atrium' | 'space', database: string, databaseUrl: string, env: Record<string, string> = {}) => {
    signal.throwIfAborted()
    // Processes with one database share one folder of files.
    const own = path.join(folder, database)
    mkdirSync(own, { recursive: true })
    const server = await startServer(name, { databaseUrl, folder: own, apiOnly: true, env: { ...poolEnvironment, ...env } })
    undo.push(() => server.stop())
    return server
  }
  const add = async (group: string, name: string, target: string, servers: Server[], plan: Plan) => {
    const origins = servers.map(({ origin }) => origin)
    for (const origin of origins) await probe(origin, plan)
    const planArgs = writePlan(folder, `${group}-${name}-${target}`.replaceAll(' ', '-'), plan)
    cases.push({ group, name, target, origins, plan, planArgs, rounds: [] })
  }
  try {
    const postgres = await startEmbeddedPostgres({ dataDir: folder, say: () => {} })
    undo.push(() => postgres.stop())
    const url = postgres.connectionString
    const pool = openPool(url, undo)
    runAtrium('migrate', url)
    const apis: Server[] = []
    const spaces: Server[] = []
    for (let i = 1; i <= Math.max(...processCounts); i++) {
      apis.push(await start('atrium', 'plain', url))
      spaces.push(await start('space', 'plain', url))
    }
    const data = new Data(pool, required(apis[0], 'an API runs').origin, signal)
    const spaceOrigin = required(spaces[0], 'a Space runs').origin
    const plans = await plansOf(data, spaceOrigin)
    for (const count of processCounts)
      for (const [target, plan] of plans)
        await add('processes', `${count}`, target, (target === 'turn' ? spaces : apis).slice(0, count), plan)

    for (const [target, plan] of plans)
      await add('database', 'plain', target, (target === 'turn' ? spaces : apis).slice(0, 1), plan)
    if (skipWithoutPgBouncer) console.log(`Without PgBouncer: ${skipWithoutPgBouncer}`)
    else {
      const settings = 'pool_mode=transaction\nmax_client_conn=200\ndefault_pool_size=20'
      const pooler = await startPgBouncer({ serverUrl: url, settings })
      undo.push(() => pooler.stop())
      folders.push(pooler.folder)
      const pooled = pooler.urlOf(new URL(url).pathname.slice(1))
      const env = { DATABASE_DIRECT_URL: url }
      const api = await start('atrium', 'plain', pooled, env)
      const space = await start('space', 'plain', pooled, env)
      for (const [target, plan] of plans) await add('database', 'PgBouncer', target, [target === 'turn' ? space : api], plan)
    }
    if (skipWithoutCitus) console.log(`Without Citus: ${skipWithoutCitus}`)
    else {
      const cluster = await startCitusCluster()
      undo.push(() => cluster.stop())
      folders.push(cluster.folder)
      runAtrium('migrate', cluster.url)
      runAtrium('distribute', cluster.url)
      const api = await start('atrium', 'citus', cluster.url)
      const space = await start('space', 'citus', cluster.url)
      const citusData = new Data(openPool(cluster.url, undo), api.origin, signal)
      for (const [target, plan] of await plansOf(citusData, space.origin))
        await add('database', 'Citus', target, [target === 'turn' ? space : api], plan)
    }

    for (const count of tenantCounts) {
      const lines = await data.tenants(count, tenantCollections / count)
      const plan: Plan = { method: 'GET', paths: lines, status: 200 }
      await add('tenants', count.toLocaleString('en-US'), 'get-collection', apis.slice(0, 1), plan)
    }
    await settle(pool)
    await measureCases(cases, folders, { rounds, seconds, signal })
    console.log(scaleText(cases))
    return cases
  } finally {
    for (const end of undo.toReversed()) await end()
  }
}

function openPool(connectionString: string, undo: (() => unknown)[]): Pool {
  const pool = new Pool({ connectionString, max: 4 })
  // After Ctrl-C, PostgreSQL may end before the pool does.
  pool.on('error', () => {})
  undo.push(() => pool.end())
  return pool
}

async function plansOf(data: Data, spaceOrigin: string): Promise<[name: string, plan: Plan][]> {
  const plans: [string, Plan][] = []
  for (const { name, server, plan } of targets)
    if (['get-collection', 'add-item', 'turn'].includes(name))
      plans.push([name, await plan(data, server === 'space' ? spaceOrigin : '')])
  return plans
}

/** Each round runs every case once. Every other round runs backwards, so that no case always follows the same one. */
async function measureCases(cases: Case[], folders: string[], { rounds, seconds, signal }: Options): Promise<void> {
  for (const one of cases) await measureCase(one, folders, 1, signal)
  for (const one of cases) one.rounds = []
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`round ${round + 1} of ${rounds}\n`)
    for (const one of round % 2 ? cases.toReversed() : cases) await measureCase(one, folders, seconds, signal)
  }
}

/** The connections are divided among the processes, each of which has a wrk of its own. */
async function measureCase(
  { origins, plan, planArgs, rounds }: Case,
  folders: string[],
  seconds: number,
  signal: AbortSignal,
): Promise<void> {
  const before = processorTimeOf(...folders)
  const connectionCount = connections / origins.length
  const measured = await Promise.all(
    origins.map((origin) => runWrk({ origin, plan, planArgs, seconds, signal, connectionCount })),
  )
  const after = processorTimeOf(...folders)
  const requests = measured.reduce((sum, one) => sum + one.requests, 0)
  rounds.push({
    perSecond: measured.reduce((sum, { perSecond }) => sum + perSecond, 0),
    usPerRequest: before === undefined || after === undefined ? Number.NaN : (after - before) / requests,
  })
  // Requests that wrk left open are answered before the next case starts.
  await delay(pauseMs)
}

function scaleText(cases: Case[]): string {
  const costs = ({ rounds }: Case) => rounds.map(({ usPerRequest }) => usPerRequest)
  const lines = cases.map((one) => {
    const first = required(
      cases.find(({ group, target }) => group === one.group && target === one.target),
      'each group has a first case',
    )
    const ratios = costs(one).map((cost, round) => cost / required(costs(first)[round], 'both ran each round'))
    return [
      one.group,
      one.name,
      one.target,
      Math.round(median(one.rounds.map(({ perSecond }) => perSecond))).toLocaleString('en-US'),
      (median(costs(one)) / 1_000).toFixed(3),
      median(ratios).toFixed(2),
      `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`,
    ]
  })
  const titles = ['group', 'case', 'target', 'requests/s', 'ms of CPU a request', 'times the first', 'lowest–highest']
  return align([titles, ...lines], 3)
}
