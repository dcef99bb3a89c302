import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createTestDevice } from '../../packages/identity/src/testing/provider.ts'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { agentControlToken, agentEndpoint } from '../support/agent-endpoint.ts'
import type { AtriumProcess } from '../support/atrium-process.ts'
import { call, makeCollection, makeTenant, type Answer, type AnswerData, type CallOptions } from '../support/call-api.ts'
import { payCheckout } from '../support/credits.ts'
import { formsFound } from '../support/find-secrets.ts'
import { fundIssuer } from '../support/fund-issuer.ts'
import { startForShelves } from '../support/matrix-world.ts'
import { postgresLog } from '../support/postgres-log.ts'
import { dumpTables, queryDatabase } from '../support/query-database.ts'
import { wrongPlaces, type Surroundings } from '../support/wrong-places.ts'

const canary = (name: string) => `${name}-${randomBytes(12).toString('hex')}`
const back = 'https://shop.example/'

/** What must come up nowhere. */
const secrets = new Map<string, string>()
/** Of every answer that is not a good one. */
const errorBodies: string[] = []

let database: TestDatabase
let atrium: AtriumProcess
before(async () => {
  database = await createTestDatabase()
  atrium = await startForShelves(database.url, { ATRIUM_LOG: 'debug' })
})
after(async () => {
  await atrium.end('SIGKILL')
  await database.drop()
})

function keep(name: string, secret: string): string {
  assert.ok(secret.length > 15, name)
  secrets.set(name, secret)
  return secret
}

/** Makes a call, and records the body of an error. */
async function ask(route: string, options: CallOptions = {}): Promise<Answer> {
  const answer = await call(atrium.origin, route, options)
  if (answer.status >= 400) errorBodies.push(answer.text)
  return answer
}

async function askGood(route: string, options: CallOptions): Promise<AnswerData> {
  const { status, text, data } = await ask(route, options)
  assert.ok(status < 300, `${route}: ${text}`)
  return data
}

interface Planted extends Surroundings {
  /** A paid checkout whose license key was not shown yet. */
  checkout: string
  agent: string
  session: string
}

const order = (name: string) => keep(name, canary('order'))
const newRoom = (name: string) => ({ room: `room-${randomBytes(8).toString('hex')}`, mk: keep(name, canary('room-key')) })
const space = (op: string, fields: object) => ask('POST /v1/space', { body: { op, ...fields } })

async function makeCheckout(secret: string): Promise<string> {
  const body = { purpose: 'license_key', credits: 20, success_url: back, cancel_url: back }
  const { id, url } = await askGood('POST /v1/checkout', { key: secret, body })
  await payCheckout(url)
  return id
}

/** Wallets, coupons and licenses. Returns a coupon. */
async function plantCredits(key: string, secret: string): Promise<string> {
  await fundIssuer(atrium.origin, secret, 100)
  const shown = await askGood(`GET /v1/checkout/${await makeCheckout(secret)}`, { key: secret })
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const body = { license_key: keep('license key', shown.license_key), recovery_key: publicKey.export({ format: 'jwk' }) }
  const redeemed = await askGood('POST /v1/wallets/redeem', { key, body })
  assert.equal((await ask('POST /v1/wallets/redeem', { key, body })).code, 'already_spent')
  await askGood('POST /v1/wallets/lookup', { key, body: { wallet_code: keep('wallet code', redeemed.wallet_code) } })
  const options = { key: secret, idempotencyKey: order('grant order'), body: { amount: 50 } }
  return keep('coupon', (await askGood('POST /v1/wallets/grant', options)).coupon)
}

async function makeAgent(secret: string, more: object): Promise<{ id: string; signing_secret?: string }> {
  const body = { name: 'Lamplighter', description: 'd', instructions: '', price_credits: 1, max_minutes: 30, ...more }
  const made = await askGood('POST /agents', { key: secret, body })
  await askGood(`PUT /agents/${made.id}/status`, { key: secret, body: { status: 'private' } })
  return made
}

/** Collects every secret of sessions and credits that the service returns, and sends every secret that it accepts. */
async function plant(): Promise<Planted> {
  const { secret, publishable: key } = await makeTenant(atrium.origin)
  const { id: collection, token } = await makeCollection(atrium.origin, key)
  await askGood('PUT /v1/tenant/provider-keys', { key: secret, body: { openai: keep('provider key', canary('sk')) } })
  await askGood('PUT /v1/tenant/provider-keys', { key: secret, body: { openai: keep('next provider key', canary('sk')) } })
  const coupon = await plantCredits(key, secret)

  const remote = await makeAgent(secret, { endpoint: await agentEndpoint() })
  keep('signing secret', remote.signing_secret!)
  const launch = (order: string, body: object) =>
    askGood('POST /v1/sessions', { key, idempotencyKey: order, body: { agent_id: remote.id, coupon, ...body } })
  const launched = await launch(order('launch order'), { room: newRoom('room key') })
  const control = keep('control token', launched.control_token)
  const agentControl = keep('control token of the agent', await agentControlToken(launched.id))
  await askGood(`POST /sessions/${launched.id}/joined`, { key: agentControl })
  const { spk } = await createTestDevice()
  const { id_token: idToken } = (await askGood(`POST /sessions/${launched.id}/id-token`, {
    key: agentControl,
    body: { spk },
  })) as unknown as { id_token: string }
  keep('ID token of the agent', idToken)
  await askGood(`GET /sessions/${launched.id}`, { key: control })

  const armed = await launch(order('arm order'), { room: newRoom('room key of an armed room'), arm: true })
  const summon = { summon_key: keep('summon key', armed.summon_key) }
  const summoned = await askGood('POST /sessions/summon', { idempotencyKey: order('summon order'), body: summon })
  keep('control token of a summoned session', summoned.control_token)
  await askGood(`POST /sessions/${summoned.id}/stop`, { key: summoned.control_token })
  await plantTalk(secret, launch)
  return { key, secret, collection, token, checkout: await makeCheckout(secret), agent: remote.id, session: launched.id }
}

