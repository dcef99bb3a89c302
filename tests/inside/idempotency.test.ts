import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { passesOnce } from '../../packages/server/testing/busy-machine.ts'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { askGood, call, makeCollection, makeTenant, type Answer, type CallOptions, type TestTenant } from '../support/call-api.ts'
import { deepWallet } from '../support/credits.ts'
import { formsFound } from '../support/find-secrets.ts'
import { startPostgresProxy, type PostgresProxy } from '../support/postgres-proxy.ts'
import { dumpTables, queryDatabase } from '../support/query-database.ts'
import { makeSamples, type Means, type Sample } from '../support/samples.ts'
import { makeAgent, newRoom } from '../support/sessions.ts'

let database: TestDatabase
let proxy: PostgresProxy
let first: AtriumProcess
let second: AtriumProcess
let tenant: TestTenant
let agentId: string
let wallet: string
before(async () => {
  database = await createTestDatabase()
  proxy = await startPostgresProxy(database.url)
  first = await startAtrium({ databaseUrl: database.url, space: true })
  // A proxy that can delay its statements.
  const env = { ATRIUM_PUBLIC_URL: first.origin, ATRIUM_SPACES_URL: first.spacesOrigin }
  second = await startAtrium({ databaseUrl: proxy.url, role: 'api', env })
  ;({ tenant, agentId, wallet } = await makeMeans())
})
after(async () => {
  await Promise.all([first.end('SIGKILL'), second.end('SIGKILL')])
  await proxy.close()
  await database.drop()
})

async function makeMeans(): Promise<Means> {
  const of = await makeTenant(first.origin)
  const agent = await makeAgent(first.origin, of, { endpoint: undefined, price_credits: 1 })
  return { tenant: of, agentId: agent, wallet: await deepWallet(first.origin, of) }
}

const count = async (sql: string, mark: string) => {
  const [row] = await queryDatabase<{ count: number }>(database.url, `select count(*)::integer from ${sql} = $1`, [mark])
  return row!.count
}

const costly = ['createCheckout', 'grantCoupon', 'launchSession']
const sample = async (name: string, mark: string, by: Means = { tenant, agentId, wallet }): Promise<Sample> =>
  name === 'summonSession' ? summonSample(mark, by) : (await makeSamples(first.origin, by, mark))[name]!

async function summonSample(mark: string, by: Means): Promise<Sample> {
  const summonKey = await arm(by.tenant, by.agentId, mark, by.wallet)
  const options = { body: { summon_key: summonKey } }
  return { route: 'POST /sessions/summon', options, found: 'sessions where armed_id is not null and room' }
}

async function arm(of: TestTenant, agent: string, room: string, coupon = wallet): Promise<string> {
  const body = { agent_id: agent, room: { ...newRoom(), room }, coupon, arm: true }
  const { data } = await askGood(first.origin, 'POST /v1/sessions', { key: of.secret, idempotencyKey: randomUUID(), body })
  return data.summon_key
}

test('50 concurrent copies over two processes have one effect and identical answers', async () => {
  for (const name of ['createCollection', 'addItem', 'createKey', 'createTenant', 'registerAgent', ...costly]) {
    const mark = randomUUID()
    const { route, options, found } = await sample(name, mark)
    const origins = Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? first.origin : second.origin))
    const answers = await Promise.all(origins.map((origin) => call(origin, route, { ...options, idempotencyKey: mark })))
    const statuses = answers.map(({ headers }) => headers['idempotency-status'])
    assert.equal(await count(found, mark), 1, `${name} had one effect`)
    assert.equal(answers[0]!.status, 201, answers[0]!.text)
    assert.deepEqual(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1, `${name}: one answer`)
    assert.equal(statuses.filter((status) => status === 'stored').length, 1, `${name}: ${statuses.join()}`)
    assert.equal(statuses.filter((status) => status === 'replayed').length, 49)
    assert.equal(
      new Set(answers.map(({ headers }) => headers['idempotency-expires'])).size,
      1,
      `${name}: all have the same expiry`,
    )
  }
})

