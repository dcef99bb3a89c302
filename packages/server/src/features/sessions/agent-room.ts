import { generateKeyPairSync, hash, type KeyObject } from 'node:crypto'
import { proofContent, proofPayload, type ProvableRequest } from '@atrium/sealing/proof'
import { rateKeyHeader } from '@atrium/traffic/rate-key'
import { CompactSign } from 'jose'
import type { AgentIssuer } from '../agent-issuer/agent-issuer.ts'

/** What the Space service said instead of yes. */
export class RoomRefusal extends Error {
  readonly status: number
  readonly reason: string
  /** Whether the same call may succeed in a while. */
  readonly isPassing: boolean

  constructor(status: number, reason: string, isTokenPassing: boolean) {
    super(`the Space service answered ${status} ${reason}`)
    this.status = status
    this.reason = reason
    this.isPassing = status === 429 || status === 408 || status >= 500 || isTokenPassing
  }
}

export interface RoomEntry {
  seq: number
  id: string
  author: { kind: 'anonymous' | 'account' | 'agent'; id?: string; name?: string; email?: string }
  message: { text: string }
}

export interface RoomPage {
  etag: string
  count: number
  entries: RoomEntry[]
}

export interface RoomMessage {
  text: string
  reply_to?: string
  client_id?: string
}

interface RoomAddress {
  room: string
  mk: string
}

/** A token that is no older goes with the next call too: it lasts longer than a poll is held. */
const tokenReuseMs = 5_000
/** The platform vouches for the agent: a token of its own that is refused so is a matter of clocks, or of keys that are still to be fetched. */
const passingTokenReasons = new Set(['token: expired', 'token: not_yet_valid', 'token: bad_signature'])
/** For this long; after it something is wrong that waiting does not mend. */
const tokenPatienceMs = 120_000
const answerPatienceMs = 10_000

/** A room as an agent sees it: through the Space endpoint, like any client, with a token of the platform's issuer for a key of its own. */
export class AgentRoom {
  readonly #endpoint: string
  readonly #issuer: AgentIssuer
  readonly #agent: { id: string; name: string }
  readonly #address: RoomAddress
  readonly #rateKey: string
  readonly #privateKey: KeyObject
  readonly #spk: { kty: string; crv: string; x: string; y: string }
  #token: { text: Promise<string>; madeAtMs: number } | undefined
  #tokenRefusedAtMs: number | undefined

  /** `rateKey`: all agents call from this machine; by it the Space service counts each on its own, so that a busy one uses up nobody else's limit. */
  constructor(
    spaceOrigin: string,
    issuer: AgentIssuer,
    agent: { id: string; name: string },
    address: RoomAddress,
    rateKey: string,
  ) {
    this.#endpoint = `${spaceOrigin}/space`
    this.#issuer = issuer
    this.#agent = { id: agent.id, name: agent.name }
    this.#address = address
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.#privateKey = privateKey
    const { x, y } = publicKey.export({ format: 'jwk' }) as { x: string; y: string }
    this.#spk = { kty: 'EC', crv: 'P-256', x, y }
    this.#rateKey = rateKey
  }

  poll(
    since: { sinceEtag?: string; sinceCount: number; waitMs?: number; limit?: number },
    signal?: AbortSignal,
  ): Promise<RoomPage> {
    return this.#call<RoomPage>({ op: 'poll', ...since }, answerPatienceMs + (since.waitMs ?? 0), { signal })
  }

  /**
   * Says something. The same client_id is stored once, however often it is said. `assertMay` is called when nothing is left to wait for
   * before it is sent; what it throws keeps it from being sent.
   */
  say(
    { text, reply_to: replyTo, client_id: clientId }: RoomMessage,
    assertMay: () => void,
  ): Promise<{ seq: number; id: string }> {
    const message = { text, reply_to: replyTo, client_id: clientId }
    return this.#call({ op: 'turn', message }, answerPatienceMs, { assertMay })
  }

  async #call<T>(
    body: Omit<ProvableRequest, 'room'> & Record<string, unknown>,
    patienceMs: number,
    { signal, assertMay }: { signal?: AbortSignal | undefined; assertMay?: () => void },
  ): Promise<T> {
    const { room, mk } = this.#address
    const [idToken, proof] = await Promise.all([this.#idToken(), this.#proof({ room, ...body })])
    const timeout = AbortSignal.timeout(patienceMs)
    assertMay?.()
    const res = await fetch(this.#endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json', [rateKeyHeader]: this.#rateKey },
      body: JSON.stringify({ ...body, room, mk, idToken, spk: this.#spk, proof }),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
    const answer = (await res.json()) as T & { reason?: string }
    if (!res.ok) throw this.#refusalOf(res, answer.reason ?? 'unknown')
    this.#tokenRefusedAtMs = undefined
    return answer
  }

  #refusalOf(res: Response, reason: string): RoomRefusal {
    if (!passingTokenReasons.has(reason)) return new RoomRefusal(res.status, reason, false)
    this.#token = undefined
    this.#issuer.followClock(res.headers.get('date'))
    this.#tokenRefusedAtMs ??= performance.now()
    return new RoomRefusal(res.status, reason, performance.now() - this.#tokenRefusedAtMs < tokenPatienceMs)
  }

  async #idToken(): Promise<string> {
    // By the monotonic clock: a process that was stopped makes a new one.
    if (!this.#token || performance.now() - this.#token.madeAtMs > tokenReuseMs) {
      const token = { text: this.#issuer.issue(this.#agent, this.#spk), madeAtMs: performance.now() }
      this.#token = token
      // A failure is not kept: the next call asks again.
      token.text.catch(() => {
        if (this.#token === token) this.#token = undefined
      })
    }
    return this.#token.text
  }

  #proof(request: ProvableRequest): Promise<string> {
    const payload = proofPayload(request, hash('sha256', proofContent(request), 'hex'))
    return new CompactSign(payload).setProtectedHeader({ alg: 'ES256' }).sign(this.#privateKey)
  }
}
