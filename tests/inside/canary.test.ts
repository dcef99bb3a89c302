import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createTestDevice } from '../../packages/identity/src/testing/provider.ts'
import { serveTestProvider, type ServedProvider } from '../../packages/identity/src/testing/serve-provider.ts'
import { operations } from '../../packages/contract/src/table.ts'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { adminToken, startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { call, makeTenant, type Answer, type CallOptions } from '../support/call-api.ts'
import { formsFound } from '../support/find-secrets.ts'
import { postgresLog } from '../support/postgres-log.ts'
import { dumpTables, queryDatabase } from '../support/query-database.ts'
import { wrongPlaces, type Surroundings } from '../support/wrong-places.ts'

const registration = operations.registerAgent.example.body
const canary = (name: string) => `${name}-${randomBytes(12).toString('hex')}`

/** The secrets that must not appear anywhere. Bytes for those that are not text. */
const secrets = new Map<string, string | Buffer>()
/** Of every answer that is not a good one. */
const errorBodies: string[] = []

let database: TestDatabase
let provider: ServedProvider
let atrium: AtriumProcess
before(async () => {
  database = await createTestDatabase()
  provider = await serveTestProvider()
  const masterKey = randomBytes(32)
  const databaseUrl = new URL(database.url)
  databaseUrl.password = keep('database password', canary('password'))
  secrets.set('operator token', adminToken)
  secrets.set('master key', masterKey)
  atrium = await startAtrium({
    databaseUrl: databaseUrl.href,
    env: {
      ATRIUM_LOG: 'debug',
      ATRIUM_MASTER_KEY: keep('master key as text', masterKey.toString('base64')),
      OIDC_ISSUER: provider.provider.issuer,
      OIDC_CLIENT_ID: 'atrium',
      TURN_URLS: 'turn:turn.example',
      TURN_SECRET: keep('relay secret', canary('relay')),
    },
  })
})
after(async () => {
  provider.close()
  await atrium.end('SIGKILL')
  await database.drop()
})

function keep(name: string, secret: string): string {
  secrets.set(name, secret)
  return secret
}

/** Makes a call, and records the body of an error. */
async function ask(route: string, options: CallOptions = {}): Promise<Answer> {
  const answer = await call(atrium.origin, route, options)
  if (answer.status >= 400) errorBodies.push(answer.text)
  return answer
}

async function askGood(route: string, options: CallOptions): Promise<Answer> {
  const answer = await ask(route, options)
  assert.ok(answer.status < 300, `${route}: ${answer.text}`)
  return answer
}

interface Planted extends Surroundings {
  item: string
  identity: Record<string, string>
}

/** Collects every secret that the service returns, and sends every secret that it accepts. */
async function plant(): Promise<Planted> {
  const { data: invite } = await askGood('POST /v1/tenants/invites', { operator: true, body: {} })
  const name = { invite_code: keep('invite', invite.invite_code), name: 'Signed up', email: 'ada@harbour.example' }
  const { data: tenant } = await askGood('POST /v1/tenants/signup', {
    body: name,
    idempotencyKey: keep('idempotency key', canary('order')),
  })
  const secret = keep('secret key', tenant.secret_key)
  const key = keep('publishable key', tenant.publishable_key)
  const { data: more } = await askGood('POST /v1/tenant/keys', {
    key: secret,
    body: { kind: 'secret' },
    idempotencyKey: keep('another', canary('order')),
  })
  keep('second key', more.key)
  await askGood('GET /v1/turn', { key })

  const tools = (name: string) => [{ mcp: 'https://tools.example/mcp', secret: keep(name, canary('tool')) }]
  const { data: agent } = await askGood('POST /agents', {
    key: secret,
    body: { ...registration, tools: tools('tool secret') },
    idempotencyKey: keep('agent order', canary('order')),
  })
  await askGood(`PATCH /agents/${agent.id}`, { key: secret, body: { tools: tools('next tool secret') } })

  // Rotated once, so that there is an old secret too. Items cause deliveries, which nobody accepts.
  for (const name of ['webhook secret', 'next webhook secret']) {
    const body = { url: 'https://hooks.example/in', rotate_secret: true }
    const { data } = await askGood('PUT /v1/tenant/webhooks', { key: secret, body })
    keep(name, (data as unknown as { secret: string }).secret)
  }
  await askGood('POST /v1/tenant/webhooks/test', { key: secret, body: {} })

  const recipient = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
  const box = await askGood('POST /v1/collections', { key, body: { box: { recipient } } })
  const content = { text: keep('box plaintext', canary('plaintext')) }
  const sealed = { type: keep('box type', canary('type')), content, author: keep('box author', canary('author')) }
  await askGood(`POST /v1/collections/${box.data.id}/items`, {
    key,
    body: sealed,
    idempotencyKey: keep('box order', canary('order')),
  })

  const { data: collection } = await askGood('POST /v1/collections', {
    key,
    body: { contributor_policy: 'token' },
    idempotencyKey: canary('order'),
  })
  const token = keep('admin token', collection.admin_token)
  const contributor = keep('contributor token', collection.contributor_token)
  const items = `/v1/collections/${collection.id}/items`
  const { data: item } = await askGood(`POST ${items}`, { key, token: contributor, body: { type: 'message', content: 1 } })
  const email = keep('listed e-mail', `${canary('ann')}@example.com`)
  await askGood(`PATCH ${items}/${item.id}`, {
    key,
    token,
    body: { access: 'email', grant: [email, keep('other e-mail', `${canary('bob')}@example.com`)] },
  })
  const device = await createTestDevice()
  const idToken = keep(
    'ID token',
    await provider.provider.sign({ email, nonce: device.nonce, name: keep('name in ID token', canary('Ann')) }),
  )
  const identity = { 'x-id-token': idToken, 'x-spk': JSON.stringify(device.spk) }
  await askGood(`GET ${items}/${item.id}`, { key, headers: identity })
  return { key, secret, collection: collection.id, token, item: item.id, identity }
}

/** Sends the secret to where it does not belong. */
async function misplace(text: string, planted: Planted): Promise<void> {
  for (const { status, text: body } of await Promise.all(
    wrongPlaces(text, planted).map(([route, options]) => ask(route, options)),
  )) {
    assert.ok(status >= 400, `refused: ${status} ${body}`)
  }
}

/** Causes faults of every kind within requests that carry secrets, to check what is logged then. */
async function breakThings({ key, secret, collection, token, item, identity }: Planted): Promise<void> {
  const items = `/v1/collections/${collection}/items`
  const everything = () =>
    Promise.all([
      ask('POST /v1/tenants/signup', {
        body: { invite_code: secrets.get('invite'), name: 'x', email: 'a@example.com' },
        idempotencyKey: canary('order'),
      }),
      ask('POST /v1/tenants', { operator: true, body: { name: 'x' }, idempotencyKey: keep('failed order', canary('order')) }),
      ask('POST /v1/tenant/keys', {
        key: secret,
        body: { kind: 'secret' },
        idempotencyKey: keep('failed key order', canary('order')),
      }),
      ask('POST /v1/collections', {
        key,
        body: { contributor_policy: 'token' },
        idempotencyKey: keep('failed collection', canary('order')),
      }),
      ask('POST /agents', {
        key: secret,
        body: { ...registration, tools: [{ mcp: 'https://t.example/', secret: keep('failed tool secret', canary('tool')) }] },
      }),
      ask(`POST ${items}`, { key, token, body: { type: 'x', content: 1 }, idempotencyKey: keep('failed item', canary('order')) }),
      ask(`PATCH ${items}/${item}`, { key, token, body: { grant: [keep('failed e-mail', `${canary('eve')}@example.com`)] } }),
      ask(`GET ${items}/${item}`, { key, headers: identity }),
    ])
  for (const table of ['idempotency_keys', 'items', 'api_keys', 'invites', 'agents']) {
    await queryDatabase(database.url, `alter table ${table} rename to away`)
    assert.ok(
      (await everything()).some(({ code }) => code === 'internal_error'),
      table,
    )
    await queryDatabase(database.url, `alter table away rename to ${table}`)
  }
  for (const check of [
    'items add constraint no check (seq < 0) not valid',
    'api_keys add constraint no check (id is null) not valid',
    'agents add constraint no check (id is null) not valid',
  ]) {
    await queryDatabase(database.url, `alter table ${check}`)
    assert.ok(
      (await everything()).some(({ code }) => code === 'internal_error'),
      check,
    )
    await queryDatabase(database.url, `alter table ${check.split(' ')[0]} drop constraint no`)
  }
  const terminated = everything()
  await queryDatabase(
    database.url,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  )
  await terminated
  // For keys that this process has not seen yet, it must call the provider, which is down.
  provider.close()
  const unknown = await provider.provider.sign(
    { email: 'x@example.com', name: keep('name in lost token', canary('Lost')) },
    { kid: 'other' },
  )
  await ask(`GET ${items}/${item}`, { key, headers: { 'x-id-token': keep('lost ID token', unknown), 'x-spk': '{}' } })
}

test('no secret comes up in a table, a log line, an error or the metrics: not raw, not in hex, not in base64', async (t) => {
  const planted = await plant()
  for (const text of [...secrets.values()].filter((secret) => typeof secret === 'string')) await misplace(text, planted)
  await breakThings(planted)
  const { data } = await askGood('POST /v1/tenants', { operator: true, body: { name: 'It still works' } })
  const dump = await dumpTables(database.url)
  assert.ok(formsFound(dump, data.tenant.id).length > 0, 'the dump contains values that are not secret')
  const log = atrium.output()
  assert.ok(log.includes('request failed'), 'the faults were logged')
  const metrics = (await call(atrium.origin, 'GET /metrics')).text
  assert.ok(errorBodies.length > 300)
  const places = { tables: dump, log, 'PostgreSQL log': await postgresLog(database.url), errors: errorBodies.join('\n'), metrics }
  const found: string[] = []
  for (const [place, text] of Object.entries(places)) {
    for (const [name, secret] of secrets) for (const form of formsFound(text, secret)) found.push(`${name} in ${place}, ${form}`)
  }
  t.diagnostic(`${secrets.size} secrets, ${errorBodies.length} errors, ${log.length} bytes of log`)
  assert.deepEqual(found, [])
})

test('an error quotes no part of a secret', async () => {
  const random = randomBytes(15).toString('hex')
  const { secret } = await makeTenant(atrium.origin)
  const body = (text: string) => ask('POST /v1/tenant/keys', { key: secret, body: text })
  const answers = [
    await body(`{"kind":"secret","name":wsk_${random}}`),
    await body(`{"kind":"secret","name":"wsk_${random}}`),
    await body(random),
  ]
  for (const { text } of answers) {
    for (let at = 0; at + 6 <= random.length; at++) assert.ok(!text.includes(random.slice(at, at + 6)), text)
  }
})
