import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { startHookServer } from '../packages/server/testing/hook-server.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { askGood, call, makeCollection } from './support/call-api.ts'
import { startCollector, type ReceivedSpan } from './support/collector.ts'
import { deepWallet } from './support/credits.ts'
import { formsFound } from './support/find-secrets.ts'
import { eventually } from './support/remote-agents.ts'
import { newRoom } from './support/sessions.ts'

const canary = (name: string) => `${name}${randomBytes(9).toString('hex')}`
const callersTrace = '0af7651916cd43dd8448eb211c80319c'
const header = canary('collector-key')

let database: TestDatabase
let collector: Awaited<ReturnType<typeof startCollector>>

before(async () => {
  database = await createTestDatabase()
  collector = await startCollector()
})
after(async () => {
  await collector?.close()
  await database?.drop()
})

const sending = (endpoint: string, more: Record<string, string> = {}) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${header}`,
  OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  OTEL_SERVICE_NAME: 'books',
  OTEL_BSP_SCHEDULE_DELAY: '50',
  OTEL_METRIC_EXPORT_INTERVAL: '500',
  ...more,
})

const spanNamed = (name: string, is: (span: ReceivedSpan) => boolean = () => true) =>
  eventually(async () => collector.spans.find((span) => span.name === name && is(span)), `a span ${name}`)

describe('an evening with a collector', { timeout: 120_000 }, () => {
  let atrium: AtriumProcess
  let hooks: Awaited<ReturnType<typeof startHookServer>>
  /** What must not be exported, by its name. */
  const secrets = new Map<string, string>([['caller', '127.0.0.1']])
  const keep = (name: string, value: string) => {
    secrets.set(name, value)
    return value
  }

  before(async () => {
    hooks = await startHookServer()
    const env = { ...sending(collector.endpoint), ATRIUM_EGRESS: 'loopback', ATRIUM_ACCESS_LOG: 'on', ATRIUM_LOG: 'info' }
    atrium = await startAtrium({ databaseUrl: database.url, space: true, env })
    await plant()
  })
  after(async () => {
    await atrium?.end('SIGKILL')
    await hooks?.close()
  })

  /** Uses what there is, with texts, ids, keys and addresses that can be recognised. */
  async function plant(): Promise<void> {
    const { origin } = atrium
    const invited = { name: keep('tenant name', canary('tenant')), email: keep('e-mail', `${canary('ada')}@books.example`) }
    const { data } = await askGood(origin, 'POST /v1/tenants', { operator: true, body: invited })
    const [key, publishable] = [keep('secret key', data.secret_key), keep('publishable key', data.publishable_key)]
    const tenant = { id: keep('tenant', data.tenant.id), secret: key, publishable }
    await askGood(origin, 'PUT /v1/tenant/webhooks', { key, body: { url: `${hooks.url}/${keep('hook', canary('hook'))}` } })
    const { id, token } = await makeCollection(origin, key, { metadata: { share_title: keep('title', canary('title')) } })
    keep('collection', id)
    keep('owner token', token)
    const body = { type: 'message', content: { text: keep('content', canary('content')) }, author: keep('author', canary('Ada')) }
    const headers = { traceparent: `00-${callersTrace}-b7ad6b7169203331-01`, tracestate: `x=${keep('state', canary('s'))}` }
    const order = { key, idempotencyKey: keep('idempotency key', canary('order')) }
    const { data: item } = await askGood(origin, `POST /v1/collections/${id}/items`, { ...order, headers, body })
    keep('item', item.id)
    await askGood(origin, `GET /v1/collections/${id}/items?limit=7&cursor=`, { key, token }).catch(() => undefined)
    await call(origin, `GET /v1/collections/${id}?q=${keep('query', canary('query'))}`, { key })
    await call(origin, `GET /v1/${keep('unknown path', canary('path'))}`, { key })
    await call(origin, `GET /v1/collections/col_${'0'.repeat(26)}`, { key: `wsk_${keep('wrong key', canary('wrong'))}` })
    const prompt = { prompt: keep('prompt', canary('a quay ')) }
    await askGood(origin, `POST /v1/collections/${id}/paint`, { key, token, idempotencyKey: randomUUID(), body: prompt })
    await talk(tenant)
  }

  async function talk(tenant: { id: string; secret: string; publishable: string }): Promise<void> {
    const { origin } = atrium
    const key = tenant.secret
    const instructions = keep('instructions', canary('instructions'))
    const manifest = {
      name: 'Lamplighter',
      description: 'd',
      instructions,
      price_credits: 0,
      max_minutes: 30,
      greeting: 'Hello.',
    }
    const { data: agent } = await askGood(origin, 'POST /agents', { key, body: manifest })
    await askGood(origin, `PUT /agents/${keep('agent', agent.id)}/status`, { key, body: { status: 'private' } })
    const room = newRoom()
    keep('room key', room.mk)
    keep('room', room.room)
    const coupon = keep('wallet', await deepWallet(origin, tenant))
    const launch = { agent_id: agent.id, room, coupon }
    const { data } = await askGood(origin, 'POST /v1/sessions', { key, idempotencyKey: randomUUID(), body: launch })
    keep('session', data.id)
    keep('control token', data.control_token)
    const said = keep('said', canary('said'))
    const space = (op: string, fields: object) => call(origin, 'POST /v1/space', { body: { op, ...room, ...fields } })
    const timesSaid = async (text: string) => (await space('poll', { sinceCount: 0 })).text.split(text).length - 1
    await eventually(async () => (await timesSaid('Hello.')) > 0, 'the greeting')
    assert.equal((await space('turn', { message: { text: said } })).status, 200)
    await eventually(async () => (await timesSaid(said)) > 1, 'the answer')
    await askGood(origin, `POST /sessions/${data.id}/stop`, { key: data.control_token })
  }

  test('a request is one trace: its route, and the statements of the database below it', async () => {
    const request = await spanNamed('POST /v1/collections/{id}/items')
    assert.equal(request.parentSpanId, undefined)
    assert.equal(request.kind, 2)
    assert.equal(request.role, 'api')
    assert.equal(request.service, 'books')
    assert.deepEqual(request.attributes, {
      'http.request.method': 'POST',
      'url.scheme': 'http',
      'http.route': '/v1/collections/{id}/items',
      'atrium.operation': 'addItem',
      'http.response.status_code': 201,
    })
    const statements = collector.spans.filter(({ traceId, spanId }) => traceId === request.traceId && spanId !== request.spanId)
    assert.ok(statements.length > 0)
    const ids = new Set([request.spanId, ...statements.map(({ spanId }) => spanId)])
    for (const { name, kind, attributes, parentSpanId } of statements) {
      assert.ok(ids.has(parentSpanId!), `${name} hangs below the request`)
      assert.equal(kind, 3)
      assert.equal(attributes['db.system.name'], 'postgresql')
    }
    assert.ok(collector.spans.some(({ name, attributes }) => name === 'transaction' && attributes['db.system.name']))
  })

  test("a caller's traceparent becomes a link, and decides neither the trace nor the sampling", async () => {
    const request = await spanNamed('POST /v1/collections/{id}/items')
    assert.notEqual(request.traceId, callersTrace)
    assert.deepEqual(request.links, [callersTrace])
    assert.ok(collector.spans.every(({ traceId }) => traceId !== callersTrace))
  })

  test('jobs, deliveries and model calls are spans of the worker', async () => {
    const delivery = await spanNamed('webhook_delivery')
    assert.deepEqual(delivery.attributes, {
      'http.request.method': 'POST',
      'http.response.status_code': 204,
      'atrium.outcome': 'delivered',
    })
    const painted = await spanNamed('artifact_job')
    assert.equal(painted.kind, 5)
    assert.equal(painted.attributes['atrium.outcome'], 'done')
    const session = await spanNamed('session')
    const model = await spanNamed('model_call')
    assert.equal(model.traceId, session.traceId)
    assert.equal(model.attributes['gen_ai.operation.name'], 'chat')
    assert.equal(model.attributes['gen_ai.provider.name'], 'echo')
    assert.ok(Number(model.attributes['gen_ai.usage.output_tokens']) >= 0)
    for (const span of [delivery, painted, session, model]) assert.equal(span.role, 'worker')
  })

  test('a webhook carries no trace, and a request of the access log names its own', async () => {
    assert.ok(hooks.hooks.length > 0)
    for (const { headers } of hooks.hooks) assert.ok(!('traceparent' in headers) && !('tracestate' in headers))
    const request = await spanNamed('POST /v1/collections/{id}/items')
    assert.ok(atrium.output().includes(`"trace_id":"${request.traceId}"`))
  })

  test('the metrics of all roles arrive with the names that Prometheus reads', async () => {
    await eventually(async () => collector.metrics.has('atrium_space_requests_total'), 'the metrics of Space')
    for (const name of ['atrium_http_requests_total', 'atrium_http_request_duration_seconds', 'atrium_queue_depth'])
      assert.ok(collector.metrics.has(name), name)
  })

  test('nothing that a caller wrote, and no id, key or address, is exported', async () => {
    assert.ok(collector.spans.length > 50 && secrets.size > 20)
    assert.ok(collector.requests.every(({ headers }) => headers['x-collector-key'] === header))
    const exported = collector.requests.map(({ text }) => text).join('\n')
    for (const [name, value] of secrets) assert.deepEqual(formsFound(exported.replaceAll('x-collector-key', ''), value), [], name)
    for (const id of exported.matchAll(/\b(?:col|itm|ten|key|ses|agt|art|evt|req)_[0-9A-Za-z]{10,}/g))
      assert.fail(`an id: ${id[0]}`)
  })
})

test('the default encoding is protobuf, and the last spans are sent when the process ends', { timeout: 60_000 }, async () => {
  const own = await startCollector()
  const onlyAtTheEnd = { OTEL_BSP_SCHEDULE_DELAY: '600000' }
  const env = { ...sending(own.endpoint, onlyAtTheEnd), OTEL_EXPORTER_OTLP_PROTOCOL: '', OTEL_TRACES_SAMPLER: 'always_on' }
  const atrium = await startAtrium({ databaseUrl: database.url, role: 'api', env })
  try {
    await call(atrium.origin, 'GET /v1/collections')
    const sent = (path: string, text: string) => own.requests.some((one) => one.path === path && one.text.includes(text))
    await eventually(async () => sent('/v1/metrics', 'books'), 'the metrics')
    assert.ok(!sent('/v1/traces', ''), 'the span waits')
    assert.equal(await atrium.end('SIGTERM'), 0)
    assert.ok(sent('/v1/traces', 'GET /v1/collections') && sent('/v1/traces', 'books'))
    assert.ok(own.requests.every(({ headers }) => headers['content-type'] === 'application/x-protobuf'))
  } finally {
    await atrium.end()
    await own.close()
  }
})

test('a wrong value stops the start with one line', async () => {
  const env = sending(collector.endpoint, { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })
  await assert.rejects(startAtrium({ databaseUrl: database.url, role: 'api', env }), (error: Error) => {
    assert.match(error.message, /OTEL_EXPORTER_OTLP_PROTOCOL must be one of http\/protobuf, http\/json, not "grpc"/)
    return true
  })
})