test('a replay has Idempotency-Status, Idempotency-Expires and the headers of the first answer', async () => {
  for (const name of ['createCollection', 'addItem', 'createKey', ...costly]) {
    const mark = randomUUID()
    const { route, options } = await sample(name, mark)
    const startedAt = Date.now()
    const stored = await call(first.origin, route, { ...options, idempotencyKey: mark })
    const replayed = await call(second.origin, route, { ...options, idempotencyKey: mark })
    assert.equal(stored.headers['idempotency-status'], 'stored')
    assert.equal(replayed.headers['idempotency-status'], 'replayed')
    const hours = (Date.parse(String(stored.headers['idempotency-expires'])) - startedAt) / 3_600_000
    assert.ok(hours > 23.9 && hours < 24.1, `kept for ${hours} h`)
    for (const header of ['idempotency-expires', 'content-type', 'cache-control'])
      assert.equal(replayed.headers[header], stored.headers[header], header)
    assert.notEqual(replayed.headers['x-request-id'], stored.headers['x-request-id'], 'but it has its own request id')
    assert.equal(replayed.text, stored.text)
  }
})

test('the same key with another body is rejected and changes nothing', async () => {
  for (const name of ['createCollection', 'addItem', 'createKey', ...costly]) {
    const mark = randomUUID()
    const { route, options, found } = await sample(name, mark)
    const stored = await call(first.origin, route, { ...options, idempotencyKey: mark })
    const body = `${JSON.stringify(options.body)} `
    const reused = await Promise.all(
      [first, second].map(({ origin }) => call(origin, route, { ...options, body, idempotencyKey: mark })),
    )
    for (const answer of reused) assert.deepEqual([answer.status, answer.code], [409, 'idempotency_key_reused'], name)
    assert.equal(await count(found, mark), 1)
    assert.equal((await call(first.origin, route, { ...options, idempotencyKey: mark })).text, stored.text)
  }
})

test('of two concurrent bodies under one key, one succeeds and the other is rejected', async () => {
  const idempotencyKey = randomUUID()
  const bodies = Array.from({ length: 20 }, (_, i) => ({ metadata: { mark: idempotencyKey, i } }))
  const key = tenant.publishable
  const answers = await Promise.all(
    bodies.map((body, i) => call((i % 2 === 0 ? first : second).origin, 'POST /v1/collections', { key, idempotencyKey, body })),
  )
  assert.equal(answers.filter(({ status }) => status === 201).length, 1)
  assert.equal(answers.filter(({ code }) => code === 'idempotency_key_reused').length, 19)
  assert.equal(await count(`collections where metadata->>'mark'`, idempotencyKey), 1)
})

test('an error leaves the key free', async () => {
  const idempotencyKey = randomUUID()
  const send = (body: unknown) => call(first.origin, 'POST /v1/tenant/keys', { key: tenant.secret, idempotencyKey, body })
  assert.equal((await send('{')).status, 400)
  assert.equal((await send({ kind: 'other' })).status, 400)
  // Rejected in the transaction, after the claim was written.
  assert.equal((await send({ kind: 'secret', rotates: `key_${'0'.repeat(22)}` })).code, 'not_found')
  const made = await send({ kind: 'publishable', name: idempotencyKey })
  assert.deepEqual([made.status, made.headers['idempotency-status']], [201, 'stored'])
  assert.equal(await count('api_keys where name', idempotencyKey), 1)
})

