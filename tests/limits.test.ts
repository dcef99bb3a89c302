import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { makeCredential } from '../packages/contract/src/tokens.ts'
import { createTestDatabase } from '../packages/server/testing/test-database.ts'
import { startSeveral, type AtriumProcess } from './support/atrium-process.ts'
import { call, makeTenant, type Answer } from './support/call-api.ts'
import { startPostgresProxy } from './support/postgres-proxy.ts'
import { skipWithoutRedis, startRedis } from './support/redis-process.ts'

interface Volley {
  allowed: number
  refused: Answer[]
  first: Answer
  seconds: number
}

type Ask = (origin: string, i: number) => Promise<Answer>

/** Few enough that none waits long for the others, because a server that gets Redis's answer late counts alone. */
const atOnce = 20

async function volley(origins: string[], count: number, ask: Ask): Promise<Volley> {
  const startedAt = performance.now()
  const answers: Answer[] = []
  let next = 0
  const askInTurn = async () => {
    for (let i = next++; i < count; i = next++) answers[i] = await ask(origins[i % origins.length]!, i)
  }
  await Promise.all(Array.from({ length: atOnce }, askInTurn))
  const refused = answers.filter(({ status }) => status === 429)
  return { allowed: count - refused.length, refused, first: answers[0]!, seconds: (performance.now() - startedAt) / 1_000 }
}

/** The burst passes at once, plus the steady rate for as long as the volley lasts. */
function assertAllowed({ allowed, seconds }: Volley, policy: { burst: number; perSecond: number }, times = 1): void {
  const most = times * (policy.burst + Math.ceil(policy.perSecond * seconds) + 1)
  assert.ok(allowed >= policy.burst, `the burst of ${policy.burst} passes: ${allowed}`)
  assert.ok(allowed <= most, `of more than ${most} in ${seconds.toFixed(2)} s the rest is refused: ${allowed} passed`)
}

async function open(t: TestContext, count: number, env: Record<string, string> = {}): Promise<AtriumProcess[]> {
  const database = await createTestDatabase()
  const options = { databaseUrl: database.url, env: { ATRIUM_RATE_LIMIT: '1', ATRIUM_TRUST_PROXY: '127.0.0.1', ...env } }
  const processes = await startSeveral(count, options)
  t.after(async () => {
    await Promise.all(processes.map((process) => process.end('SIGKILL')))
    await database.drop()
  })
  return processes
}

const from = (address: string) => ({ 'x-forwarded-for': address })
/** Lets the gate count, and goes no further. */
const withKey = (key: string, address = '192.0.2.1'): Ask => {
  return (origin) => call(origin, 'POST /v1/collections', { key, body: 'not json', headers: from(address) })
}
const withoutKey =
  (address: string | ((i: number) => string)): Ask =>
  (origin, i) =>
    call(origin, 'POST /v1/tenants/signup', {
      body: 'not json',
      headers: from(typeof address === 'string' ? address : address(i)),
    })

const publishable = { name: 'publishable-key', perSecond: 50, burst: 100 }
const secretKey = { name: 'secret-key', perSecond: 200, burst: 400 }
const address = { name: 'address', perSecond: 20, burst: 60 }

function assertHeaders({ headers }: Answer, { name, perSecond, burst }: typeof address, remaining: RegExp): void {
  const window = burst / perSecond
  assert.equal(headers['ratelimit-policy'], `"${name}";q=${burst};w=${window}`)
  assert.match(String(headers['ratelimit']), new RegExp(`^"${name}";r=${remaining.source};t=\\d+$`))
}

function assertRefusal(answer: Answer, policy: typeof address): void {
  assert.deepEqual([answer.status, answer.code], [429, 'rate_limited'])
  assertHeaders(answer, policy, /0/)
  assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/)
  const { error } = JSON.parse(answer.text) as { error: Record<string, unknown> }
  assert.equal(error['request_id'], answer.headers['x-request-id'])
  assert.equal(typeof error['message'], 'string')
}

