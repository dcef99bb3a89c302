import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startPgBouncer } from '../../packages/traffic/src/postgres/testing/start-pgbouncer.ts'
import { freePort, startAtrium } from '../support/atrium-process.ts'
import { startLoad } from '../support/load.ts'
import { skipWithoutPostgresPair, startPostgresPair, type PostgresPair } from '../support/postgres-pair.ts'
import { skipWithout } from '../support/skip-without.ts'
import { childPids } from '../support/worker-pids.ts'

const skip = skipWithout('haproxy', 'pgbouncer') || skipWithoutPostgresPair
const backWithinMs = 15_000
/** How long a tool such as Patroni takes to decide that the primary is gone. */
const detectionMs = 2_000

const fileOf = (name: string) => readFileSync(new URL(`../../deploy/poolers/${name}`, import.meta.url), 'utf8')

/** HAProxy with the file of deploy/poolers. Returns its port. */
async function startHaproxy(t: TestContext, { primary, standby }: PostgresPair): Promise<number> {
  const port = await freePort()
  const config = fileOf('haproxy.cfg')
    .replace('127.0.0.1:5000', `127.0.0.1:${port}`)
    .replace('10.0.0.11:5432 port 8008', `127.0.0.1:${primary.port} port ${primary.checkPort}`)
    .replace('10.0.0.12:5432 port 8008', `127.0.0.1:${standby.port} port ${standby.checkPort}`)
  assert.doesNotMatch(config, /10\.0\.0|8008/)
  const folder = await mkdtemp(join(tmpdir(), 'atrium-haproxy-'))
  await writeFile(join(folder, 'haproxy.cfg'), config)
  const proxy = spawn('haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')], { stdio: 'ignore' })
  t.after(async () => {
    proxy.kill('SIGKILL')
    if (proxy.exitCode === null) await once(proxy, 'exit')
    await rm(folder, { recursive: true })
  })
  return port
}

/** The settings of deploy/poolers/pgbouncer.ini, without its address and its passwords. */
function pgBouncerSettings(): string {
  const [, settings = ''] = fileOf('pgbouncer.ini').split('[pgbouncer]')
  return settings
    .split('\n')
    .filter((line) => !/^(listen_|unix_|auth_)/.test(line))
    .join('\n')
}

async function poolerEnvironment(t: TestContext, directUrl: string): Promise<Record<string, string>> {
  const pooler = await startPgBouncer({ serverUrl: directUrl, database: 'atrium', settings: pgBouncerSettings() })
  t.after(() => pooler.stop())
  return { DATABASE_URL: pooler.urlOf('atrium'), DATABASE_DIRECT_URL: directUrl }
}

for (const isPooled of [false, true]) {
  const proxies = isPooled ? 'PgBouncer and HAProxy' : 'HAProxy'
  const name = `each primary is killed under load behind ${proxies}, and comes back as the standby: no acknowledged write is lost, and nothing is restarted`
  test(name, { skip, timeout: 300_000 }, async (t) => {
    const pair = await startPostgresPair()
    t.after(() => pair.stop())
    const port = await startHaproxy(t, pair)
    const directUrl = `postgresql://atrium@127.0.0.1:${port}/atrium`
    const env = isPooled ? await poolerEnvironment(t, directUrl) : {}
    const atrium = await startAtrium({ databaseUrl: directUrl, env, args: ['--workers', '2'], space: true })
    t.after(() => atrium.end('SIGKILL'))
    const pids = childPids(atrium.pid, '')

    const load = await startLoad(atrium.origin)
    t.after(() => load.abandon())
    for (let failover = 0; failover < 3; failover++) {
      if (failover > 0) await pair.rejoin()
      await delay(3_000)
      const killedAt = Date.now()
      const before = load.acknowledged.length
      await pair.killPrimary()
      // What was acknowledged before is read by now.
      const downAt = Date.now() + detectionMs / 2
      await delay(detectionMs)
      await pair.promoteStandby()
      const backAfter = (kind: string) => {
        const first = load.acknowledged.slice(before).find((one) => one.kind === kind && one.atMs > downAt)
        return first && first.atMs - killedAt
      }
      const kinds = ['item', 'turn', 'file']
      while (kinds.some((kind) => backAfter(kind) === undefined) && Date.now() < killedAt + 60_000) await delay(100)
      const waits = kinds.map((kind) => `${kind} ${backAfter(kind)} ms`).join(', ')
      t.diagnostic(`${before} writes before, ${load.acknowledged.length - before} since; back after the kill: ${waits}`)
      for (const kind of kinds) assert.ok(backAfter(kind)! < backWithinMs, waits)
    }

    await delay(3_000)
    await load.stop()
    await load.assertKept(atrium.origin, load.acknowledged)
    await load.assertOnce(atrium.origin)
    assert.deepEqual(childPids(atrium.pid, ''), pids, 'no process was replaced')
  })
}
