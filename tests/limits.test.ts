import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { makeCredential } from '../packages/contract/src/tokens.ts'
import { passesOnce } from '../packages/server/testing/busy-machine.ts'
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

/** Some are refused. A slow machine takes so long for a volley that all of it may pass, so the next ones are longer. */
function volleyRefused(origins: string[], count: number, ask: Ask, policy: typeof address, times?: number): Promise<Volley> {
  return passesOnce(async (n) => {
    const shot = await volley(origins, n * count, ask)
    assertAllowed(shot, policy, times)
    assert.ok(shot.refused.length > 0, `some of ${n * count} are refused: ${policy.name}`)
    return shot
  })
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
    const shot = await volleyRefused([origin], count, ask, policy)
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
  const guesses = await volleyRefused([origin], 130, guess, address)
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
  // A machine that takes longer than two seconds for them refuses none.
  await passesOnce(async () => assert.ok((await volley([origin], 100, guess)).refused.length > 0))
  // While nothing can be looked up, an answer must come from memory.
  await proxy.cut()
  const above = await volley([origin], 200, guess)
  assert.ok(above.refused.length > 0, 'some are refused')
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
    const shot = await volleyRefused([origin], 200, ask, address)
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
      const [alone, hung] = await Promise.all([makeKnown(origins), makeKnown(origins)])
      const assertTogether = () =>
        passesOnce(async (n) => {
          const key = await makeKnown(origins)
          await untilReachable(processes)
          const both = await volley(origins, n * 400, withKey(key))
          assertAllowed(both, publishable, together)
          assertRefusal(both.refused[0]!, publishable)
        })
      await assertTogether()

      const losing = startAsking(origins, withKey(alone, '192.0.2.50'))
      await losing.answersEach(5)
      await redis.kill()
      await losing.answersEach(10)
      assertUndisturbed(await losing.stop())
      const own = await volleyRefused(origins, 600, withKey(alone), publishable, 2)
      assert.ok(own.allowed >= 2 * publishable.burst, `each counts by itself: ${own.allowed}`)
      assertRefusal(own.refused[0]!, publishable)

      const finding = startAsking(origins, withKey(alone, '192.0.2.51'))
      redis = await startRedis(redis.port)
      await finding.answersEach(5)
      await untilReachable(processes)
      assertUndisturbed(await finding.stop())
      await assertTogether()

      process.kill(redis.pid, 'SIGSTOP')
      const hanging = startAsking(origins, withKey(hung, '192.0.2.52'))
      await hanging.answersEach(10)
      assertUndisturbed(await hanging.stop())
      process.kill(redis.pid, 'SIGCONT')
    },
  )

  test('a server starts and stops without its Redis, and counts by itself', async (t) => {
    const [atrium] = (await open(t, 1, { REDIS_URL: 'redis://127.0.0.1:1' })) as [AtriumProcess]
    const { origin } = atrium
    assertAllowed(await volley([origin], 130, withoutKey('192.0.2.60')), address)
    assert.equal(await atrium.end('SIGTERM'), 0)
  })
})

/** The key of a new tenant, which all have looked up, so that a volley measures only the counting. */
async function makeKnown(origins: string[]): Promise<string> {
  const { publishable: key } = await makeTenant(origins[0]!)
  for (const origin of origins) await withKey(key, '192.0.2.99')(origin, 0)
  return key
}

interface Asked {
  status: number
  ms: number
}

function assertUndisturbed(asked: Asked[]): void {
  assert.deepEqual([...new Set(asked.map(({ status }) => status))], [400], 'nobody is refused for want of Redis')
  // A server waits 100 ms for Redis, in five requests and more, before it asks no longer. One that waited longer would
  // show it in all of these. A busy machine delays fewer.
  const slowest = asked.map(({ ms }) => ms).toSorted((a, b) => b - a)
  assert.ok(slowest[4]! < 600, `nor held up: ${slowest.slice(0, 10).map(Math.round).join()} ms`)
}

interface Asking {
  /**
   * Waits until each has answered so many more requests. A server that waited for Redis without a limit would answer
   * none for as long as Redis is away.
   */
  answersEach(count: number): Promise<void>
  stop(): Promise<Asked[]>
}

/** Asks each of them at most 20 times a second, one after the other, well below every limit. */
function startAsking(origins: string[], ask: Ask): Asking {
  let stopped = false
  const asked = origins.map((): Asked[] => [])
  const run = async (origin: string, i: number) => {
    while (!stopped) {
      const askedAt = performance.now()
      const { status } = await ask(origin, 0)
      asked[i]!.push({ status, ms: performance.now() - askedAt })
      await delay(50)
    }
  }
  const running = Promise.all(origins.map(run))
  return {
    answersEach: async (count) => {
      const least = asked.map(({ length }) => length + count)
      for (let waitedMs = 0; asked.some(({ length }, i) => length < least[i]!); waitedMs += 20) {
        assert.ok(waitedMs < 15_000, 'requests are not held up')
        await delay(20)
      }
    },
    stop: async () => {
      stopped = true
      await running
      return asked.flat()
    },
  }
}

/** Waits until each counts in Redis, by what it reported last. */
async function untilReachable(processes: AtriumProcess[]): Promise<void> {
  const isReachable = ({ output }: AtriumProcess) =>
    output().lastIndexOf('rate limits are counted in Redis') > output().lastIndexOf('Redis cannot be reached')
  for (let waitedMs = 0; !processes.every(isReachable); waitedMs += 50) {
    assert.ok(waitedMs < 30_000, 'they find Redis again')
    await delay(50)
  }
}
