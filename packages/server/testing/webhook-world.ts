import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import type { Database } from '#db/database.ts'
import { WebhookRunner } from '#features/webhooks/delivering/webhook-runner.ts'
import { startHookServer, type Hook, type HookServer } from './hook-server.ts'
import { send, type Got } from './http.ts'
import { eventually } from './session-world.ts'
import { startTestApi, type TestApi, type TestTenant } from './test-api.ts'

/** A delivery as listDeliveries shows it. */
interface ListedDelivery {
  id: string
  status: string
  attempts: number
  response_status: number | null
  error: string | null
  created_at: string
  last_attempt_at: string
  next_attempt_at: string
}

/** The API, a worker that delivers, and a new tenant for each test. */
export class WebhookWorld {
  readonly api: TestApi
  runner!: WebhookRunner
  tenant!: TestTenant
  readonly #collections = new Map<string, string>()

  constructor(api: TestApi) {
    this.api = api
  }

  /** `beforeQuery` may delay what the worker does outside transactions. It gets the name of the statement. */
  async startRunner(beforeQuery?: (name: string) => Promise<void>): Promise<void> {
    const { ctx, databaseUrl } = this.api
    const query: Database['query'] = async (statement, values) => {
      await beforeQuery?.(statement.name)
      return ctx.db.query(statement, values)
    }
    this.runner = new WebhookRunner({ ...ctx, db: { ...ctx.db, query } }, databaseUrl)
    await this.runner.start()
  }

  async openTenant(): Promise<void> {
    this.tenant = await this.api.makeTenant()
  }

  /** As the tenant, with its secret key. */
  call(method: string, path: string, body?: object, of = this.tenant): Promise<Got> {
    return send(this.api, method, path, { key: of.secretKey, ...(body ? { body } : {}) })
  }

  query<Row extends object = Record<string, unknown>>(sql: string, values: unknown[] = []) {
    return this.api.ctx.db.pool.query<Row>(sql, values)
  }

  async openHook(t: TestContext, reply: HookServer['reply'] = 204): Promise<HookServer> {
    const server = await startHookServer(reply)
    t.after(() => server.close())
    return server
  }

  put(body: object, of = this.tenant): Promise<Got> {
    return this.call('PUT', '/tenant/webhooks', body, of)
  }

  /** Gives the secret, where it is new. */
  async setHook(server: HookServer, more: object = {}): Promise<string> {
    await this.collectionOf(this.tenant)
    const got = await this.put({ url: server.url, ...more })
    assert.equal(got.status, 200, got.text)
    return got.body.data.secret
  }

  /** A collection whose own event was numbered before the webhook is set, so it is not sent there. */
  async collectionOf(of: TestTenant): Promise<string> {
    const known = this.#collections.get(of.id)
    if (known !== undefined) return known
    const { id } = (await this.call('POST', '/collections', {}, of)).body.data
    this.#collections.set(of.id, id)
    await this.pull(of)
    return id
  }

  /** Adds that many items, one after the other. Returns their events as listEvents returns them. */
  async cause(count: number, of = this.tenant): Promise<Hook['event'][]> {
    const id = await this.collectionOf(of)
    const last = (await this.pull(of)).at(-1)?.sequence ?? 0
    for (let n = 0; n < count; n++) await this.call('POST', `/collections/${id}/items`, { type: 'a', content: n }, of)
    return (await this.pull(of)).filter(({ sequence }) => sequence > last)
  }

  /** Writes that many events into the outbox at once. */
  async causeMany(count: number): Promise<void> {
    await this.query(
      `insert into event_outbox (tenant_id, id, type, data)
       select $1, 'evt_' || lpad(n::text, 22, 'o'), 'item.deleted', '{}' from generate_series(1, $2) n`,
      [this.tenant.id, count],
    )
  }

  async pull(of = this.tenant): Promise<Hook['event'][]> {
    return (await this.call('GET', '/events?limit=200', undefined, of)).body.data
  }

  async deliveries(of = this.tenant): Promise<ListedDelivery[]> {
    return (await this.call('GET', '/tenant/webhooks/deliveries?limit=200', undefined, of)).body.data
  }

  arrived(server: HookServer, count: number): Promise<Hook[]> {
    return eventually(async () => server.hooks.length >= count && server.hooks, `${count} deliveries arrive`)
  }

  /** Waits until no worker sends to the tenant's endpoint, when the outcome has been stored. */
  async letGo(): Promise<void> {
    await eventually(async () => {
      const { rowCount } = await this.query('select from webhooks where tenant_id = $1 and lease_owner is null', [this.tenant.id])
      return rowCount === 1
    }, 'the endpoint is let go')
  }

  /** Lets what waits for its next try be due now. */
  async hurry(): Promise<void> {
    await this.query('update webhooks set resume_at = null where tenant_id = $1', [this.tenant.id])
    await this.query(`update webhook_deliveries set next_attempt_at = now() where tenant_id = $1 and status = 'pending'`, [
      this.tenant.id,
    ])
    // On Citus, a worker looks where this says so.
    await this.query('update webhook_queues set due_at = now() where tenant_id = $1', [this.tenant.id])
  }

  async close(): Promise<void> {
    await this.runner.stop()
    await this.api.close()
  }
}

export async function startWebhookWorld(): Promise<WebhookWorld> {
  const world = new WebhookWorld(await startTestApi({ egress: 'loopback' }))
  await world.startRunner()
  return world
}

/** Whether the official packages verify it with the secret. They must agree. */
export function verifies(secret: string, { headers, text }: Hook): boolean {
  const [standard, svix] = [new StandardWebhook(secret), new SvixWebhook(secret)].map((verifier) => {
    let verified: unknown
    try {
      verified = verifier.verify(text, headers)
    } catch {
      return false
    }
    assert.deepEqual(verified, JSON.parse(text))
    return true
  })
  assert.equal(standard, svix)
  return standard!
}
