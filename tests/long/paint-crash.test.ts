import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { call, makeCollection, makeTenant } from '../support/call-api.ts'
import { fundIssuer } from '../support/fund-issuer.ts'
import { startPostgresProxy, type PostgresProxy } from '../support/postgres-proxy.ts'
import { queryDatabase } from '../support/query-database.ts'
import { childPids } from '../support/worker-pids.ts'

let database: TestDatabase
let proxy: PostgresProxy
let atrium: AtriumProcess
let secret: string
let publishable: string
let collection: { id: string; token: string }

before(async () => {
  database = await createTestDatabase()
  proxy = await startPostgresProxy(database.url)
  atrium = await startAtrium({ databaseUrl: proxy.url })
  ;({ secret, publishable } = await makeTenant(atrium.origin))
  await fundIssuer(atrium.origin, secret, 1_000)
  collection = await makeCollection(atrium.origin, publishable)
})

after(async () => {
  await atrium.end('SIGKILL')
  await proxy.close()
  await database.drop()
})

/** The statements of the worker during a paint. The statement before `commit` identifies that commit. */
const steps = [
  { of: 'update artifacts set stage', nth: 1 },
  { of: 'update artifacts set stage', nth: 2 },
  { of: 'delete from artifact_jobs', nth: 1 },
  { of: "update artifacts set status = 'ready'", nth: 1 },
  { of: 'select what, tenant_id', nth: 1 },
  { of: 'with opened as', nth: 1 },
  { of: 'commit', nth: 1 },
]

async function startPaint(): Promise<{ id: string; coupon: string }> {
  const granted = await call(atrium.origin, 'POST /v1/wallets/grant', {
    key: secret,
    idempotencyKey: randomUUID(),
    body: { amount: 5 },
  })
  const { coupon } = granted.data as unknown as { coupon: string }
  const options = {
    key: publishable,
    token: collection.token,
    idempotencyKey: randomUUID(),
    body: { prompt: 'a small harbour', coupon },
  }
  const started = await call(atrium.origin, `POST /v1/collections/${collection.id}/paint`, options)
  assert.equal(started.status, 202, started.text)
  return { id: started.data.id, coupon }
}

async function artifactOf(id: string) {
  const options = { key: publishable, token: collection.token }
  const { data } = await call(atrium.origin, `GET /v1/collections/${collection.id}/artifacts/${id}`, options)
  return data as unknown as { status: string; stage: string; bytes: number }
}

async function eventually(holds: () => Promise<boolean>, withinMs: number, what: string): Promise<number> {
  const startedAt = Date.now()
  while (!(await holds())) {
    assert.ok(Date.now() - startedAt < withinMs, what)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return Date.now() - startedAt
}

const worker = () => childPids(atrium.pid, 'job-worker-main.ts')[0]

async function killWorker(): Promise<void> {
  const pid = worker()!
  process.kill(pid, 'SIGKILL')
  await eventually(async () => worker() !== undefined && worker() !== pid, 10_000, 'a new worker comes')
}

async function within(ms: number, promise: Promise<unknown>, what: string): Promise<void> {
  const late = AbortSignal.timeout(ms)
  const failed = new Promise<never>((_, reject) =>
    late.addEventListener('abort', () => reject(new Error(`never stood: ${what}`))),
  )
  await Promise.race([promise, failed])
}

/** A commit belongs to the worker if it follows the end of the job. */
async function holdLate(step: { of: string; nth: number; when: 'before' | 'after' }): Promise<void> {
  if (step.of !== 'commit') return void (await proxy.hold(step))
  await proxy.hold({ of: 'delete from artifact_jobs', nth: 1, when: 'before' })
  // Released first, because a release removes the armed points.
  proxy.release()
  await proxy.hold(step)
}

async function assertPaidOnce(coupon: string, point: string): Promise<void> {
  const wallet = await call(atrium.origin, 'POST /v1/wallets/lookup', { key: publishable, body: { wallet_code: coupon } })
  assert.deepEqual(wallet.data, { balance: 4, held: 0, currency: 'credits' }, point)
  const audit = await call(atrium.origin, 'GET /v1/operator/audit', { operator: true })
  assert.deepEqual((audit.data as unknown as { findings: unknown[] }).findings, [], point)
  assert.deepEqual(await queryDatabase(database.url, 'select artifact_id from artifact_jobs', []), [], point)
}

test('a worker killed at any step of a paint: one picture, one charge', async (t) => {
  let points = 0
  for (const step of steps) {
    for (const when of ['before', 'after'] as const) {
      const point = `killed ${when} ${step.of} ${step.nth}`
      // Other processes send the same statements. Only the worker's are meant, which follow the painting a second or
      // two later.
      const own = step.of.startsWith('update artifacts set stage')
      const armed = own ? proxy.hold({ ...step, when }) : undefined
      const { id, coupon } = await startPaint()
      await within(20_000, armed ?? holdLate({ ...step, when }), point)
      t.diagnostic(point)
      await killWorker()
      proxy.release()
      // Expires the lease, so that the next test does not wait for it.
      await queryDatabase(
        database.url,
        'update artifact_jobs set lease_until = now() where lease_until > now() returning artifact_id',
        [],
      )
      await eventually(async () => (await artifactOf(id)).stage === 'done', 30_000, point)
      assert.equal((await artifactOf(id)).status, 'ready', point)
      await assertPaidOnce(coupon, point)
      points++
    }
  }
  t.diagnostic(`${points} kill points`)
})

test('the job of a killed worker ends within 60 seconds of its return, by itself', async (t) => {
  const stands = proxy.hold({ of: 'update artifacts set stage', nth: 2, when: 'after' })
  const { id, coupon } = await startPaint()
  await stands
  await killWorker()
  proxy.release()
  const tookMs = await eventually(async () => (await artifactOf(id)).stage === 'done', 60_000, 'it ends')
  t.diagnostic(`after ${tookMs} ms`)
  await assertPaidOnce(coupon, 'after the lease')
})
