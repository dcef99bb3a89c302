import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { test, type TestContext } from 'node:test'
import { passesOnce } from '../packages/server/testing/busy-machine.ts'
import { createTestDatabase } from '../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { call, makeTenant, type Answer } from './support/call-api.ts'
import { workerPids } from './support/worker-pids.ts'

const workers = 3
const publishable = { perSecond: 50, burst: 100 }
const address = { perSecond: 20, burst: 60 }

async function open(t: TestContext): Promise<AtriumProcess> {
  const database = await createTestDatabase()
  const env = { ATRIUM_RATE_LIMIT: '1', ATRIUM_TRUST_PROXY: '127.0.0.1' }
  const atrium = await startAtrium({ databaseUrl: database.url, env, args: ['--workers', String(workers)] })
  t.after(async () => {
    await atrium.end('SIGKILL')
    await database.drop()
  })
  return atrium
}

type Ask = (agent: Agent) => Promise<Answer>

interface Volley {
  allowed: number
  answers: Answer[]
  seconds: number
}

/** Sends requests over separate connections, which the primary process distributes among the API processes. */
async function volley(count: number, ask: Ask): Promise<Volley> {
  const agents = Array.from({ length: 4 * workers }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
  const startedAt = performance.now()
  const answers: Answer[] = []
  let next = 0
  const askInTurn = async (agent: Agent) => {
    for (let i = next++; i < count; i = next++) answers[i] = await ask(agent)
  }
  await Promise.all(agents.map(askInTurn))
  for (const agent of agents) agent.destroy()
  const allowed = answers.filter(({ status }) => status !== 429).length
  return { allowed, answers, seconds: (performance.now() - startedAt) / 1_000 }
}

/**
 * The limit of one process. A few permits may be with a process that does not need them. On a busy machine, the primary
 * process may answer late, and a worker then counts by itself: so there are more tries, each with a subject of its own.
 */
function assertShared(
  count: number,
  askAs: (n: number) => Promise<Ask> | Ask,
  { burst, perSecond }: typeof publishable,
): Promise<Volley> {
  return passesOnce(async (n) => {
    const shot = await volley(count, await askAs(n))
    const { allowed, seconds } = shot
    const most = burst + Math.ceil(perSecond * seconds) + workers
    assert.ok(allowed <= most, `of more than ${most} in ${seconds.toFixed(2)} s the rest is refused: ${allowed} passed`)
    assert.ok(allowed >= 0.9 * burst, `the burst passes: ${allowed}`)
    return shot
  })
}

const withKeyOf =
  (origin: string, key: string): Ask =>
  (agent) =>
    call(origin, 'POST /v1/collections', { key, body: 'not json', headers: { 'x-forwarded-for': '192.0.2.1' }, agent })

const strangerAt =
  (origin: string, address: string): Ask =>
  (agent) =>
    call(origin, 'POST /v1/tenants/signup', { body: 'not json', headers: { 'x-forwarded-for': address }, agent })

test('several API processes enforce the limits together without Redis, by key and by IP address', async (t) => {
  const { origin } = await open(t)
  let withKey = withKeyOf(origin, '')
  const asNewKey = async () => (withKey = withKeyOf(origin, (await makeTenant(origin)).publishable))
  const shot = await assertShared(600, asNewKey, publishable)
  for (const { status, code, headers } of shot.answers.filter((answer) => answer.status === 429)) {
    assert.deepEqual([status, code], [429, 'rate_limited'])
    assert.match(String(headers['retry-after']), /^[1-9]\d*$/)
    assert.match(String(headers['ratelimit']), /^"publishable-key";r=0;t=\d+$/)
  }
  await assertShared(300, (n) => strangerAt(origin, `192.0.2.${10 + n}`), address)
  assert.ok((await volley(40, withKey)).allowed > 0, 'and allow requests within the rate')
})

test('a replaced API process takes part in the shared limits again', async (t) => {
  const atrium = await open(t)
  const { origin } = atrium
  const before = workerPids(atrium.pid)
  process.kill(before[0]!, 'SIGKILL')
  const isBack = () => workerPids(atrium.pid).length === workers && !workerPids(atrium.pid).includes(before[0]!)
  for (let waitedMs = 0; !isBack(); waitedMs += 20) {
    assert.ok(waitedMs < 30_000, 'the process is replaced')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await assertShared(300, (n) => strangerAt(origin, `192.0.2.${20 + n}`), address)
})

test('the rate that an operator sets for a tenant holds in every API process soon, also where the old one had refused', async (t) => {
  const { origin } = await open(t)
  const { id, publishable: key } = await makeTenant(origin)
  const withKey = withKeyOf(origin, key)
  const set = async (body: object) => {
    const answer = await call(origin, `PUT /v1/tenants/${id}/limits`, { operator: true, body })
    assert.equal(answer.status, 200, answer.text)
  }
  const policies = ({ answers }: Volley) => new Set(answers.map(({ headers }) => headers['ratelimit-policy']))
  const isPolicy = (answered: Volley, policy: string) => [...policies(answered)].join() === policy
  // Without the notification, a process could keep the old rate for 15 seconds.
  const untilPolicy = async (policy: string) => {
    for (const deadline = Date.now() + 10_000; !isPolicy(await volley(4 * workers, withKey), policy);)
      assert.ok(Date.now() < deadline, `every process has ${policy}`)
  }
  assert.ok(isPolicy(await volley(300, withKey), '"publishable-key";q=100;w=2'))
  await set({ rate_percent: 400 })
  await untilPolicy('"publishable-key";q=400;w=2')
  // In a second, 200 requests become free again.
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const faster = await volley(900, withKey)
  const most = publishable.burst + Math.ceil(publishable.perSecond * faster.seconds)
  assert.ok(faster.allowed > most, `more pass than the old rate allows: ${faster.allowed}, not ${most}`)
  await set({})
  await untilPolicy('"publishable-key";q=100;w=2')
})