test('a key belongs to its tenant, operation and path', async () => {
  const other = await makeTenant(first.origin)
  const idempotencyKey = randomUUID()
  const [a, b] = [await makeCollection(first.origin, tenant.publishable), await makeCollection(first.origin, tenant.publishable)]
  const item = { type: 'message', content: 1 }
  const answers = [
    await call(first.origin, 'POST /v1/collections', { key: tenant.publishable, idempotencyKey, body: {} }),
    await call(first.origin, 'POST /v1/collections', { key: other.publishable, idempotencyKey, body: {} }),
    await call(first.origin, `POST /v1/collections/${a.id}/items`, { key: tenant.publishable, idempotencyKey, body: item }),
    await call(first.origin, `POST /v1/collections/${b.id}/items`, { key: tenant.publishable, idempotencyKey, body: item }),
  ]
  for (const { status, headers } of answers) assert.deepEqual([status, headers['idempotency-status']], [201, 'stored'])
  assert.equal(new Set(answers.map(({ data }) => data.id)).size, 4)
  const replay = await call(second.origin, 'POST /v1/collections', { key: tenant.secret, idempotencyKey, body: {} })
  assert.equal(replay.text, answers[0]!.text, 'another key of the tenant counts as the same caller')
})

test('without a tenant key, an Idempotency-Key is scoped to the credential in the body', async () => {
  const other = await makeTenant(first.origin)
  const idempotencyKey = randomUUID()
  const others = await makeAgent(first.origin, other, { endpoint: undefined, price_credits: 1 })
  const summonKeys = [await arm(tenant, agentId, randomUUID()), await arm(other, others, randomUUID())]
  const summon = (summonKey: string) =>
    call(first.origin, 'POST /sessions/summon', { idempotencyKey, body: { summon_key: summonKey } })
  const invites = await Promise.all(
    [1, 2].map(
      async () => (await askGood(first.origin, 'POST /v1/tenants/invites', { operator: true, body: {} })).data.invite_code,
    ),
  )
  const signUp = (invite: string) =>
    call(first.origin, 'POST /v1/tenants/signup', {
      idempotencyKey,
      body: { invite_code: invite, name: 'Harbour', email: 'ada@harbour.example' },
    })
  for (const [send, credentials] of [
    [summon, summonKeys],
    [signUp, invites],
  ] as const) {
    const texts: string[] = []
    for (const credential of credentials) {
      const made = await send(credential)
      assert.deepEqual([made.status, made.headers['idempotency-status']], [201, 'stored'], made.text)
      assert.equal((await send(credential)).text, made.text)
      texts.push(made.text)
    }
    assert.equal(new Set(texts).size, 2)
  }
})

test('an answer about a collection is replayed after the collection is gone, to a caller with the same token', async () => {
  const owned = { kind: 'image' as const, url: 'https://pictures.example/a.png' }
  const asked: [path: string, body: object][] = [
    ['items', { type: 'message', content: 1 }],
    ['artifacts', owned],
    ['paint', { prompt: 'a lamp' }],
    ['artifacts/upload', { kind: 'image', mime: 'image/png', bytes: 100 }],
  ]
  for (const [path, body] of asked) {
    const { id, token } = await makeCollection(first.origin, tenant.publishable, { contributor_policy: 'token' })
    const other = await makeCollection(first.origin, tenant.publishable)
    const idempotencyKey = randomUUID()
    const send = (options: CallOptions) =>
      call(first.origin, `POST /v1/collections/${id}/${path}`, { key: tenant.publishable, idempotencyKey, body, ...options })
    const made = await send({ token })
    assert.equal(made.headers['idempotency-status'], 'stored', made.text)
    const stranger = await makeTenant(first.origin)
    const refused = async (status: number) => {
      for (const wrong of [{}, { token: other.token }, { token: `${token.slice(0, -1)}?` }])
        assert.equal((await send(wrong)).status, status, `${path} ${JSON.stringify(wrong)}`)
      assert.equal((await send({ token, key: stranger.publishable })).code, 'not_found')
    }
    await refused(403)
    const spaced = `${JSON.stringify(body)} `
    assert.equal((await send({ token: other.token, body: spaced })).status, 403, 'another body, without access')
    assert.equal((await send({ token: other.token, idempotencyKey: 'k'.repeat(256) })).status, 403, 'not a key, without access')
    await askGood(first.origin, `DELETE /v1/collections/${id}`, { key: tenant.publishable, token })
    const replay = await send({ token })
    assert.deepEqual([replay.status, replay.text, replay.headers['idempotency-status']], [made.status, made.text, 'replayed'])
    await refused(404)
    assert.equal((await send({ token, body: spaced })).code, 'not_found', 'another body')
    assert.equal((await send({ token, idempotencyKey: randomUUID() })).code, 'not_found', 'another key')
  }
})

