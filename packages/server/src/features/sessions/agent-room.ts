import { type KeyObject, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { type CallOptions, type SpaceEndpoint, callSpace } from '@atrium/room-client/call-space'
import { pageLines, pastTheEnd, type Since } from '@atrium/room-client/follow-room'
import type { DevicePublicKey, RoomIdentity } from '@atrium/room-client/identity'
import { SpaceCallError } from '@atrium/room-client/space-call-error'
import type { Entry, RoomPage, SaidEntry } from '@atrium/room-client/space-ops'
import { rateKeyHeader } from '@atrium/traffic/rate-key'
import type { RoomDevice } from '@atrium/room-client/room-device'
import { ApiError, invalid } from '#errors/api-error.ts'
import type { AgentIssuer } from '#features/agent-issuer/agent-issuer.ts'
import type { Consent } from './hosted-consent.ts'
import type { SealedAgentRoom } from './sealed-agent-room.ts'

/** The part of an entry that an agent reads. */
export type RoomEntry = Pick<Entry, 'seq' | 'id' | 'author' | 'message'>

export interface RoomMessage {
  text: string
  reply_to?: string
  client_id?: string
}

interface RoomAddress {
  room: string
  mk: string
}

/** A room in which an agent is. */
export interface HeldRoom {
  /** The end of the history, and the place after it. `poll`: tries a call until it is answered. */
  enter(poll: (call: () => Promise<RoomPage>) => Promise<RoomPage>): Promise<{ entries: RoomEntry[]; since: Since }>
  poll(since: Partial<Since> & { waitMs?: number; limit?: number }, signal?: AbortSignal): Promise<RoomPage>
  /** Posts a message. The same client_id is stored once. If `assertMay` throws, nothing is sent. */
  say(message: RoomMessage & { client_id: string }, assertMay: () => void): Promise<unknown>
  /** Whether a call that failed in this way may succeed later. */
  isPassing(error: unknown): boolean
}

const historyEntries = 100

/** A token up to this age is used again for the next call: it is valid for longer than a poll is held. */
const tokenReuseMs = 5_000
/**
 * The refusals of a valid token that may be temporary: they are caused by clocks that differ, or by keys that the
 * service has not fetched yet.
 */
const passingTokenReasons = new Set(['token: expired', 'token: not_yet_valid', 'token: bad_signature'])
/** How long such a refusal is retried. After that time the cause is another one. */
const tokenTimeoutMs = 120_000

/**
 * A room as an agent uses it: through the Space endpoint, like any client, with a token of the platform's issuer for
 * a device key of its own.
 */
export class AgentRoom implements HeldRoom {
  readonly #endpoint: SpaceEndpoint
  readonly #issuer: AgentIssuer
  readonly #agent: { id: string; name: string }
  readonly #address: RoomAddress
  readonly #privateKey: KeyObject
  readonly #spk: DevicePublicKey
  #token: { text: Promise<string>; madeAtMs: number } | undefined
  #tokenRefusedAtMs: number | undefined

  /**
   * `rateKey`: all agents call from this machine, so Space counts each by this key. A busy agent does not use up the
   * limit of others.
   */
  constructor(
    spaceOrigin: string,
    issuer: AgentIssuer,
    agent: { id: string; name: string },
    address: RoomAddress,
    rateKey: string,
  ) {
    this.#endpoint = { url: `${spaceOrigin}/space`, headers: { [rateKeyHeader]: rateKey } }
    this.#issuer = issuer
    this.#agent = { id: agent.id, name: agent.name }
    this.#address = address
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.#privateKey = privateKey
    const { x, y } = publicKey.export({ format: 'jwk' })
    if (!x || !y) throw new Error('the public part of a P-256 key has two coordinates')
    this.#spk = { kty: 'EC', crv: 'P-256', x, y }
  }

  poll(since: Partial<Since> & { waitMs?: number; limit?: number }, signal?: AbortSignal): Promise<RoomPage> {
    return this.#watched(callSpace(this.#endpoint, { op: 'poll', ...this.#address, ...since }, this.#options({ signal })))
  }

  /** A room without a line does not exist yet. */
  async enter(poll: (call: () => Promise<RoomPage>) => Promise<RoomPage>): Promise<{ entries: RoomEntry[]; since: Since }> {
    const head = await poll(() => this.poll({ ...pastTheEnd, limit: 1 })).catch(unlessMissing)
    if (!head || head.count === 0) return { entries: [], since: { sinceCount: 0, sinceEtag: '' } }
    const entries: RoomEntry[] = []
    for (let since: Since = { sinceCount: Math.max(0, head.count - historyEntries), sinceEtag: '' }; ;) {
      const from = { ...since, limit: pageLines }
      const page = await poll(() => this.poll(from))
      entries.push(...page.entries)
      since = { sinceCount: page.count, sinceEtag: page.etag }
      // A page of large lines is cut and has only the oldest of them. A page without news: the room was replaced meanwhile.
      if (page.count >= head.count || page.count <= from.sinceCount) return { entries, since }
    }
  }

  /**
   * Posts a message. The same client_id is stored once, however often it is posted. `assertMay` is called right
   * before the request is sent; if it throws, nothing is sent.
   */
  say({ text, reply_to, client_id }: RoomMessage, assertMay: () => void): Promise<SaidEntry> {
    const message = { text, ...(reply_to !== undefined && { reply_to }), ...(client_id !== undefined && { client_id }) }
    const options = this.#options({ beforeSend: assertMay })
    return this.#watched(callSpace(this.#endpoint, { op: 'turn', ...this.#address, message }, options))
  }

  /** Whether a call that failed in this way may succeed later. */
  isPassing(error: unknown): boolean {
    if (!(error instanceof SpaceCallError)) return false
    if (!passingTokenReasons.has(error.reason)) return error.isPassing
    return this.#tokenRefusedAtMs !== undefined && performance.now() - this.#tokenRefusedAtMs < tokenTimeoutMs
  }

  #options(more: CallOptions): CallOptions {
    return { identity: () => this.#identity(), ...more }
  }

  /** Notes whether the token was refused. If so, the next call uses a new token, with the time of the service. */
  async #watched<T>(call: Promise<T>): Promise<T> {
    try {
      const answer = await call
      this.#tokenRefusedAtMs = undefined
      return answer
    } catch (error) {
      if (error instanceof SpaceCallError && passingTokenReasons.has(error.reason)) {
        this.#token = undefined
        this.#issuer.followClock(error.headers?.get('date') ?? null)
        this.#tokenRefusedAtMs ??= performance.now()
      }
      throw error
    }
  }

  async #identity(): Promise<RoomIdentity> {
    const key = { key: this.#privateKey, dsaEncoding: 'ieee-p1363' } as const
    return { idToken: await this.#idToken(), spk: this.#spk, sign: async (bytes) => sign('sha256', bytes, key) }
  }

  async #idToken(): Promise<string> {
    // By the monotonic clock, which continues while the process is stopped, so that a stopped process makes a new
    // token.
    if (!this.#token || performance.now() - this.#token.madeAtMs > tokenReuseMs) {
      const token = { text: this.#issuer.issue(this.#agent, this.#spk), madeAtMs: performance.now() }
      this.#token = token
      // A failure is not cached: the next call tries again.
      token.text.catch(() => {
        if (this.#token === token) this.#token = undefined
      })
    }
    return this.#token.text
  }
}

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof SpaceCallError) || error.status !== 404) throw error
}

