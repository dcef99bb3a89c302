import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createTestDatabase } from '../../packages/server/testing/test-database.ts'
import { freePort, startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { call, makeCollection, makeTenant, NoAnswer, type TestTenant } from '../support/call-api.ts'
import { startPostgresProxy, type PostgresProxy } from '../support/postgres-proxy.ts'

const writers = 16

async function open(t: TestContext, { args = [] as string[], proxied = false } = {}) {
  const database = await createTestDatabase()
  const proxy: PostgresProxy | undefined = proxied ? await startPostgresProxy(database.url) : undefined
  const port = await freePort()
  let atrium: AtriumProcess | undefined
  t.after(async () => {
    await atrium?.end('SIGKILL')
    await proxy?.close()
    await database.drop()
  })
  const start = async () => (atrium = await startAtrium({ databaseUrl: proxy?.url ?? database.url, port, args }))
  return { proxy: proxy!, start }
}

/** The requests of a tenant: how many were sent and how many were answered. */
interface Traffic {
  tenant: TestTenant
  path: string
  sent: number
  answered: number
}

async function openTraffic(origin: string): Promise<Traffic> {
  const tenant = await makeTenant(origin)
  const { id } = await makeCollection(origin, tenant.publishable)
  return { tenant, path: `/v1/collections/${id}/items`, sent: 1, answered: 1 }
}

/** Adds an item. Throws NoAnswer without a response. */
async function add(origin: string, traffic: Traffic, agent?: Agent): Promise<void> {
  traffic.sent++
  const body = { type: 'message', content: traffic.sent }
  const answer = await call(origin, `POST ${traffic.path}`, { key: traffic.tenant.publishable, body, ...(agent && { agent }) })
  traffic.answered++
  assert.equal(answer.status, 201, answer.text)
}

/**
 * Many concurrent clients, each until it gets no response. They keep no connection, so that a stopping server need
 * not wait for them.
 */
function addUntilTheEnd(origin: string, traffic: Traffic): Promise<unknown> {
  const agent = new Agent({ keepAlive: false })
  const write = async () => {
    try {
      for (;;) await add(origin, traffic, agent)
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error
    }
  }
  return Promise.all(Array.from({ length: writers }, write))
}

async function report(origin: string, { secret }: TestTenant): Promise<Record<string, number> | undefined> {
  const { status, text } = await call(origin, 'GET /v1/usage', { key: secret })
  if (status !== 200) return undefined
  const { data } = JSON.parse(text) as { data: { meter: string; quantity: number }[] }
  const sums: Record<string, number> = {}
  // The test may run past midnight.
  for (const { meter, quantity } of data) sums[meter] = (sums[meter] ?? 0) + quantity
  return sums
}

test('after kill -9 under load, every item and the requests up to the last report are counted, and never more than was sent', async (t) => {
  const { start } = await open(t)
  let atrium = await start()
  const traffic = await openTraffic(atrium.origin)
  const adding = addUntilTheEnd(atrium.origin, traffic)
  while (traffic.answered < 200) await delay(20)
  const old = traffic.answered
  // Among so many requests, a slow machine may answer it with 503.
  let before: Record<string, number> | undefined
  while (!before) before = await report(atrium.origin, traffic.tenant)
  assert.ok(before['requests']! >= old, `${before['requests']} of ${old}`)
  await delay(500)
  await atrium.end('SIGKILL')
  await adding
  assert.ok(traffic.answered > old)
  atrium = await start()
  const reported = (await report(atrium.origin, traffic.tenant))!
  // The report before is a request too.
  assert.ok(reported['requests']! >= old && reported['requests']! <= traffic.sent + 1, JSON.stringify(reported))
  assert.ok(reported['items']! >= traffic.answered - 1 && reported['items']! <= traffic.sent - 1, JSON.stringify(reported))
  t.diagnostic(`${traffic.answered} answered, ${reported['requests']} of them reported`)
})

for (const [name, args] of [
  ['one process', []],
  ['two workers', ['--workers', '2']],
] as const) {
  test(`after SIGTERM under load, every answered request is reported (${name})`, async (t) => {
    const { start } = await open(t, { args: [...args] })
    let atrium = await start()
    const traffic = await openTraffic(atrium.origin)
    const adding = addUntilTheEnd(atrium.origin, traffic)
    await delay(300)
    assert.equal(await atrium.end('SIGTERM'), 0, atrium.output())
    await adding
    atrium = await start()
    const { requests, items } = (await report(atrium.origin, traffic.tenant))!
    assert.deepEqual({ requests, items }, { requests: traffic.answered, items: traffic.answered - 1 })
    t.diagnostic(`${traffic.answered} answered`)
  })
}

for (const when of ['before', 'after'] as const) {
  test(`a database outage ${when} the commit of a batch, before its confirmation, neither loses nor doubles usage`, async (t) => {
    const { proxy, start } = await open(t, { proxied: true })
    const atrium = await start()
    const traffic = await openTraffic(atrium.origin)
    const stands = proxy.hold({ nth: 1, when, of: 'with batch as' })
    for (let i = 0; i < 20; i++) await add(atrium.origin, traffic)
    // A report has the counts written. It gets no answer.
    const asked = report(atrium.origin, traffic.tenant).catch(() => undefined)
    await stands
    // Counted while the batch hangs.
    for (let i = 0; i < 20; i++) await add(atrium.origin, traffic)
    await proxy.cut()
    await proxy.restore()
    // The buffered counts can no longer be stored.
    proxy.release()
    let reported: Record<string, number> | undefined
    let failed = 1
    for (const deadline = Date.now() + 10_000; !reported && Date.now() < deadline; await delay(20)) {
      reported = await report(atrium.origin, traffic.tenant)
      if (!reported) failed++
    }
    await asked
    assert.equal(reported?.['items'], 40)
    // A failed usage report is a request too, if the server could still identify the tenant.
    const requests = reported['requests']!
    assert.ok(requests >= traffic.answered && requests <= traffic.answered + failed, `${requests}, ${failed} failed`)
  })
}
