import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CatalogAgent, LaunchRequest } from '../api/platform-api.ts'
import { stubLog } from './stub-log.ts'
import { readBody } from './read-body.ts'
import type { StubRooms } from './stub-rooms.ts'

interface StubSession {
  readonly id: string
  readonly controlToken: string
  readonly agent: CatalogAgent
  readonly room: { room: string; mk: string }
  readonly coupon: string
  readonly expiresAt: string
  status: 'launching' | 'running' | 'stopped'
}

export interface ApiAnswer {
  readonly status: number
  readonly code: string
  readonly reason?: string
  readonly path?: string
}

/** Recognises credentials by their form. The stub needs no more. */
export const STUB_PUBLISHABLE_KEY = 'wpk_000000000000000000000000000000000000'

/**
 * The platform's API with agents in memory, at an origin of its own, because the tests cover the page's policy and
 * CORS too.
 */
export async function startStubApi(rooms: StubRooms) {
  const log = stubLog()
  const agents: CatalogAgent[] = []
  /** Credits by coupon. */
  const coupons = new Map<string, number>()
  const sessions: StubSession[] = []
  const answers = new Map<string, { status: number; body: string }>()
  /** Idempotency keys of launches, as they came. */
  const presses: string[] = []
  /** What happens to the next launches: an error answer, or a launch whose connection is cut before the answer. */
  const troubles: (ApiAnswer | 'lose the answer')[] = []
  /** Whether agents that were launched join. */
  const arrivals = { on: true }

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '/', origin)
    const bearer = /^Bearer (.+)$/.exec(req.headers.authorization ?? '')?.[1]
    res.setHeader('access-control-allow-origin', '*')
    const send = (status: number, body: string) => void res.writeHead(status, { 'content-type': 'application/json' }).end(body)
    const refuse = ({ status, ...error }: ApiAnswer) => send(status, errorBody(error))
    if (req.method === 'OPTIONS') {
      res.setHeader('access-control-allow-headers', 'Authorization, Idempotency-Key, Content-Type')
      return void res.writeHead(204).end()
    }
    if (await log.answer(url, res)) return
    if (url.pathname.startsWith('/v1/') && bearer !== STUB_PUBLISHABLE_KEY) return refuse({ status: 401, code: 'unauthorized' })
    if (url.pathname === '/v1/catalog') return send(200, catalogPage(url.searchParams))
    if (url.pathname === '/v1/sessions') {
      const key = String(req.headers['idempotency-key'])
      presses.push(key)
      const trouble = troubles.shift()
      if (trouble && trouble !== 'lose the answer') return refuse(trouble)
      const made = answers.get(key) ?? launch(JSON.parse(await readBody(req)))
      if (made.status < 300) answers.set(key, made)
      // After the first byte of an answer, browsers do not repeat the request themselves.
      if (trouble) return void res.writeHead(made.status, { 'content-length': '99' }).write('{', () => res.destroy())
      return send(made.status, made.body)
    }
    const [, id, stop] = /^\/sessions\/(\w+)(\/stop)?$/.exec(url.pathname) ?? []
    const session = sessions.find((one) => one.id === id && one.controlToken === bearer)
    if (!session) return refuse({ status: 401, code: 'unauthorized' })
    if (stop) session.status = 'stopped'
    send(200, JSON.stringify({ data: stop ? { sessionId: id, status: 'stopped' } : statusOf(session) }))
    // The agent joins after a status request, so that the page shows it as coming first.
    if (session.status === 'launching' && arrivals.on) arrive(session)
  }

  function catalogPage(query: URLSearchParams): string {
    const [from, limit] = [Number(query.get('cursor') ?? 0), Number(query.get('limit'))]
    const more = from + limit < agents.length
    return JSON.stringify({ data: agents.slice(from, from + limit), meta: more ? { next_cursor: String(from + limit) } : {} })
  }

  function launch({ agent_id: agentId, room, coupon, max_price_credits: limit }: LaunchRequest) {
    const agent = agents.find(({ id }) => id === agentId)
    if (!agent) return { status: 400, body: errorBody({ code: 'invalid_request', path: '/agent_id' }) }
    if (agent.price_credits > limit) {
      const detail = { path: '/max_price_credits', message: 'is too low', price_credits: agent.price_credits }
      return { status: 409, body: JSON.stringify({ error: { code: 'price_changed', details: [detail] } }) }
    }
    const balance = coupons.get(coupon)
    if (balance === undefined || balance < agent.price_credits)
      return { status: 402, body: errorBody({ code: 'insufficient_credit' }) }
    // The stub has no rooms whose lines the clients seal.
    if (!('mk' in room)) return { status: 400, body: errorBody({ code: 'invalid_request', path: '/room/sealed_key' }) }
    const listStatus = rooms.agentStatus(room, agentId)
    if (listStatus !== 'listed') {
      const reason = listStatus === 'revoked' ? 'revoked' : 'not_on_list'
      return { status: 403, body: errorBody({ code: 'not_authorized', reason }) }
    }
    const present = sessions.find((one) => one.status !== 'stopped' && one.agent === agent && one.room.room === room.room)
    const shared = { agent_id: agentId, room: room.room }
    if (present) return { status: 200, body: JSON.stringify({ data: { id: present.id, ...shared, already_present: true } }) }
    coupons.set(coupon, balance - agent.price_credits)
    const [id, controlToken] = [`ses_${randomBytes(11).toString('hex')}`, `sct_${randomBytes(18).toString('hex')}`]
    const expiresAt = new Date(Date.now() + agent.max_minutes * 60_000).toISOString()
    sessions.push({ id, controlToken, agent, room, coupon, expiresAt, status: 'launching' })
    const data = { id, ...shared, status: 'launching', control_token: controlToken, expires_at: expiresAt }
    return { status: 201, body: JSON.stringify({ data }) }
  }

  function arrive(session: StubSession): void {
    session.status = 'running'
    const { agent, room } = session
    rooms.add(room, {
      t: 'turn',
      id: randomBytes(16).toString('base64url'),
      at: new Date().toISOString(),
      author: { kind: 'agent', id: agent.id, name: agent.name },
      message: { text: 'Here I am.' },
    })
  }

  const server = createServer((req, res) => {
    answer(req, res).catch(() => res.writeHead(500).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`
  return {
    origin,
    log,
    agents,
    coupons,
    sessions,
    presses,
    troubles,
    arrivals,
    /** Removes all agents and launches. */
    reset() {
      for (const list of [agents, sessions, presses, troubles]) list.length = 0
      arrivals.on = true
    },
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}

export type StubApi = Awaited<ReturnType<typeof startStubApi>>

function statusOf({ id, agent, room, status, expiresAt }: StubSession) {
  return {
    id,
    agent_id: agent.id,
    room: room.room,
    status,
    charged_credits: status === 'stopped' ? agent.price_credits : 0,
    joined_at: status === 'launching' ? null : new Date().toISOString(),
    expires_at: expiresAt,
  }
}

function errorBody({ code, reason, path }: Omit<ApiAnswer, 'status'>): string {
  const details = path === undefined ? undefined : [{ path, message: 'is wrong' }]
  return JSON.stringify({ error: { code, message: code, reason, details } })
}