test('a grant is replayed also after its requested expiry has passed', async () => {
  const idempotencyKey = randomUUID()
  let body = { amount: 1, wallet_code: wallet, expires_at: '' }
  const grant = (options: CallOptions = {}) =>
    call(first.origin, 'POST /v1/wallets/grant', { key: tenant.secret, idempotencyKey, body, ...options })
  // A busy machine may take longer than a second and a half to ask. What is refused is not stored under the key.
  const granted = await passesOnce(async (n) => {
    body = { ...body, expires_at: new Date(Date.now() + n * 1_500).toISOString() }
    const answer = await grant()
    assert.equal(answer.status, 201, answer.text)
    return answer
  })
  while (Date.now() <= Date.parse(body.expires_at)) await delay(50)
  const replay = await grant()
  assert.deepEqual([replay.status, replay.text, replay.headers['idempotency-status']], [201, granted.text, 'replayed'])
  assert.equal((await grant({ idempotencyKey: randomUUID() })).code, 'invalid_request')
  assert.equal((await grant({ body: { ...body, amount: 2 } })).code, 'idempotency_key_reused')
})

test('an item add is replayed also after the collection has closed', async () => {
  const { id, token } = await makeCollection(first.origin, tenant.publishable)
  const add = (origin: string, idempotencyKey: string) =>
    call(origin, `POST /v1/collections/${id}/items`, {
      key: tenant.publishable,
      idempotencyKey,
      body: { type: 'message', content: 1 },
    })
  const added = await add(first.origin, 'before')
  await call(first.origin, `POST /v1/collections/${id}/state`, { key: tenant.publishable, token, body: { state: 'closed' } })
  for (const { origin } of [first, second]) {
    const replay = await add(origin, 'before')
    assert.deepEqual([replay.status, replay.text, replay.headers['idempotency-status']], [201, added.text, 'replayed'])
  }
  const late = await add(first.origin, 'after')
  assert.deepEqual([late.status, late.code], [409, 'collection_not_open'])
})

test('a repeat waits for the first one and replays it, or gets Retry-After after five seconds', async () => {
  // What is stored and answered must be right each time. Only the waiting time may be wrong on a busy machine: if it pauses
  // for a second, the server gives up the first one, after six seconds, and the repeat runs it.
  let names = ['createCollection', ...costly, 'summonSession']
  for (let tries = 1; tries <= 4 && names.length > 0; tries++) {
    const held = await holdFirsts(names)
    for (const { repeats } of held.filter(isTimely))
      for (const repeat of repeats) {
        assert.equal(repeat.code, 'idempotency_in_progress')
        assert.ok(Number(repeat.headers['retry-after']) >= 1)
      }
    names = names.filter((_, i) => !isTimely(held[i]!))
  }
  assert.deepEqual(names, [], 'the repeats of these waited for another time')
})

interface Held {
  /** The answers to repeats while the first request was held. */
  repeats: Answer[]
  waitedMs: number
}

function isTimely({ repeats, waitedMs }: Held): boolean {
  return repeats.every(({ status }) => status === 409) && waitedMs > 4_500 && waitedMs < 7_000
}