/** The messages of people and of an agent in a room. */
async function plantTalk(secret: string, launch: (order: string, body: object) => Promise<AnswerData>): Promise<void> {
  const { id } = await makeAgent(secret, { greeting: 'Good evening.' })
  const room = newRoom('room key of a talk')
  const { id: session, control_token: control } = await launch(order('talk order'), { agent_id: id, room })
  keep('control token of a talk', control)
  const timesSaid = async (text: string) => (await space('poll', { ...room, sinceCount: 0 })).text.split(text).length - 1
  await assertComes(async () => (await timesSaid('Good evening.')) === 1, 'it greets')
  const said = keep('said in the room', canary('said'))
  assert.equal((await space('turn', { ...room, message: { text: said } })).status, 200)
  await assertComes(async () => (await timesSaid(said)) === 2, 'it repeats what was said')
  await askGood(`POST /sessions/${session}/stop`, { key: control })
}

async function assertComes(holds: () => Promise<boolean>, what: string): Promise<void> {
  for (const deadline = Date.now() + 15_000; !(await holds()); await delay(50)) assert.ok(Date.now() < deadline, what)
}

/** Causes faults of every kind within requests that carry secrets, to check what is logged then. */
async function breakThings({ key, secret, agent, session }: Planted): Promise<void> {
  const of = (name: string) => secrets.get(name)!
  const launch = () => ({ agent_id: agent, room: newRoom('room key of a failed launch'), coupon: of('coupon') })
  const everything = () =>
    Promise.all([
      ask('POST /v1/wallets/lookup', { key, body: { wallet_code: of('wallet code') } }),
      ask('POST /v1/wallets/redeem', { key, body: { license_key: of('license key') } }),
      ask('POST /v1/wallets/grant', {
        key: secret,
        idempotencyKey: order('failed grant'),
        body: { amount: 1, wallet_code: of('wallet code') },
      }),
      ask('POST /v1/sessions', { key, idempotencyKey: order('failed launch'), body: launch() }),
      ask('POST /v1/sessions', { key, idempotencyKey: order('failed arming'), body: { ...launch(), arm: true } }),
      ask('POST /sessions/summon', { idempotencyKey: order('failed summon'), body: { summon_key: of('summon key') } }),
      ask(`GET /sessions/${session}`, { key: of('control token') }),
      ask(`POST /sessions/${session}/joined`, { key: of('control token of the agent') }),
      ask('PUT /v1/tenant/provider-keys', { key: secret, body: { openai: keep('failed provider key', canary('sk')) } }),
      ask('POST /v1/checkout', {
        key: secret,
        body: { purpose: 'license_key', credits: 1, success_url: back, cancel_url: back },
      }),
    ])
  const assertBreaks = async (what: string) =>
    assert.ok(
      (await everything()).some(({ code }) => code === 'internal_error'),
      what,
    )
  const tables = ['ledger_accounts', 'ledger_transfers', 'ledger_due', 'sessions', 'checkouts', 'provider_keys', 'agents']
  for (const table of tables) {
    await queryDatabase(database.url, `alter table ${table} rename to away`)
    await assertBreaks(table)
    await queryDatabase(database.url, `alter table away rename to ${table}`)
  }
  for (const table of ['ledger_accounts', 'sessions', 'checkouts', 'provider_keys']) {
    await queryDatabase(database.url, `alter table ${table} add constraint no check (tenant_id is null) not valid`)
    await assertBreaks(`a row of ${table} that is refused`)
    await queryDatabase(database.url, `alter table ${table} drop constraint no`)
  }
}

test('no secret of a wallet, a session or a provider comes up in a table, a log line or an error, while it is good or after', async (t) => {
  const planted = await plant()
  for (const text of secrets.values()) {
    const answers = await Promise.all(wrongPlaces(text, planted).map(([route, options]) => ask(route, options)))
    for (const { status, text: body } of answers) assert.ok(status >= 400, `refused: ${status} ${body}`)
  }
  await breakThings(planted)
  const dump = await dumpTables(database.url)
  assert.ok(formsFound(dump, planted.session).length > 0, 'the dump contains values that are not secret')
  // Paid, but not shown yet. Until then the license key is stored in the database, sealed.
  const { license_key: waiting } = await askGood(`GET /v1/checkout/${planted.checkout}`, { key: planted.secret })
  keep('license key that was not shown yet', waiting)
  await askGood(`POST /sessions/${planted.session}/stop`, { key: secrets.get('control token')! })
  const log = atrium.output()
  assert.ok(log.includes('request failed'), 'the faults were logged')
  const places = {
    tables: dump,
    'tables afterwards': await dumpTables(database.url),
    log,
    'PostgreSQL log': await postgresLog(database.url),
    errors: errorBodies.join('\n'),
    metrics: (await call(atrium.origin, 'GET /metrics')).text,
  }
  const found: string[] = []
  for (const [place, text] of Object.entries(places)) {
    for (const [name, secret] of secrets) for (const form of formsFound(text, secret)) found.push(`${name} in ${place}, ${form}`)
  }
  t.diagnostic(`${secrets.size} secrets, ${errorBodies.length} errors, ${log.length} bytes of log`)
  assert.deepEqual(found, [])
})
