import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { agentControlToken } from '../support/agent-endpoint.ts'
import { startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { askGood, call, makeTenant, type TestTenant } from '../support/call-api.ts'
import { startPostgresProxy, type PostgresProxy } from '../support/postgres-proxy.ts'
import { assertAgentAnswers, launchBody, makeAgent } from '../support/sessions.ts'

const outageMs = 32_000
const price = 2

let database: TestDatabase
let proxy: PostgresProxy
let atrium: AtriumProcess
let tenant: TestTenant

before(async () => {
  database = await createTestDatabase()
  proxy = await startPostgresProxy(database.url)
  atrium = await startAtrium({ databaseUrl: proxy.url, space: true, env: { ATRIUM_EGRESS: 'loopback' } })
  tenant = await makeTenant(atrium.origin)
})

after(async () => {
  await atrium?.end('SIGKILL')
  await proxy?.close()
  await database?.drop()
})

interface Launched {
  id: string
  control: string
  room: { room: string; mk: string }
}

async function launch(agentId: string): Promise<Launched> {
  const body = await launchBody(atrium.origin, tenant, agentId)
  const { data } = await askGood(atrium.origin, 'POST /v1/sessions', { key: tenant.secret, idempotencyKey: randomUUID(), body })
  return { id: data.id, control: data.control_token, room: body.room }
}

async function stateOf({ id, control }: Launched) {
  const { data } = await askGood(atrium.origin, `GET /sessions/${id}`, { key: control })
  const { status, charged_credits: charged } = data as unknown as { status: string; charged_credits: number }
  return [status, charged]
}

test('32 seconds without the database end and bill no session, whether it runs here or elsewhere, or is just coming', async () => {
  const [hosted, remote] = await Promise.all([
    makeAgent(atrium.origin, tenant, { endpoint: undefined, price_credits: price }),
    makeAgent(atrium.origin, tenant, { price_credits: price }),
  ])
  const running = await Promise.all(Array.from({ length: 10 }, () => launch(hosted)))
  for (const session of running) await assertAgentAnswers(atrium.origin, session.room, 'before')
  const joined = await Promise.all(Array.from({ length: 3 }, () => launch(remote)))
  const tokens = await Promise.all(joined.map(({ id }) => agentControlToken(id)))
  await Promise.all(joined.map(({ id }, i) => askGood(atrium.origin, `POST /sessions/${id}/joined`, { key: tokens[i]! })))
  // Told to come, and not there yet.
  const coming = await Promise.all(Array.from({ length: 2 }, () => launch(remote)))
  const comingTokens = await Promise.all(coming.map(({ id }) => agentControlToken(id)))

  await proxy.cut()
  const [join, stop] = await Promise.all([
    call(atrium.origin, `POST /sessions/${coming[0]!.id}/joined`, { key: comingTokens[0]! }),
    call(atrium.origin, `POST /sessions/${running[0]!.id}/stop`, { key: running[0]!.control }),
  ])
  assert.deepEqual([join.status, stop.status], [503, 503], `${join.text} ${stop.text}`)
  await delay(outageMs)
  await proxy.restore()

  for (const session of running) await assertAgentAnswers(atrium.origin, session.room, 'afterwards')
  // More than 30 seconds after their launch, because they could not report it earlier.
  await Promise.all(coming.map(({ id }, i) => askGood(atrium.origin, `POST /sessions/${id}/joined`, { key: comingTokens[i]! })))
  const all = [...running, ...joined, ...coming]
  assert.deepEqual(await Promise.all(all.map(stateOf)), Array(all.length).fill(['running', 0]))

  const settle = async (session: Launched) => {
    await askGood(atrium.origin, `POST /sessions/${session.id}/stop`, { key: session.control })
    return stateOf(session)
  }
  assert.deepEqual(await Promise.all(all.map(settle)), Array(all.length).fill(['stopped', price]))
})
