import { type ClientKeys, deriveClientKeys, sealClientLine, signRequest } from '@atrium/sealing/client-sealed'
import { assertRoomSecret, type RoomSecret } from '@atrium/sealing/room-secret'
import { placeLine } from '@atrium/sealing/signed-request'
import { type CallOptions, callSpace } from '@atrium/room-client/call-space'
import { followPages, pollUntilAnswered } from '@atrium/room-client/follow-room'
import { farewellRecord, type FoundFarewell, LineReader, policyRecord, turnRecord } from '@atrium/room-client/line-reader'
import { newRoomSecret, randomId } from '@atrium/room-client/new-room-secret'
import { sealLine } from '@atrium/room-client/seal-line'
import { SpaceCallError } from '@atrium/room-client/space-call-error'
import { TamperedRoomError } from '@atrium/room-client/tampered-room-error'
import type { FollowOptions } from './follow-room.ts'
import { wait as delay, type Wait } from './retry.ts'
import { asAtriumError, converted, endpointAt, type Entry } from './room-call.ts'

export type { FoundFarewell } from '@atrium/room-client/line-reader'
export { LineTooLongError } from '@atrium/room-client/seal-line'
export { TamperedRoomError, type TamperProblem } from '@atrium/room-client/tampered-room-error'

export interface ClientSealedRoomOptions extends RoomSecret {
  /** The Space endpoint, such as https://api.example/v1/space. */
  spaceUrl: string
  /** The origin of the Space service, which signatures name. Default: that of `spaceUrl`. */
  audience?: string
  /** A name that messages carry. Nobody verifies it. */
  name?: string
  /** A replacement for the global fetch. */
  fetch?: typeof globalThis.fetch
  /** The number of retries when the service cannot be reached or is overloaded. Default 3. */
  retries?: number
  /** The time limit of one attempt in milliseconds, in addition to the time of a held read. Default 10,000. */
  timeoutMs?: number
  /** Waits between attempts; for tests. */
  wait?: Wait
}

/**
 * An open room whose key never reaches the service: this client seals each line and checks each line that it reads.
 * Methods throw AtriumError, and TamperedRoomError (`problem`, `seq`) where the room is not what its authors wrote.
 */
export interface ClientSealedRoom extends RoomSecret {
  /** Creates the room. Throws RoomExistsError if a room of this name exists or was removed. */
  make: (options?: { signal?: AbortSignal | undefined }) => Promise<void>
  /** The new messages since the last call, from the beginning at first. */
  read: (options?: { signal?: AbortSignal | undefined }) => Promise<Entry[]>
  /** Yields every message as it arrives, from the beginning or after `after`. It keeps a position of its own. */
  follow: (options?: Pick<FollowOptions, 'after' | 'signal'>) => AsyncGenerator<Entry, void, undefined>
  /**
   * Writes a message of 1 to 16,384 characters that take up to 46,000 bytes of UTF-8 as JSON, and returns its number.
   * Retries store it only once. Throws RoomMovedError after a farewell, TypeError for a text, name or id that readers would
   * refuse, and LineTooLongError, a TypeError, where a line cannot hold the text.
   */
  say: (text: string, options?: { replyTo?: string; signal?: AbortSignal | undefined }) => Promise<{ id: string; seq: number }>
  /** The farewell, once `read` or `follow` has come to it: the members go on in another room. Anybody with the link can write one. */
  readonly farewell: FoundFarewell | undefined
  /**
   * Makes another room and writes the farewell of this one, with the new link. `tellLink: false` leaves the link out, so
   * that somebody who has the link of this room is left behind: give it to the others yourself. Returns the other room.
   */
  move: (options?: { tellLink?: boolean; signal?: AbortSignal | undefined }) => Promise<ClientSealedRoom>
}

/** The room has a farewell, so its members no longer read here. Nothing was written. */
export class RoomMovedError extends Error {
  override readonly name = 'RoomMovedError'
  readonly farewell: FoundFarewell

  constructor(farewell: FoundFarewell) {
    super(
      farewell.to
        ? 'The members of this room go on in another one. Write there: the link is in farewell.to.'
        : 'The members of this room go on in another one. Ask one of them for its link.',
    )
    this.farewell = farewell
  }
}

/**
 * Makes a client of a room whose lines the clients seal (docs/space/client-sealed.md), without a request. Throws
 * TypeError for a malformed room or mk.
 *
 * @example
 * const room = openClientSealedRoom({ spaceUrl: 'https://rooms.example/v1/space', ...newRoomSecret() })
 * await room.make()
 * await room.say('Are the lamps lit?')
 * for (const { seq, message } of await room.read()) console.log(seq, message.text)
 */