/** Holds a request of each kind before its commit until two repeats of each are answered, and checks that all is run once. */
async function holdFirsts(names: string[]): Promise<Held[]> {
  // Each in a tenant of its own, so that none waits for a row that another one has locked.
  const requests = await Promise.all(names.map(prepare))
  const running: Promise<Answer>[] = []
  const repeats: Promise<Held>[] = []
  for (const { send } of requests) {
    // The process also commits work of its own.
    const point = { nth: 1, when: 'before', of: 'commit', inTransactionWith: 'into idempotency_keys' } as const
    const stands = proxy.hold(point)
    running.push(send(second))
    await stands
    repeats.push(repeat(send))
  }
  const held = await Promise.all(repeats)
  const patient = requests.map(({ send }) => [send(first), send(second)])
  proxy.release()
  for (const [i, { idempotencyKey, found }] of requests.entries()) {
    // The server may have aborted the first request; then the repeat runs it.
    const late = await running[i]!
    assert.ok(late.status === 201 || late.code === 'unavailable', late.text)
    const answers = [...(await Promise.all(patient[i]!)), ...(late.status === 201 ? [late] : [])]
    for (const answer of answers) assert.deepEqual([answer.status, answer.text], [201, answers[0]!.text])
    assert.equal(await count(found, idempotencyKey), 1)
  }
  return held
}

async function prepare(name: string) {
  const idempotencyKey = randomUUID()
  const { route, options, found } = await sample(name, idempotencyKey, await makeMeans())
  await call(second.origin, route, { ...options, body: 'not json' })
  return { idempotencyKey, found, send: ({ origin }: AtriumProcess) => call(origin, route, { ...options, idempotencyKey }) }
}

async function repeat(send: (to: AtriumProcess) => Promise<Answer>): Promise<Held> {
  const startedAt = performance.now()
  const repeats = await Promise.all([send(first), send(second)])
  return { repeats, waitedMs: performance.now() - startedAt }
}

test('a key has 1 to 255 printable ASCII characters', async () => {
  const send = (idempotencyKey: string) =>
    call(first.origin, 'POST /v1/collections', { key: tenant.publishable, idempotencyKey, body: {} })
  for (const good of ['a', '~'.repeat(255), 'with space and "quotes"']) assert.equal((await send(good)).status, 201)
  for (const bad of ['', 'a'.repeat(256), 'tab\tinside', 'caf\u00e9']) {
    const answer = await send(bad)
    assert.deepEqual([answer.status, answer.code], [400, 'invalid_request'], JSON.stringify(bad))
  }
})

test('stored answers are sealed: no table contains a secret or a key in any form', async () => {
  const idempotencyKey = `canary-${randomUUID()}`
  const collection = await call(first.origin, 'POST /v1/collections', {
    key: tenant.publishable,
    idempotencyKey,
    body: { contributor_policy: 'token' },
  })
  const key = await call(first.origin, 'POST /v1/tenant/keys', { key: tenant.secret, idempotencyKey, body: { kind: 'secret' } })
  const made = await call(first.origin, 'POST /v1/tenants', { operator: true, idempotencyKey, body: { name: 'Sealed' } })
  const { data: granted } = await call(first.origin, 'POST /v1/wallets/grant', {
    key: tenant.secret,
    idempotencyKey,
    body: { amount: 5, wallet_code: wallet },
  })
  const launch = (idempotencyKey: string, more: object) =>
    call(first.origin, 'POST /v1/sessions', {
      key: tenant.secret,
      idempotencyKey,
      body: { agent_id: agentId, room: newRoom(), coupon: granted.coupon, ...more },
    })
  const launched = await launch(idempotencyKey, {})
  const armed = await launch(`${idempotencyKey} too`, { arm: true })
  const dump = await dumpTables(database.url)
  assert.ok(formsFound(dump, made.data.tenant.id).includes('raw'), 'the dump contains values that are not secret')
  const { admin_token: adminToken, contributor_token: contributorToken } = collection.data
  const secrets = {
    adminToken,
    contributorToken,
    key: key.data.key,
    made: made.data.secret_key,
    publishable: made.data.publishable_key,
    coupon: granted.coupon,
    controlToken: launched.data.control_token,
    summonKey: armed.data.summon_key,
    wallet,
    idempotencyKey,
  }
  for (const [name, secret] of Object.entries(secrets)) assert.deepEqual(formsFound(dump, secret), [], name)
})
