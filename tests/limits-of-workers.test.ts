import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { test, type TestContext } from 'node:test'
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

interface Volley {
  allowed: number
  answers: Answer[]
  seconds: number
}

/** Sends requests over separate connections, which the primary process distributes among the API processes. */
async function volley(count: number, ask: (agent: Agent) => Promise<Answer>): Promise<Volley> {
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

/** The limit of one process. A few permits may be with a process that does not need them. */
function assertShared({ allowed, seconds }: Volley, { burst, perSecond }: typeof publishable): void {
  const most = burst + Math.ceil(perSecond * seconds) + workers
  assert.ok(allowed <= most, `of more than ${most} in ${seconds.toFixed(2)} s the rest is refused: ${allowed} passed`)
  assert.ok(allowed >= 0.9 * burst, `the burst passes: ${allowed}`)
}

test('several API processes enforce the limits together without Redis, by key and by IP address', async (t) => {
  const { origin } = await open(t)
  const { publishable: key } = await makeTenant(origin)
  const withKey = (agent: Agent) =>
    call(origin, 'POST /v1/collections', { key, body: 'not json', headers: { 'x-forwarded-for': '192.0.2.1' }, agent })
  const shot = await volley(600, withKey)
  assertShared(shot, publishable)
  for (const { status, code, headers } of shot.answers.filter((answer) => answer.status === 429)) {
    assert.deepEqual([status, code], [429, 'rate_limited'])
    assert.match(String(headers['retry-after']), /^[1-9]\d*$/)
    assert.match(String(headers['ratelimit']), /^"publishable-key";r=0;t=\d+$/)
  }
  const stranger = (agent: Agent) =>
    call(origin, 'POST /v1/tenants/signup', { body: 'not json', headers: { 'x-forwarded-for': '192.0.2.9' }, agent })
  assertShared(await volley(300, stranger), address)
  assert.ok((await volley(40, (agent) => withKey(agent))).allowed > 0, 'and allow requests within the rate')
})

test('a replaced API process takes part in the shared limits again', async (t) => {
  const atrium = await open(t)
  const { origin } = atrium
  const before = workerPids(atrium.pid)
  process.kill(before[0]!, 'SIGKILL')
  const isBack = () => workerPids(atrium.pid).length === workers && !workerPids(atrium.pid).includes(before[0]!)
  for (let waitedMs = 0; !isBack(); waitedMs += 20) {
    assert.ok(waitedMs < 10_000, 'the process is replaced')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const stranger = (agent: Agent) =>
    call(origin, 'POST /v1/tenants/signup', { body: 'not json', headers: { 'x-forwarded-for': '192.0.2.7' }, agent })
  assertShared(await volley(300, stranger), address)
})

test('the rate that an operator sets for a tenant holds in every API process soon, also where the old one had refused', async (t) => {
  const { origin } = await open(t)
  const { id, publishable: key } = await makeTenant(origin)
  const withKey = (agent: Agent) =>
    call(origin, 'POST /v1/collections', { key, body: 'not json', headers: { 'x-forwarded-for': '192.0.2.1' }, agent })
  const set = async (body: object) => {
    const answer = await call(origin, `PUT /v1/tenants/${id}/limits`, { operator: true, body })
    assert.equal(answer.status, 200, answer.text)
  }
  const policies = ({ answers }: Volley) => new Set(answers.map(({ headers }) => headers['ratelimit-policy']))
  const isPolicy = (answered: Volley, policy: string) => [...policies(answered)].join() === policy
  // Without the notification, a process could keep the old rate for 15 seconds.
  const untilPolicy = async (policy: string) => {
    for (const deadline = Date.now() + 5_000; !isPolicy(await volley(4 * workers, withKey), policy);)
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