interface Agent {
  id: string
  name: string
}

/** Opens rooms of the Space service for agents. */
export class AgentRooms {
  readonly #spaceOrigin: string
  readonly #issuer: AgentIssuer
  readonly #audience: string

  /** `audience`: the origin of the service as clients see it, which their signatures name. */
  constructor(spaceOrigin: string, issuer: AgentIssuer, audience: string) {
    this.#spaceOrigin = spaceOrigin
    this.#issuer = issuer
    this.#audience = audience
  }

  /** `rateKey`: the key of the rate limits, such as `session:<id>`. */
  open(agent: Agent, address: RoomAddress, rateKey: string): AgentRoom {
    return new AgentRoom(this.#spaceOrigin, this.#issuer, agent, address, rateKey)
  }

  /**
   * Throws if the agent may not enter the room. Returns how many lines the room has: later lines are addressed to
   * the agent, even those before it joins. A room that does not exist yet is created by the first message in it.
   */
  async assertEnters(agent: Agent, address: RoomAddress): Promise<number> {
    // There is no session yet. The limit is per room, so that a busy room does not delay launches into others.
    const room = this.open(agent, address, `room:${address.room}`)
    const count = () => room.poll({ ...pastTheEnd, limit: 1 }).then((page) => page.count)
    // If the clock of this machine made the first token invalid, the second one has the right time.
    const isClockWrong = (error: unknown) =>
      error instanceof SpaceCallError && error.reason.startsWith('token: ') && room.isPassing(error)
    try {
      return await count().catch((error: unknown) => (isClockWrong(error) ? count() : Promise.reject(error)))
    } catch (error) {
      if (!(error instanceof SpaceCallError)) throw unavailable(error)
      if (error.status === 404) return 0
      throw refusalOf(error, room.isPassing(error))
    }
  }

  /** A client-sealed room, whose owner has let in this device. Its cryptography is loaded with the first one. */
  async openSealed(
    agent: Agent,
    { room, owner, device }: { room: string; owner: string; device: RoomDevice },
    rateKey: string,
  ): Promise<SealedAgentRoom> {
    const { SealedAgentRoom } = await import('./sealed-agent-room.ts')
    return new SealedAgentRoom({
      spaceOrigin: this.#spaceOrigin,
      audience: this.#audience,
      room,
      owner,
      device,
      agent: { id: agent.id, name: agent.name },
      rateKey,
    })
  }

  /** Throws state_conflict unless the owner of the room has consented to this device of the agent, in the list in force. */
  async getConsent(agent: Agent, room: string, device: RoomDevice): Promise<Consent> {
    const endpoint = { url: `${this.#spaceOrigin}/space`, headers: { [rateKeyHeader]: `room:${room}` } }
    const { findConsent } = await import('./hosted-consent.ts')
    try {
      const consent = await findConsent(endpoint, this.#audience, { room, agentId: agent.id, device })
      if (consent) return consent
    } catch (error) {
      // 403: the device is not on the list. 404: the room was removed.
      if (!(error instanceof SpaceCallError) || ![403, 404].includes(error.status) || error.reason === 'bad_clock')
        throw unavailable(error)
    }
    throw new ApiError('state_conflict', { message: noConsent, reason: 'no_consent' })
  }

  /** Throws unless the clients seal the lines of this room. The service says so to whoever asks, with any key. */
  async assertClientSealed(
    agent: Agent,
    room: string,
    path: '/room/sealed_key' | '/room/mk' = '/room/sealed_key',
  ): Promise<void> {
    try {
      await this.open(agent, { room, mk: randomBytes(32).toString('base64url') }, `room:${room}`).poll({
        ...pastTheEnd,
        limit: 1,
      })
    } catch (error) {
      if (!(error instanceof SpaceCallError) || error.isPassing) throw unavailable(error)
      if (error.reason === 'client_sealed') return
      if (error.status === 404) throw invalid('/room/room', 'there is no such room: its owner makes it before the launch')
    }
    throw invalid(path, 'the clients do not seal the lines of this room: give `mk` instead')
  }
}

const clientSealed =
  'The clients seal the lines of this room, and no server receives its key. Launch a remote agent that the catalog ' +
  'shows with an `encryption_key`, with `room.sealed_key` in place of `room.mk`. For a hosted agent, prepare the launch ' +
  'with `arm` and neither of both. Or launch into a room of the other kind.'

const noConsent =
  'The list of the room does not name the device of this launch, so its owner has not consented that the operator of the ' +
  'agent reads along. The owner writes a list with `hosted` and the `card` of the prepared launch; then repeat the call ' +
  'with a new Idempotency-Key. Nothing was charged.'

function refusalOf(error: SpaceCallError, isPassing: boolean): ApiError {
  const { status, reason } = error
  if (status === 403 && !isPassing)
    return new ApiError('not_authorized', { message: `The room does not let this agent in: ${reason}.`, reason })
  if (status === 400) return invalid('/room', reason)
  if (status === 409 && reason === 'client_sealed') return new ApiError('state_conflict', { message: clientSealed, reason })
  return unavailable(error)
}

function unavailable(cause: unknown): ApiError {
  return new ApiError('unavailable', { message: 'The Space service cannot be reached.', retryAfterSeconds: 2, cause })
}