test('each kind of caller has a rate and a burst, with RateLimit headers and Retry-After', async (t) => {
  const [atrium] = (await open(t, 1)) as [AtriumProcess]
  const { origin } = atrium
  const tenant = await makeTenant(origin)
  const other = await makeTenant(origin)
  const cases = [
    { policy: publishable, ask: withKey(tenant.publishable), count: 250 },
    { policy: secretKey, ask: withKey(tenant.secret), count: 1_200 },
    { policy: address, ask: withoutKey('192.0.2.9'), count: 130 },
  ]
  for (const { policy, ask, count } of cases) {
    const shot = await volley([origin], count, ask)
    assertAllowed(shot, policy)
    assert.ok(shot.refused.length > 0, policy.name)
    assertHeaders(shot.first, policy, /\d+/)
    for (const refused of shot.refused) assertRefusal(refused, policy)
    await delay(1_000 * Number(shot.refused[0]!.headers['retry-after']))
    assert.notEqual((await ask(origin, 0)).status, 429, 'after Retry-After it passes')
  }
  assertAllowed(await volley([origin], 250, withKey(tenant.publishable, '192.0.2.2')), publishable)
  assertAllowed(await volley([origin], 250, withKey(other.publishable)), publishable)
})

test('a wrong key counts by address, and so does a wrong operator token', async (t) => {
  const [{ origin }] = (await open(t, 1)) as [AtriumProcess]
  const { publishable: good } = await makeTenant(origin)
  assert.equal((await withKey(good, '192.0.2.22')(origin, 0)).status, 400)
  const wrong = ['wsk_wrong', `${good.slice(0, -1)}${good.endsWith('0') ? '1' : '0'}`, 'wpk_000000000000000000000000000000000000']
  const guess: Ask = (to, i) => call(to, 'GET /v1/tenant', { key: wrong[i % 3]!, headers: from('192.0.2.20') })
  const guesses = await volley([origin], 130, guess)
  assertAllowed(guesses, address)
  assert.equal(guesses.first.code, 'unauthorized')
  assertRefusal(guesses.refused[0]!, address)
  const operator: Ask = (to) =>
    call(to, 'POST /v1/tenants', { headers: { ...from('192.0.2.21'), 'x-admin-token': 'guess' }, body: {} })
  assertAllowed(await volley([origin], 130, operator), address)
  assert.equal((await withKey(good, '192.0.2.20')(origin, 0)).status, 400, 'a good key from that address still passes')
})

test('a guess above the limit of its address costs the database nothing, and a key that is in use still passes', async (t) => {
  const database = await createTestDatabase()
  const proxy = await startPostgresProxy(database.url)
  const options = { databaseUrl: proxy.url, env: { ATRIUM_RATE_LIMIT: '1', ATRIUM_TRUST_PROXY: '127.0.0.1' } }
  const [{ origin, ...atrium }] = (await startSeveral(1, options)) as [AtriumProcess]
  t.after(async () => {
    await atrium.end('SIGKILL')
    await proxy.close()
    await database.drop()
  })
  const { publishable: good } = await makeTenant(origin)
  assert.equal((await withKey(good, '192.0.2.70')(origin, 0)).status, 400)
  const guess: Ask = (to) =>
    call(to, 'GET /v1/tenant', { key: makeCredential('secretKey', randomBytes), headers: from('192.0.2.71') })
  const first = await volley([origin], 100, guess)
  assert.ok(first.refused.length > 0)
  // While nothing can be looked up, an answer must come from memory.
  await proxy.cut()
  const above = await volley([origin], 200, guess)
  assert.ok(above.refused.length >= 100, `refused at once: ${above.refused.length}`)
  for (const refused of above.refused) assertRefusal(refused, address)
  assert.equal((await withKey(good, '192.0.2.71')(origin, 0)).status, 400, 'a key in use passes from that address')
})

test('documents and metrics are limited by address, each by itself; health checks never', async (t) => {
  const [{ origin }] = (await open(t, 1)) as [AtriumProcess]
  const get =
    (...paths: string[]): Ask =>
    (to, i) =>
      call(to, `GET ${paths[i % paths.length]!}`, { headers: from('192.0.2.80') })
  for (const ask of [get('/v1/openapi.json', '/docs', '/', '/.well-known/jwks.json'), get('/metrics')]) {
    const shot = await volley([origin], 200, ask)
    assertAllowed(shot, address)
    assertRefusal(shot.refused[0]!, address)
  }
  assert.notEqual((await withoutKey('192.0.2.80')(origin, 0)).status, 429, 'they take nothing from what is called')
  for (const path of ['/healthz', '/readyz']) assert.equal((await volley([origin], 500, get(path))).allowed, 500, path)
})