export function openClientSealedRoom(options: ClientSealedRoomOptions): ClientSealedRoom {
  const { room, mk, spaceUrl, name, fetch, timeoutMs, retries = 3, wait = delay } = options
  assertRoomSecret({ room, mk })
  const endpoint = endpointAt(spaceUrl, fetch)
  const { audience = new URL(spaceUrl).origin } = options
  let deriving: Promise<ClientKeys> | undefined
  const derive = () => (deriving ??= deriveClientKeys({ room, mk }))
  const how = (keys: ClientKeys, signal: AbortSignal | undefined, tries = retries): CallOptions => ({
    sign: (request) => signRequest(keys, request, { audience }),
    timeoutMs,
    retries: tries,
    wait,
    signal,
  })
  const readPage = (keys: ClientKeys, from: object, signal: AbortSignal | undefined, tries?: number) =>
    callSpace(endpoint, { op: 'read', room, ...from }, how(keys, signal, tries))

  let reader: LineReader | undefined
  let farewell: FoundFarewell | undefined
  let last: Promise<unknown> = Promise.resolve()
  /** One call after the other, because each continues where the one before has read to. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work, work)
    last = next.catch(() => undefined)
    return next
  }
  /** What no `read` has returned: what `say` has read, and the pages before one that failed. */
  const unread: Entry[] = []
  const readNew = async (keys: ClientKeys, signal: AbortSignal | undefined): Promise<void> => {
    reader ??= new LineReader(keys)
    for (;;) {
      const page = await readPage(keys, reader.position, signal)
      try {
        unread.push(...(await reader.take(page)))
      } catch (error) {
        throw error instanceof TamperedRoomError ? error.with([...unread, ...error.entries]) : error
      }
      farewell ??= reader.farewell
      if (page.lines.length === 0) return
    }
  }

  const make = async (signal: AbortSignal | undefined): Promise<void> => {
    const keys = await derive()
    const line = await sealClientLine(keys, { content: policyRecord })
    try {
      await callSpace(endpoint, { op: 'make', room, access: keys.access, line }, how(keys, signal))
    } catch (error) {
      // The answer of an attempt before may have been lost. Then line 0 is this one.
      if (!(error instanceof SpaceCallError) || error.error !== 'room_exists') throw error
      const { lines } = await readPage(keys, { limit: 1 }, signal).catch(() => ({ lines: [] }))
      if (lines[0] !== placeLine(line, { seq: 0 })) throw error
    }
  }
  const say = async (text: string, replyTo: string | undefined, signal: AbortSignal | undefined) => {
    const keys = await derive()
    const id = randomId()
    return { id, seq: await append(keys, turnRecord({ id, name, text, replyTo }), signal) }
  }
  const append = async (keys: ClientKeys, content: string, signal: AbortSignal | undefined) => {
    await readNew(keys, signal)
    if (farewell) throw new RoomMovedError(farewell)
    const line = await sealLine(keys, { seen: reader?.seen, content })
    const { seq } = await callSpace(endpoint, { op: 'append', room, line, dedupe: randomId() }, how(keys, signal))
    return seq
  }
  const move = async (tellLink: boolean, signal: AbortSignal | undefined): Promise<ClientSealedRoom> => {
    const to = newRoomSecret()
    const next = openClientSealedRoom({ ...options, ...to })
    // The farewell comes second: a link to a room that does not exist would be worse than a room that nobody enters.
    await next.make({ signal })
    const content = farewellRecord({ id: randomId(), name, to: tellLink ? to : undefined })
    await append(await derive(), content, signal)
    return next
  }

  async function* follow({
    after = -1,
    signal,
  }: Pick<FollowOptions, 'after' | 'signal'>): AsyncGenerator<Entry, void, undefined> {
    const keys = await derive()
    const own = new LineReader(keys)
    let first = after === 'now' ? Number.POSITIVE_INFINITY : after + 1
    const poll = async ({ waitMs, limit }: { waitMs: number; limit: number }) => {
      const page = await readPage(keys, { ...own.position, waitMs, limit }, signal, 0)
      const entries = await own.take(page)
      farewell ??= own.farewell
      // 'now' begins where the first page without lines ends the history.
      if (first === Number.POSITIVE_INFINITY && page.lines.length === 0) first = page.count
      return { count: page.count, etag: page.etag, entries, policy: 'open' as const }
    }
    const pages = followPages(pollUntilAnswered({ poll, wait }, signal), {
      since: { sinceCount: 0, sinceEtag: '' },
      mayHold: () => first !== Number.POSITIVE_INFINITY && own.position.sinceCount > 0,
      pause: () => wait(1_000, signal).catch(() => undefined),
      signal,
    })
    try {
      for await (const { entries } of pages) {
        for (const entry of entries) {
          if (signal?.aborted) return
          if (entry.seq >= first) yield entry
        }
      }
    } catch (error) {
      const entries = error instanceof TamperedRoomError ? error.entries : []
      for (const entry of entries) if (entry.seq >= first && !signal?.aborted) yield entry
      if (!signal?.aborted) throw asAtriumError(error)
    }
  }

  return {
    room,
    mk,
    make: ({ signal } = {}) => converted(make(signal)),
    read: ({ signal } = {}) =>
      converted(
        inTurn(async () => {
          await readNew(await derive(), signal)
          return unread.splice(0)
        }),
      ),
    follow: (from = {}) => follow(from),
    get farewell() {
      return farewell
    },
    move: ({ tellLink = true, signal } = {}) => converted(inTurn(() => move(tellLink, signal))),
    say: (text, { replyTo, signal } = {}) => converted(inTurn(() => say(text, replyTo, signal))),
  }
}
