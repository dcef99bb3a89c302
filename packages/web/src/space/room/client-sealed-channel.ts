import type { CallOptions } from '@atrium/room-client/call-space'
import type { Since } from '@atrium/room-client/follow-room'
import { farewellRecord, type FoundFarewell, policyRecord, turnRecord } from '@atrium/room-client/line-reader'
import { PagesAhead } from '@atrium/room-client/pages-ahead'
import { sealLine } from '@atrium/room-client/seal-line'
import { SpaceCallError } from '@atrium/room-client/space-call-error'
import type { AnswerOf, RoomPage } from '@atrium/room-client/space-ops'
import { type ClientKeys, deriveClientKeys, sealClientLine, signRequest } from '@atrium/sealing/client-sealed'
import type { RoomSecret } from '@atrium/sealing/room-secret'
import { callSpace, RETRIES } from '../api/space-client.ts'
import { keyOf } from '../identity/present.ts'
import { guestName } from '../components/guest-name.ts'
import type { RoomLink } from '../room-link.ts'
import { getServiceOrigin } from '../service.ts'
import type { Channel, ReadOptions, Said } from './channel.ts'
import { LineOpener, type Opened } from './line-opener.ts'

/** Signs the requests, for this service alone. */
function signedBy(keys: ClientKeys): Pick<CallOptions, 'sign'> {
  return { sign: (request) => signRequest(keys, request, { audience: getServiceOrigin() }) }
}

const START: Since = { sinceCount: 0, sinceEtag: '' }

/** An open room whose lines this app seals and opens. */
export class ClientSealedChannel implements Channel {
  readonly #link: RoomLink
  #deriving: Promise<ClientKeys> | undefined
  #opener: LineOpener | undefined
  #position: Since = START
  #farewell: FoundFarewell | undefined
  #pages = this.#newPages()

  constructor(link: RoomLink) {
    this.#link = link
  }

  get farewell(): FoundFarewell | undefined {
    return this.#farewell
  }

  async begin(): Promise<Since> {
    this.close()
    this.#opener = new LineOpener()
    const { position } = await this.#opener.open(this.#link)
    this.#position = position
    return position
  }

  async read(since: Since, options: ReadOptions): Promise<RoomPage> {
    // A page whose lines the worker has opened may not have arrived, because it failed or the request was aborted.
    if (!this.#opener || since.sinceCount !== this.#position.sinceCount) await this.begin()
    const from = this.#position
    const page = await this.#pages.next(from, options, { limit: options.limit, signal: options.signal, waitMs: 0 })
    const { position, entries, farewell } = await this.#take(page)
    this.#position = position
    this.#farewell = farewell
    return { count: page.count, etag: page.etag, policy: 'open', entries }
  }

  async say({ clientId, text, replyTo, name }: Said, signal: AbortSignal) {
    const content = turnRecord({ id: clientId, text, name: await this.#nameOr(name), replyTo })
    return { seq: await this.#append(clientId, content, { signal }), id: clientId }
  }

  async leave({ id, name, to }: { id: string; name: string | undefined; to: RoomSecret | undefined }): Promise<void> {
    await this.#append(id, farewellRecord({ id, name: await this.#nameOr(name), to }), { retries: RETRIES })
  }

  /** Nobody checks a name here. One that is derived from a key of this device tells guests apart. */
  async #nameOr(name: string | undefined): Promise<string> {
    return name ?? guestName((await keyOf(this.#link.room, 'guest')).thumbprint)
  }

  /** Another line with the same id, such as one that was sealed by an earlier visit, is not stored again. */
  async #append(id: string, content: string, how: CallOptions): Promise<number> {
    const { room } = this.#link
    const keys = await this.#derive()
    const { sinceCount, sinceEtag } = this.#position
    // The room was left, or opens again. A line whose author has seen none would end the room for every reader.
    if (sinceCount === 0) throw new SpaceCallError({ status: 0, error: 'network_error', message: 'the room is not open' })
    const line = await sealLine(keys, { seen: { seq: sinceCount - 1, hash: sinceEtag }, content })
    return (await callSpace({ op: 'append', room, line, dedupe: id }, { ...signedBy(keys), ...how })).seq
  }

  close(): void {
    this.#opener?.close()
    this.#opener = undefined
    this.#pages = this.#newPages()
    this.#position = START
  }

  async #take(page: AnswerOf<'read'>): Promise<Opened> {
    if (!this.#opener) throw new Error('the room was left')
    return this.#opener.take(page)
  }

  #derive(): Promise<ClientKeys> {
    return (this.#deriving ??= deriveClientKeys(this.#link))
  }

  async #fetch(since: Since, { waitMs, limit, ...how }: ReadOptions): Promise<AnswerOf<'read'>> {
    const keys = await this.#derive()
    const request = { op: 'read' as const, room: this.#link.room, ...since, waitMs, limit }
    return callSpace(request, { ...signedBy(keys), ...how })
  }

  #newPages(): PagesAhead<ReadOptions> {
    return new PagesAhead((from, how) => this.#fetch(from, how))
  }
}

/** Creates a room whose key stays with those who have its link. Called again, it finds the room. */
export async function makeClientSealedRoom(secret: RoomSecret): Promise<RoomLink> {
  const link: RoomLink = { ...secret, kind: 'client-sealed' }
  const keys = await deriveClientKeys(link)
  const line = await sealClientLine(keys, { content: policyRecord })
  await ifNew(callSpace({ op: 'make', room: link.room, access: keys.access, line }, { ...signedBy(keys), retries: RETRIES }))
  return link
}

/** Ignores that the room exists: then an earlier attempt has made it. Nobody else knows its name. */
export async function ifNew(making: Promise<unknown>): Promise<void> {
  await making.catch((error: unknown) => {
    if (!(error instanceof SpaceCallError) || error.error !== 'room_exists') throw error
  })
}