test('IPv6 counts by /64 and a mapped IPv4 address as IPv4', async (t) => {
  const [{ origin }] = (await open(t, 1)) as [AtriumProcess]
  assertAllowed(
    await volley(
      [origin],
      130,
      withoutKey((i) => `2001:db8:0:1:${i.toString(16)}::${i.toString(16)}`),
    ),
    address,
  )
  const apart = await volley(
    [origin],
    130,
    withoutKey((i) => `2001:db8:0:${(i + 16).toString(16)}::1`),
  )
  assert.equal(apart.allowed, 130, 'other networks are others')
  assertAllowed(
    await volley(
      [origin],
      130,
      withoutKey((i) => (i % 2 === 0 ? '192.0.2.30' : '::ffff:192.0.2.30')),
    ),
    address,
  )
})

/**
 * Two servers that count together. One that gets Redis's answer late counts alone: a few more requests pass, but
 * never as many as if both counted alone.
 */
const together = 1.25

describe('with Redis', () => {
  test(
    'two processes count together, alone while Redis is gone, and together again when it is back',
    { skip: skipWithoutRedis },
    async (t) => {
      let redis = await startRedis()
      t.after(() => redis.kill())
      const processes = await open(t, 2, { REDIS_URL: redis.url })
      const origins = processes.map(({ origin }) => origin)
      const tenants = [
        await makeTenant(origins[0]!),
        await makeTenant(origins[0]!),
        await makeTenant(origins[0]!),
        await makeTenant(origins[0]!),
      ]
      const [shared, alone, hung, again] = tenants.map(({ publishable }) => publishable) as [string, string, string, string]
      // Both have looked up the keys, so the volleys measure only the counting.
      for (const key of [shared, alone, hung, again]) for (const origin of origins) await withKey(key, '192.0.2.99')(origin, 0)

      const both = await volley(origins, 400, withKey(shared))
      assertAllowed(both, publishable, together)
      assertRefusal(both.refused[0]!, publishable)

      const losing = startAsking(origins, withKey(alone, '192.0.2.50'))
      await delay(300)
      await redis.kill()
      await delay(700)
      assertUndisturbed(await losing.stop())
      const own = await volley(origins, 600, withKey(alone))
      assert.ok(own.allowed >= 2 * publishable.burst, `each counts by itself: ${own.allowed}`)
      assertAllowed(own, publishable, 2)
      assertRefusal(own.refused[0]!, publishable)

      const finding = startAsking(origins, withKey(alone, '192.0.2.51'))
      redis = await startRedis(redis.port)
      await untilReachable(processes, 2)
      assertUndisturbed(await finding.stop())
      assertAllowed(await volley(origins, 400, withKey(again)), publishable, together)

      process.kill(redis.pid, 'SIGSTOP')
      const hanging = startAsking(origins, withKey(hung, '192.0.2.52'))
      await delay(800)
      const asked = await hanging.stop()
      process.kill(redis.pid, 'SIGCONT')
      assertUndisturbed(asked)
    },
  )

  test('a server starts and stops without its Redis, and counts by itself', async (t) => {
    const [atrium] = (await open(t, 1, { REDIS_URL: 'redis://127.0.0.1:1' })) as [AtriumProcess]
    const { origin } = atrium
    assertAllowed(await volley([origin], 130, withoutKey('192.0.2.60')), address)
    assert.equal(await atrium.end('SIGTERM'), 0)
  })
})

interface Asked {
  statuses: number[]
  slowestMs: number
}

function assertUndisturbed({ statuses, slowestMs }: Asked): void {
  assert.deepEqual([...new Set(statuses)], [400], 'nobody is refused for want of Redis')
  // A server waits 100 ms for Redis. One that had no limit would wait for the 700 ms and more that it is away.
  assert.ok(slowestMs < 600, `nor held up: ${slowestMs} ms`)
}

/** Asks each of them at most 20 times a second, one after the other, well below every limit. */
function startAsking(origins: string[], ask: Ask): { stop(): Promise<Asked> } {
  let stopped = false
  const statuses: number[] = []
  let slowestMs = 0
  const run = async (origin: string) => {
    while (!stopped) {
      const askedAt = performance.now()
      statuses.push((await ask(origin, 0)).status)
      slowestMs = Math.max(slowestMs, performance.now() - askedAt)
      await delay(50)
    }
  }
  const running = Promise.all(origins.map(run))
  return {
    stop: async () => {
      stopped = true
      await running
      return { statuses, slowestMs }
    },
  }
}

/** Waits until each has reported this often that Redis is available. */
async function untilReachable(processes: AtriumProcess[], times: number): Promise<void> {
  const said = ({ output }: AtriumProcess) => output().split('rate limits are counted in Redis').length - 1
  for (let waitedMs = 0; !processes.every((process) => said(process) >= times); waitedMs += 50) {
    assert.ok(waitedMs < 5_000, 'they find Redis again')
    await delay(50)
  }
}
