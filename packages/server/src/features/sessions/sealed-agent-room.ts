import { hash } from 'node:crypto'
import { ListedConnection } from '@atrium/room-client/listed-connection'
import type { ListedEntry } from '@atrium/room-client/listed-types'
import { pageLines, type Since } from '@atrium/room-client/follow-room'
import type { RoomDevice } from '@atrium/room-client/room-device'
import { findAgentId } from '@atrium/room-client/seal-for-agent'
import { SpaceCallError } from '@atrium/room-client/space-call-error'
import type { RoomPage } from '@atrium/room-client/space-ops'
import { findTurn, type Turn } from '@atrium/room-client/turn'
import { rateKeyHeader } from '@atrium/traffic/rate-key'
import type { HeldRoom, RoomEntry, RoomMessage } from './agent-room.ts'

interface SealedRoomOptions {
  spaceOrigin: string
  /** The origin of the Space service, which signatures name. */
  audience: string
  room: string
  owner: string
  device: RoomDevice
  agent: { id: string; name: string }
  rateKey: string
}

const historyEntries = 100
const maxCharacters = 16_384

/**
 * A client-sealed room as a hosted agent uses it: with a device that the owner has let in, and with every check that any
 * client makes. It is read from its first line on, because only so is it known who may write.
 */
export class SealedAgentRoom implements HeldRoom {
  readonly #agent: { id: string; name: string }
  readonly #key: string
  readonly #connection: ListedConnection
  /** The ids of this agent's messages, also of those that an earlier worker wrote. */
  readonly #said = new Set<string>()
  #assertMay: (() => void) | undefined

  constructor({ spaceOrigin, audience, room, owner, device, agent, rateKey }: SealedRoomOptions) {
    this.#agent = agent
    this.#key = device.signing.thumbprint
    const send: typeof fetch = (input, init) => {
      this.#assertMay?.()
      const headers = new Headers(init?.headers)
      headers.set(rateKeyHeader, rateKey)
      return fetch(input, { ...init, headers })
    }
    const spaceUrl = `${spaceOrigin}/space`
    this.#connection = new ListedConnection({ spaceUrl, audience, room, owner, device, fetch: send, retries: 0 })
  }

  /** Opens the whole history. Throws SpaceCallError 403 `no_consent` unless the list names this device as the agent's. */
  async enter(poll: (call: () => Promise<RoomPage>) => Promise<RoomPage>): Promise<{ entries: RoomEntry[]; since: Since }> {
    const entries: RoomEntry[] = []
    for (let read = 0; ;) {
      const { count, etag, entries: more } = await poll(() => this.#page({ waitMs: 0, limit: pageLines }))
      entries.push(...more)
      entries.splice(0, entries.length - historyEntries)
      if (count > read) {
        read = count
        continue
      }
      const own = (await this.#connection.list()).members.find(({ key }) => key === this.#key)
      if (own?.hostedAgent !== this.#agent.id) throw noConsent()
      return { entries, since: { sinceCount: count, sinceEtag: etag } }
    }
  }

  /** What follows on what was read before. */
  poll({ waitMs = 0, limit = pageLines }: Partial<Since> & { waitMs?: number; limit?: number }, signal?: AbortSignal) {
    return this.#page({ waitMs, limit }, signal)
  }

  async say({ text, reply_to, client_id }: RoomMessage & { client_id: string }, assertMay: () => void): Promise<void> {
    if (this.#said.has(client_id)) return
    const at = new Date().toISOString()
    const cut = text.length > maxCharacters ? [...text].slice(0, maxCharacters).join('') : text
    const turn: Turn = { t: 'turn', id: client_id, at, text: cut, ...(reply_to !== undefined && { reply_to }) }
    // A line that no reader accepts would end the room for everybody.
    if (!findTurn(turn)) throw new Error('the agent has said what is no message')
    this.#assertMay = assertMay
    try {
      // The service stores one line with this value, whichever worker sends it.
      await this.#connection.append(turn, undefined, hash('sha256', client_id, 'base64url'))
    } finally {
      this.#assertMay = undefined
    }
    this.#said.add(client_id)
  }

  isPassing(error: unknown): boolean {
    return error instanceof SpaceCallError && (error.isPassing || error.reason === 'bad_clock')
  }

  async #page(how: { waitMs: number; limit: number }, signal?: AbortSignal): Promise<RoomPage> {
    const { count, etag, entries } = await this.#connection.readPage(how, signal)
    return { count, etag, policy: 'email', entries: entries.map((entry) => this.#entryOf(entry)) }
  }

  #entryOf(entry: ListedEntry): ListedEntry {
    const { key, hostedAgent, invitedAs, name } = entry.member
    if (key === this.#key) this.#said.add(entry.id)
    const id = key === this.#key ? this.#agent.id : (hostedAgent ?? findAgentId(invitedAs))
    return id === undefined ? entry : { ...entry, author: { kind: 'agent', id, ...(name !== undefined && { name }), key } }
  }
}

function noConsent(): SpaceCallError {
  const message = 'the list of the room does not name this device as that of the agent'
  return new SpaceCallError({ status: 403, error: 'not_authorized', reason: 'no_consent', message })
}
