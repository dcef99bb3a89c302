import { randomBytes, randomUUID } from 'node:crypto'
import { freePort } from '../../../tests/support/atrium-process.ts'
import { startTestSpace, type TestSpace } from '../../space/src/testing/test-space.ts'
import { issuerAccount, platformAccount } from '../src/features/credits/ledger/movement.ts'
import { transactionId } from '#features/credits/ledger/movement.ts'
import { SessionRunner } from '#features/sessions/running/session-runner.ts'
import { send, type Got } from './http.ts'
import { startTestApi, type TestApi, type TestTenant } from './test-api.ts'

export interface Room {
  room: string
  mk: string
}

interface Entry {
  seq: number
  id: string
  author: { kind: string; id?: string; name?: string }
  message: { text: string; client_id?: string; reply_to?: string }
}

/** The API, the Space service and a worker over one database, and the calls that tests of sessions make. */
export interface SessionWorld {
  api: TestApi
  space: TestSpace
  /** A tenant with credits. */
  tenant: TestTenant
  /** A further worker beside the first one. */
  startRunner(capacity?: number): Promise<SessionRunner>
  makeAgent(manifest?: object, of?: TestTenant): Promise<string>
  makeCoupon(amount: number): Promise<string>
  newRoom(): Room
  launch(agentId: string, room: Room, coupon: string, more?: object): Promise<Got>
  /** An un-versioned call with a control token. */
  control(method: string, path: string, token: string, body?: object): Promise<Got>
  say(room: Room, text: string): Promise<void>
  entries(room: Room): Promise<Entry[]>
  balance(code: string): Promise<{ balance: number; held: number }>
  close(): Promise<void>
}

export async function startSessionWorld({ runner = true, settings = {} } = {}): Promise<SessionWorld> {
  const [apiPort, spacePort] = [await freePort(), await freePort()]
  const publicUrl = `http://127.0.0.1:${apiPort}`
  const spacesUrl = `http://127.0.0.1:${spacePort}`
  const api = await startTestApi({ port: String(apiPort), publicUrl, spacesUrl, egress: 'loopback', ...settings })
  const space = await startTestSpace(
    { SPACE_PORT: String(spacePort), ATRIUM_PUBLIC_URL: publicUrl, ATRIUM_SPACES_URL: spacesUrl },
    api.databaseUrl,
  )
  const tenant = await api.makeTenant('Harbour')
  const runners: SessionRunner[] = []
  const id = transactionId('test', randomUUID())
  const to = issuerAccount(tenant.id)
  await api.ctx.ledger.add({
    type: 'transfer',
    id,
    kind: 'prefund',
    from: platformAccount,
    to,
    amountCredits: 10_000,
    actor: tenant.id,
  })

  const root = { baseUrl: api.origin }
  const world: SessionWorld = {
    api,
    space,
    tenant,
    startRunner: async (capacity = 100) => {
      const started = new SessionRunner(api.ctx, api.databaseUrl, capacity)
      await started.start()
      runners.push(started)
      return started
    },
    makeAgent: async (manifest = {}, of = tenant) => {
      const body = { name: 'Echo', description: 'Echoes.', instructions: '', price_credits: 5, max_minutes: 30, ...manifest }
      const made = await send(root, 'POST', '/agents', { key: of.secretKey, body })
      if (made.status !== 201) throw new Error(made.text)
      const agentId = made.body.data.id as string
      await send(root, 'PUT', `/agents/${agentId}/status`, { key: of.secretKey, body: { status: 'active' } })
      return agentId
    },
    makeCoupon: async (amount) => {
      const got = await send(api, 'POST', '/wallets/grant', {
        key: tenant.secretKey,
        idempotencyKey: randomUUID(),
        body: { amount },
      })
      return got.body.data.coupon as string
    },
    newRoom: () => ({ room: `room-${randomUUID()}`, mk: randomBytes(32).toString('base64url') }),
    launch: (agentId, room, coupon, more = {}) => {
      const body = { agent_id: agentId, room, coupon, ...more }
      return send(api, 'POST', '/sessions', { key: tenant.secretKey, idempotencyKey: randomUUID(), body })
    },
    control: (method, path, token, body) =>
      send(root, method, path, { headers: { authorization: `Bearer ${token}` }, ...(body ? { body } : {}) }),
    say: async (room, text) => {
      const got = await space.call('turn', { ...room, message: { text } })
      if (got.status !== 200) throw new Error(JSON.stringify(got.body))
    },
    entries: async (room) => {
      const got = await space.call('poll', { ...room, sinceCount: 0 })
      return got.status === 200 ? got.body.entries : []
    },
    balance: async (code) => {
      const got = await send(api, 'POST', '/wallets/lookup', { key: tenant.publishableKey, body: { wallet_code: code } })
      return got.status === 404 ? { balance: 0, held: 0 } : got.body.data
    },
    close: async () => {
      await Promise.all(runners.map((one) => one.stop()))
      await space.close()
      await api.close()
    },
  }
  if (runner) await world.startRunner()
  return world
}

/** Waits until the condition is true. On a timeout, the error contains the last value. */
export async function eventually<T>(look: () => Promise<T | undefined | false>, what: string, withinMs = 20_000): Promise<T> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const seen = await look()
    if (seen) return seen
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
