import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { startHookServer, type HookServer } from '../../packages/server/testing/hook-server.ts'
import { createTestDatabase } from '../../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from './atrium-process.ts'
import { askGood, call, makeCollection, makeTenant, type Answer, type TestCollection, type TestTenant } from './call-api.ts'
import { makeWallet } from './credits.ts'

interface Room {
  room: string
  mk: string
}

/** A tenant with one thing of each kind that requests lock. */
interface Resident {
  tenant: TestTenant
  collection: TestCollection
  wallet: string
  room: Room
  hooks: HookServer
}

/** The measured work of a resident. webhook ends when the event has arrived. */
export const works = ['item', 'keyed item', 'grant', 'turn', 'artifact', 'curation', 'webhook'] as const
export type Work = (typeof works)[number]

export interface BadAnswer {
  work: Work
  status: number
  tookMs: number
  retryAfter: unknown
}

export interface LockWorld {
  /**
   * The milliseconds of each attempt of the good tenant, by work, while the bad tenants send requests too. locked:
   * every row that a request of the bad tenants may need is locked until all of them have been answered.
   */
  measure(durationMs: number, locked: boolean): Promise<{ times: Record<Work, number[]>; answers: BadAnswer[] }>
  close(): Promise<void>
}

/** How often the bad tenants ask, all together. */
const askIntervalMs = 15

export async function openLockWorld(badTenants: number): Promise<LockWorld> {
  const database = await createTestDatabase()
  const atrium = await startAtrium({ databaseUrl: database.url, space: true, env: { ATRIUM_EGRESS: 'loopback' } })
  const good = await settle(atrium)
  const bad: Resident[] = []
  for (let n = 0; n < badTenants; n++) bad.push(await settle(atrium))
  const residents = [good, ...bad]
  return {
    measure: async (durationMs, locked) => {
      const holder = locked ? await lockRows(database.url, bad) : undefined
      try {
        const { result, answers } = await underLoad(atrium, bad, askIntervalMs, () => measure(atrium, good, durationMs))
        return { times: result, answers }
      } finally {
        await holder?.query('rollback')
        await holder?.end()
      }
    },
    close: async () => {
      await atrium.end('SIGKILL')
      for (const { hooks } of residents) await hooks.close()
      await database.drop()
    },
  }
}

async function settle(atrium: AtriumProcess): Promise<Resident> {
  const { origin } = atrium
  const tenant = await makeTenant(origin)
  const hooks = await startHookServer()
  const resident = {
    tenant,
    hooks,
    collection: await makeCollection(origin, tenant.publishable),
    wallet: await makeWallet(origin, tenant.secret, 1_000_000),
    room: { room: `r${randomBytes(8).toString('hex')}`, mk: randomBytes(32).toString('base64url') },
  }
  await askGood(origin, 'PUT /v1/tenant/webhooks', { key: tenant.secret, body: { url: hooks.url, events: ['artifact.ready'] } })
  for (const work of works) await ask(atrium, resident, work)
  return resident
}

async function ask(atrium: AtriumProcess, { tenant, collection, wallet, room, hooks }: Resident, work: Work): Promise<Answer> {
  const { origin } = atrium
  const key = tenant.publishable
  const path = `/v1/collections/${collection.id}`
  const item = { type: 'message', content: 1 }
  const picture = { kind: 'image', url: 'https://pictures.example/a.png' }
  const owner = { key, token: collection.token }
  if (work === 'item') return call(origin, `POST ${path}/items`, { key, body: item })
  if (work === 'keyed item') return call(origin, `POST ${path}/items`, { key, idempotencyKey: randomUUID(), body: item })
  if (work === 'artifact') return call(origin, `POST ${path}/artifacts`, { ...owner, body: picture })
  if (work === 'curation') return call(origin, `PATCH ${path}`, { ...owner, body: { metadata: { at: Date.now() } } })
  if (work === 'turn')
    return call(atrium.spacesOrigin, 'POST /space', { body: { op: 'turn', ...room, message: { text: 'Good evening.' } } })
  if (work === 'grant') {
    const body = { amount: 1, wallet_code: wallet }
    return call(origin, 'POST /v1/wallets/grant', { key: tenant.secret, idempotencyKey: randomUUID(), body })
  }
  const made = await call(origin, `POST ${path}/artifacts`, { ...owner, body: picture })
  if (made.status !== 201) return made
  const arrived = () => hooks.hooks.some(({ event }) => event.data['artifact_id'] === made.data.id)
  for (const deadline = Date.now() + 60_000; !arrived(); await delay(2)) assert.ok(Date.now() < deadline, 'the webhook arrives')
  return made
}

/** All works at the same time, each repeatedly. A failed attempt counts as an endless one. */
async function measure(atrium: AtriumProcess, resident: Resident, durationMs: number): Promise<Record<Work, number[]>> {
  const untilMs = performance.now() + durationMs
  const timed = async (work: Work): Promise<[Work, number[]]> => {
    const times: number[] = []
    while (performance.now() < untilMs) {
      const startedAt = performance.now()
      const { status } = await ask(atrium, resident, work)
      times.push(status < 300 ? performance.now() - startedAt : Infinity)
      await delay(5)
    }
    return [work, times]
  }
  return Object.fromEntries(await Promise.all(works.map(timed))) as Record<Work, number[]>
}

const locks = [
  'select from collections where tenant_id = any($1) for update',
  'select from ledger_accounts where tenant_id = any($1) for update',
  'select from event_heads where tenant_id = any($1) for update',
  'select from webhooks where tenant_id = any($1) for update',
  'select from api_keys where tenant_id = any($1) for update',
  'select from usage_days where tenant_id = any($1) for update',
  'select from usage_traffic where tenant_id = any($1) for update',
  'select from tenants where id = any($1) for update',
]

async function lockRows(databaseUrl: string, bad: Resident[]): Promise<Client> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('begin')
  for (const lock of locks) await client.query(lock, [bad.map(({ tenant }) => tenant.id)])
  await client.query('select from rooms where room = any($1) for update', [bad.map(({ room }) => room.room)])
  return client
}

/**
 * The bad tenants send at fixed times, whether or not they were answered, so that the load is the same with and
 * without the lock.
 */
async function underLoad<T>(atrium: AtriumProcess, bad: Resident[], intervalMs: number, during: () => Promise<T>) {
  const asked = works.filter((work) => work !== 'webhook')
  const answers: Promise<BadAnswer>[] = []
  let n = 0
  const timer = setInterval(() => {
    const work = asked[n % asked.length]!
    const resident = bad[Math.floor(n++ / asked.length) % bad.length]!
    const startedAt = performance.now()
    answers.push(
      ask(atrium, resident, work).then(({ status, headers }) => {
        return { work, status, tookMs: performance.now() - startedAt, retryAfter: headers['retry-after'] }
      }),
    )
  }, intervalMs)
  try {
    const result = await during()
    clearInterval(timer)
    return { result, answers: await Promise.all(answers) }
  } finally {
    clearInterval(timer)
  }
}

export function p99(times: number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Infinity
}
