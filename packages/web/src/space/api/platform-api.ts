import { isUncertain } from '@atrium/room-client/retry'
import type { SealedAgent } from '@atrium/room-client/seal-for-agent'

/** An agent as the public catalog shows it. */
export interface CatalogAgent extends SealedAgent {
  readonly name: string
  readonly description: string
  readonly price_credits: number
  readonly max_minutes: number
  /** remote: runs on its owner's machine, and the owner gets the room's key. */
  readonly hosting: 'hosted' | 'remote'
  readonly rating: { readonly average: number | null; readonly count: number }
}

export interface CatalogPage {
  readonly agents: readonly CatalogAgent[]
  readonly nextCursor: string | undefined
}

export interface LaunchRequest {
  readonly agent_id: string
  /** `sealed_key`: what only the agent can open, for a room whose key no server gets. */
  readonly room: { readonly room: string } & ({ readonly mk: string } | { readonly sealed_key: string })
  readonly coupon: string
  /** As it was shown: a higher one is not charged. */
  readonly max_price_credits: number
}

/** The launch of an agent that the operator runs, into a room whose key no server gets: it waits for the owner's consent. */
export interface PreparedLaunch {
  /** Of the pending launch. */
  readonly id: string
  readonly summon_key: string
  /** The card of the device with which the operator reads along. */
  readonly card: string
  readonly expires_at: string
}

export interface LaunchedSession {
  readonly id: string
  readonly control_token: string
  readonly expires_at: string
}

/** The same agent is already in the room: nothing was launched or paid for. */
export interface AlreadyPresent {
  readonly already_present: true
}

export interface SessionStatus {
  readonly status: 'launching' | 'running' | 'paused' | 'stopping' | 'stopped' | 'failed' | 'expired'
  readonly charged_credits: number
  readonly joined_at: string | null
  readonly expires_at: string
}

/** The API said no, and why. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure'
  readonly status: number
  readonly code: string
  readonly reason: string
  /** The fields that are wrong, such as `/agent_id`. */
  readonly paths: readonly string[]
  /** With price_changed: what it costs now. */
  readonly priceCredits: number | undefined
  readonly retryAfterMs: number | undefined

  constructor(status: number, body: ErrorBody, retryAfterMs?: number) {
    const { code = 'unknown', reason = '', details = [] } = body.error ?? {}
    super(`${status} ${code}`)
    this.status = status
    this.code = code
    this.reason = reason
    this.paths = details.map(({ path }) => path)
    this.priceCredits = details.find((detail) => detail.price_credits !== undefined)?.price_credits
    this.retryAfterMs = retryAfterMs
  }

  /** Whether the same request may succeed later. */
  get isPassing(): boolean {
    return isUncertain(this)
  }
}

/** No answer arrived: offline, the API is down, or a timeout. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

interface ErrorBody {
  error?: { code?: string; reason?: string; details?: { path: string; price_credits?: number }[] }
}

interface Call {
  method: 'GET' | 'POST'
  path: string
  /** A publishable key, or the control token of a session. Absent: the body has a key. */
  bearer?: string
  idempotencyKey?: string
  body?: object
}

interface Answer {
  data: unknown
  meta?: { next_cursor?: string }
}

const TIMEOUT_MS = 20_000

/**
 * The API of the platform, as far as this page uses it, called with a publishable key or with the control token of a
 * session that this page launched.
 */
export class PlatformApi {
  readonly #origin: string
  readonly #key: string

  constructor(origin: string, key: string) {
    this.#origin = origin
    this.#key = key
  }

  async listCatalog(cursor?: string): Promise<CatalogPage> {
    const query = new URLSearchParams({ limit: '20', ...(cursor !== undefined && { cursor }) })
    const call = { method: 'GET', path: `/v1/catalog?${query}`, bearer: this.#key } as const
    const { data, meta } = await this.#call(call)
    return { agents: data as readonly CatalogAgent[], nextCursor: meta?.next_cursor }
  }

  /** Launches and charges once, however often it is sent with the same key. */
  async launch(body: LaunchRequest, idempotencyKey: string): Promise<LaunchedSession | AlreadyPresent> {
    const call = { method: 'POST', path: '/v1/sessions', bearer: this.#key, idempotencyKey, body } as const
    return (await this.#call(call)).data as LaunchedSession | AlreadyPresent
  }

  /** Charges nothing. */
  async prepare(
    body: Omit<LaunchRequest, 'room'> & { readonly room: { readonly room: string } },
    idempotencyKey: string,
  ): Promise<PreparedLaunch> {
    const call = { method: 'POST', path: '/v1/sessions', bearer: this.#key, idempotencyKey } as const
    return (await this.#call({ ...call, body: { ...body, arm: true } })).data as PreparedLaunch
  }

  /** Launches and charges once, however often it is sent with the same key. */
  async summon(summonKey: string, idempotencyKey: string): Promise<LaunchedSession> {
    const body = { summon_key: summonKey }
    return (await this.#call({ method: 'POST', path: '/sessions/summon', idempotencyKey, body })).data as LaunchedSession
  }

  async getSession(id: string, controlToken: string): Promise<SessionStatus> {
    return (await this.#call({ method: 'GET', path: `/sessions/${id}`, bearer: controlToken })).data as SessionStatus
  }

  async stopSession(id: string, controlToken: string): Promise<void> {
    await this.#call({ method: 'POST', path: `/sessions/${id}/stop`, bearer: controlToken })
  }

  async #call({ method, path, bearer, idempotencyKey, body }: Call): Promise<Answer> {
    const headers = {
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    try {
      const res = await fetch(this.#origin + path, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
        cache: 'no-store',
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      if (res.ok) return (await res.json()) as Answer
      throw await failureOf(res)
    } catch (error) {
      if (error instanceof ApiFailure) throw error
      throw new Unreachable('no answer', { cause: error })
    }
  }
}

async function failureOf(res: Response): Promise<ApiFailure> {
  const body = (await res.json().catch(() => ({}))) as ErrorBody
  const seconds = Number(res.headers.get('retry-after') ?? Number.NaN)
  return new ApiFailure(res.status, body, Number.isFinite(seconds) ? seconds * 1_000 : undefined)
}
