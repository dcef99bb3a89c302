import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { AgentRequest, SessionLaunched, SessionLaunchedSealed } from '../../packages/client/src/agent-request.ts'
import type { SessionState } from '../../packages/client/src/agent-session.ts'
import { AtriumError } from '../../packages/client/src/atrium-error.ts'
import { createClient } from '../../packages/client/src/create-client.ts'
import { openRoom, type Room } from '../../packages/client/src/open-room.ts'
import type { Entry } from '../../packages/client/src/room-call.ts'
import type { EcPublicKey } from '../../packages/sealing/src/web-recipient.ts'
import { makeTenant } from './call-api.ts'
import { fundIssuer } from './fund-issuer.ts'
import { newRoom } from './sessions.ts'

/** What an agent's endpoint got. */
export interface Endpoint {
  url: string
  requests: { body: string; headers: IncomingHttpHeaders }[]
  /** The first launch, as it came. */
  launched(): SessionLaunched
  /** The same for a room whose lines the clients seal. */
  launchedSealed(): SessionLaunchedSealed
}

/** The endpoint of a remote agent for the duration of the test. `answer` returns its status. */
export async function startEndpoint(
  t: { after(done: () => void): void },
  answer: (body: string, headers: IncomingHttpHeaders) => number | Promise<number>,
  port = 0,
): Promise<Endpoint> {
  const requests: Endpoint['requests'] = []
  const server = createServer(async (req, res) => {
    const [body, { headers }] = [await text(req), req]
    requests.push({ body, headers })
    res.writeHead(await answer(body, headers)).end()
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const first = <Launch extends AgentRequest>(type: Launch['type']) => {
    const launch = JSON.parse(requests[0]!.body) as Launch
    assert.equal(launch.type, type)
    return launch
  }
  return {
    url,
    requests,
    launched: () => first<SessionLaunched>('session.launched'),
    launchedSealed: () => first<SessionLaunchedSealed>('session.launched_sealed'),
  }
}

/** A session as its launcher sees it. */
export interface Launched {
  id: string
  room: Room
  coupon: string
  status(): Promise<SessionState>
  stop(): Promise<unknown>
}

/** A tenant with credits that runs agents itself. Each costs 3 of the 5 credits of its launch's coupon. */
export async function openAgency(origin: string) {
  const { secret: key } = await makeTenant(origin)
  await fundIssuer(origin, key, 1_000)
  const client = createClient({ baseUrl: origin, key })
  const openHere = (secret: { room: string; mk: string }) => openRoom({ spaceUrl: `${origin}/v1/space`, ...secret })

  return {
    openRoom: openHere,

    client,

    async newCoupon(): Promise<string> {
      return (await client.grantCoupon({ body: { amount: 5 } })).data.coupon
    },

    async register(endpoint: string, more: { encryption_key?: EcPublicKey } = {}): Promise<{ agentId: string; secret: string }> {
      const manifest = { name: 'Dice', description: 'Rolls dice.', instructions: '', price_credits: 3, max_minutes: 30 }
      const { data } = await client.registerAgent({ body: { ...manifest, endpoint, ...more } })
      await client.setAgentStatus({ agentId: data.id, body: { status: 'private' } })
      return { agentId: data.id, secret: data.signing_secret! }
    },

    async launch(agentId: string, secret = newRoom()): Promise<Launched> {
      const { coupon } = (await client.grantCoupon({ body: { amount: 5 } })).data
      const body = { agent_id: agentId, room: secret, coupon, metadata: { table: 'green' } }
      const { data } = await client.launchSession({ body })
      assert.ok('control_token' in data)
      const control = { id: data.id, controlToken: data.control_token }
      return {
        id: data.id,
        room: openHere(secret),
        coupon,
        status: async () => (await client.getSession(control)).data,
        stop: () => client.stopSession(control),
      }
    },

    /** The balance of the coupon, and the part of it that is held. */
    async balance(coupon: string): Promise<[number, number]> {
      const { data } = await client.lookUpWallet({ body: { wallet_code: coupon } })
      return [data.balance, data.held]
    },
  }
}

/** What agents have said in the room so far. */
export async function saidByAgents(room: Room): Promise<Entry[]> {
  try {
    return (await room.poll()).entries.filter(({ author }) => author.kind === 'agent')
  } catch (error) {
    // Nobody has spoken yet.
    if (error instanceof AtriumError && error.code === 'not_found') return []
    throw error
  }
}

export async function eventually<T>(look: () => Promise<T | undefined | false>, what: string, withinMs = 15_000): Promise<T> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const seen = await look()
    if (seen) return seen
    assert.ok(Date.now() < deadline, `not within ${withinMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
