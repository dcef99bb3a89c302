import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test, type TestContext } from 'node:test'
import type { HookServer } from '#testing/hook-server.ts'
import { eventually } from '#testing/session-world.ts'
import type { TestTenant } from '#testing/test-api.ts'
import { untilBlocked } from '#testing/until-blocked.ts'
import { startWebhookWorld, type WebhookWorld } from '#testing/webhook-world.ts'

let world: WebhookWorld
before(async () => {
  world = await startWebhookWorld()
})
beforeEach(() => world.openTenant())
after(() => world.close())

/** An attempt that has arrived, and is answered with a status when the test says so. */
type Answer = (status: number) => void

interface Endpoint {
  server: HookServer
  id: string
  table: { endpoints: string; deliveries: string }
  /** Holds the next attempt; the ones after it are answered with 204. */
  holdNext(): () => Promise<Answer>
}

const kinds = ['default', 'further'] as const

async function open(t: TestContext, kind: (typeof kinds)[number], of: TestTenant = world.tenant): Promise<Endpoint> {
  const server = await world.openHook(t)
  await world.collectionOf(of)
  const path = kind === 'default' ? 'PUT /tenant/webhooks' : 'POST /tenant/webhooks/endpoints'
  const [method = '', at = ''] = path.split(' ')
  const got = await world.call(method, at, { url: server.url }, of)
  assert.ok(got.status < 300, got.text)
  const holdNext = () => {
    let answer: Answer | undefined
    server.reply = (_hook, res) => {
      server.reply = 204
      answer = (status) => void res.writeHead(status).end()
    }
    return () => eventually(async () => answer, 'the attempt arrives')
  }
  return kind === 'default'
    ? { server, id: 'default', table: { endpoints: 'webhooks', deliveries: 'webhook_deliveries' }, holdNext }
    : {
        server,
        id: got.body.data.id,
        table: { endpoints: 'webhook_endpoints', deliveries: 'webhook_endpoint_deliveries' },
        holdNext,
      }
}

interface Listed {
  id: string
  status: string
  attempts: { status: number | null }[]
}

const listed = async ({ id }: Endpoint, of = world.tenant): Promise<Listed[]> =>
  (await world.call('GET', `/tenant/webhooks/deliveries?endpoint=${id}`, undefined, of)).body.data

const resend = async ({ id }: Endpoint, event: string, of = world.tenant) => {
  const got = await world.call('POST', `/tenant/webhooks/deliveries/${event}/resend?endpoint=${id}`, undefined, of)
  assert.equal(got.status, 202, got.text)
}

const recover = async ({ id }: Endpoint) => {
  const since = new Date(Date.now() - 3_600_000).toISOString()
  const got = await world.call('POST', `/tenant/webhooks/endpoints/${id}/recover`, { since, pending: true })
  assert.deepEqual(got.body.data, { queued: 1 }, got.text)
}

/** The statuses of its attempts, once it has succeeded. */
const succeeded = (endpoint: Endpoint, of = world.tenant) =>
  eventually(async () => {
    const [delivery] = await listed(endpoint, of)
    return delivery?.status === 'succeeded' && delivery.attempts.map(({ status }) => status)
  }, 'it is written')

for (const kind of kinds)
  describe(`a delivery to a ${kind} endpoint, asked for again while an attempt is under way,`, () => {
    test('is sent again, although the attempt succeeds', async (t) => {
      const endpoint = await open(t, kind)
      const held = endpoint.holdNext()
      const [event] = await world.cause(1)
      const answer = await held()
      await resend(endpoint, event!.id)
      answer(200)
      await world.arrived(endpoint.server, 2)
      assert.deepEqual(await succeeded(endpoint), [200, 204])
      assert.equal(endpoint.server.hooks.length, 2)
    })

    test('is sent again at once, although the attempt was the last of its round and fails', async (t) => {
      const endpoint = await open(t, kind)
      endpoint.server.reply = 500
      await world.cause(1)
      await eventually(async () => (await listed(endpoint))[0]?.attempts.length === 1, 'the first one has failed')
      const held = endpoint.holdNext()
      await world.query(`update ${endpoint.table.deliveries} set tries = 9, next_attempt_at = now() where tenant_id = $1`, [
        world.tenant.id,
      ])
      await world.query('update webhook_queues set due_at = now() where tenant_id = $1', [world.tenant.id])
      const answer = await held()
      await recover(endpoint)
      const next = endpoint.holdNext()
      answer(503)
      const answerNext = await next()
      const { rows } = await world.query(`select tries, attempts from ${endpoint.table.deliveries} where tenant_id = $1`, [
        world.tenant.id,
      ])
      assert.deepEqual(rows, [{ tries: 0, attempts: 2 }], 'the attempt is noted, and a new round begins')
      answerNext(200)
      assert.deepEqual(await succeeded(endpoint), [500, 503, 200])
    })

    for (const how of ['resend', 'recover'] as const)
      test(`does not wait for the end of a pause that the attempt leads to, also if a worker writes to its endpoint during the ${how}`, async (t) => {
        const endpoint = await open(t, kind)
        await world.query(`update ${endpoint.table.endpoints} set failures = 9 where tenant_id = $1`, [world.tenant.id])
        const held = endpoint.holdNext()
        const [event] = await world.cause(1)
        const answer = await held()
        if (how === 'recover')
          await world.query(`update ${endpoint.table.deliveries} set tries = 1 where tenant_id = $1`, [world.tenant.id])
        const { pool } = world.api.ctx.db
        const writer = await pool.connect()
        await writer.query('begin')
        await writer.query(`select from ${endpoint.table.endpoints} where tenant_id = $1 for no key update`, [world.tenant.id])
        const sent = how === 'resend' ? resend(endpoint, event!.id) : recover(endpoint)
        await Promise.race([sent, untilBlocked(pool)])
        await writer.query('commit')
        writer.release()
        await sent
        const paused = async () => {
          const { rowCount } = await world.query(
            `select from ${endpoint.table.endpoints} where tenant_id = $1 and resume_at > now() + interval '30 seconds'`,
            [world.tenant.id],
          )
          assert.equal(rowCount, 0, 'the endpoint pauses')
          return endpoint.server.hooks.length === 2
        }
        answer(500)
        await eventually(paused, 'it is sent again')
        assert.deepEqual(await succeeded(endpoint), [500, 204])
      })

    test('is sent again alone, although the outcomes of others are written with its own', async (t) => {
      const tenants = [world.tenant, ...(await Promise.all(Array.from({ length: 5 }, () => world.api.makeTenant())))]
      const all = await Promise.all(tenants.map(async (of) => ({ of, endpoint: await open(t, kind, of) })))
      const held = all.map(({ endpoint }) => endpoint.holdNext())
      const events = await Promise.all(tenants.map((of) => world.cause(1, of)))
      const answers = await Promise.all(held.map((arrived) => arrived()))
      await resend(all[0]!.endpoint, events[0]![0]!.id)
      for (const answer of answers) answer(200)
      await world.arrived(all[0]!.endpoint.server, 2)
      const statuses = await Promise.all(all.map(({ endpoint, of }) => succeeded(endpoint, of)))
      assert.deepEqual(statuses, [[200, 204], ...Array.from({ length: 5 }, () => [200])])
      assert.ok(all.slice(1).every(({ endpoint }) => endpoint.server.hooks.length === 1))
    })
  })
