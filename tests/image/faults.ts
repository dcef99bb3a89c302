import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startHookServer, type HookServer } from '../../packages/server/testing/hook-server.ts'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { askGood, call, makeTenant } from '../support/call-api.ts'
import { type Load, startLoad } from '../support/load.ts'
import { type PostgresProxy, startPostgresProxy } from '../support/postgres-proxy.ts'
import { assertAgentAnswers, launchBody, makeAgent } from '../support/sessions.ts'
import { type Image, untilAnswers } from './container.ts'
import { makePlatform, type Platform, type Role } from './platform.ts'

const outageMs = 30_000
/** From the start of a container until its role works again, where each process that can run has a processor. */
const recoveryMs = 5_000

/** Agents' endpoints and webhooks are on this machine. */
const faulty = { ATRIUM_RATE_LIMIT: 'off', ATRIUM_EGRESS: 'loopback' }

/** What happens to the roles: each is a container that an operator's engine would start again. */
export function testFaults(image: () => Image, folder: () => string): void {
  describe('the roles of the image under load', { concurrency: 1 }, () => {
    let database: TestDatabase
    let elsewhere: TestDatabase
    let proxy: PostgresProxy
    let newProxy: PostgresProxy
    let platform: Platform
    let hooks: HookServer
    let load: Load
    let again: Load | undefined
    let rooms: object[]

    before(async () => {
      database = await createTestDatabase()
      elsewhere = await createTestDatabase({ template: 'template0' })
      proxy = await startPostgresProxy(database.url)
      newProxy = await startPostgresProxy(elsewhere.url)
      platform = await makePlatform(image(), folder(), `${proxy.url}?sslmode=disable`, faulty)
      await platform.startAll()
      const tenant = await makeTenant(platform.origin)
      hooks = await startHookServer()
      await askGood(platform.origin, 'PUT /v1/tenant/webhooks', { key: tenant.secret, body: { url: hooks.url } })
      load = await startLoad(platform.origin, { tenant, itemWriters: 4, pauseMs: 20 })
      const agent = await makeAgent(platform.origin, tenant, { endpoint: undefined, price_credits: 2 })
      rooms = []
      for (let i = 0; i < 3; i++) {
        const body = await launchBody(platform.origin, tenant, agent)
        await askGood(platform.origin, 'POST /v1/sessions', { key: tenant.secret, idempotencyKey: randomUUID(), body })
        rooms.push(body.room)
      }
      await assertSessionsAnswer('before')
    })

    after(async () => {
      load?.abandon()
      again?.abandon()
      await platform?.killAll()
      await hooks?.close()
      await proxy?.close()
      await newProxy?.close()
      await database?.drop()
      await elsewhere?.drop()
    })

    // A killed worker's sessions wait until its leases of 30 seconds have run out.
    const assertSessionsAnswer = (text: string) =>
      Promise.all(rooms.map((room) => assertAgentAnswers(platform.origin, room, text, 60_000)))

    /** Whether a write of that kind is acknowledged that began now or later. */
    const untilWritten = async (kind: 'item' | 'turn') => {
      const countOf = () => load.acknowledged.filter((one) => one.kind === kind).length
      // The next one may have been under way.
      const enough = countOf() + 6
      for (const deadline = Date.now() + 30_000; countOf() < enough; await delay(20))
        assert.ok(Date.now() < deadline, `no ${kind} is acknowledged:\n${platform.said()}`)
    }
    /** The killed worker's leases of 10 seconds hold its own endpoints back; others are served by whoever is there. */
    const untilNewWorkIsDone = async () => {
      const server = await startHookServer()
      const { secret: key } = await makeTenant(platform.origin)
      await askGood(platform.origin, 'PUT /v1/tenant/webhooks', { key, body: { url: server.url } })
      await askGood(platform.origin, 'POST /v1/collections', { key, body: {} })
      for (const deadline = Date.now() + 30_000; server.hooks.length === 0; await delay(20))
        assert.ok(Date.now() < deadline, `no webhook is delivered:\n${platform.said()}`)
      await server.close()
    }
    const untilAllIsDelivered = async () => {
      const ids = load.acknowledged.flatMap(({ kind, id }) => (kind === 'item' ? [id] : []))
      for (const deadline = Date.now() + 30_000; ; await delay(100)) {
        const delivered = hooks.hooks.map(({ text }) => text).join('\n')
        const missing = ids.filter((id) => !delivered.includes(id))
        if (missing.length === 0) return
        assert.ok(Date.now() < deadline, `${missing.length} of ${ids.length} items have no webhook:\n${platform.said()}`)
      }
    }
    const works: Record<Role, () => Promise<void>> = {
      api: () => untilWritten('item'),
      space: () => untilWritten('turn'),
      worker: untilNewWorkIsDone,
    }

    for (const role of ['api', 'worker', 'space'] as const)
      test(`SIGKILL of ${role}: started again, it works within five seconds`, async (t) => {
        await delay(1_000)
        await platform.role(role).stop('SIGKILL')
        await delay(500)
        const crowdBefore = await readCrowd()
        const began = performance.now()
        platform.start(role)
        await untilAnswers(platform.healthUrl(role), platform.said)
        await works[role]()
        const tookMs = performance.now() - began
        const crowd = Math.max(crowdBefore, await readCrowd())
        t.diagnostic(`${role} works after ${Math.round(tookMs)} ms; ${crowd.toFixed(1)} processes for each processor`)
        assert.ok(tookMs <= recoveryMs * crowd, `${tookMs} ms`)
        await assertSessionsAnswer(`after ${role}`)
      })

    test('the database is gone for 30 seconds: no role ends, and sessions continue', async (t) => {
      await proxy.cut()
      await delay(outageMs)
      await proxy.restore()
      const began = performance.now()
      await works.api()
      await works.space()
      await works.worker()
      t.diagnostic(`all work after ${Math.round(performance.now() - began)} ms`)
      await assertSessionsAnswer('after the outage')
      for (const role of ['api', 'worker', 'space'] as const) assert.ok(!platform.role(role).hasEnded(), role)
    })

    test('the runbook: backup, machine gone, restore elsewhere: nothing acknowledged before the printed time is missing', async (t) => {
      const printed = await platform.atrium('backup', '/run/backup/archive.tar')
      const snapshotMs = Date.parse(/Snapshot: (\S+)\. /.exec(printed)![1]!)
      await delay(500)
      await load.stop()
      await load.assertKept(platform.origin, load.acknowledged)
      await load.assertOnce(platform.origin)
      await untilAllIsDelivered()

      await platform.moveTo(`${newProxy.url}?sslmode=disable`)
      const restored = await platform.atrium('restore', '/run/backup/archive.tar', '--verify')
      t.diagnostic(restored)
      await platform.startAll()
      const list = () => call(platform.origin, `GET ${load.itemsPath}`, load.owner)
      assert.equal((await list()).status, 503, 'the window is closed')
      await platform.atrium('restore', '--confirm-window')
      // Each role looks for the confirmation once a second.
      const poll = () => call(platform.origin, 'POST /v1/space', { body: { op: 'poll', ...rooms[0], sinceCount: 0 } })
      for (const ask of [list, poll])
        for (const deadline = Date.now() + 10_000; (await ask()).status !== 200; await delay(100))
          assert.ok(Date.now() < deadline, platform.said())

      const expected = load.acknowledged.filter(({ atMs }) => atMs < snapshotMs)
      t.diagnostic(`${expected.length} of ${load.acknowledged.length} writes were acknowledged before the snapshot`)
      assert.ok(expected.length > 100 && expected.length < load.acknowledged.length)
      await load.assertKept(platform.origin, expected)
      await rm(join(platform.backups, 'archive.tar'))
    })

    test('SIGTERM ends each role in order while requests are under way', async () => {
      again = await startLoad(platform.origin, { itemWriters: 4, pauseMs: 20 })
      for (const role of ['api', 'worker', 'space'] as const) {
        const began = performance.now()
        assert.equal(await platform.role(role).stop(), 0, platform.role(role).output().slice(-2_000))
        assert.ok(performance.now() - began < 12_000, `${role} ends in order`)
        platform.start(role)
        await untilAnswers(platform.healthUrl(role), platform.said)
      }
      await again.stop()
      await again.assertOnce(platform.origin)
    })
  })
}

/** How many processes want each processor, and at least 1: in the last minute or now, whichever is more. */
async function readCrowd(): Promise<number> {
  const [minute, , , now = ''] = (await readFile('/proc/loadavg', 'utf8')).split(' ')
  return Math.max(1, Number(minute) / availableParallelism(), Number(now.split('/')[0]) / availableParallelism())
}
