import type { FoundFarewell } from '@atrium/room-client/line-reader'
import type { Since } from '@atrium/room-client/follow-room'
import type { RoomPage } from '@atrium/room-client/space-ops'
import type { RoomSecret } from '@atrium/sealing/room-secret'
import { callSpace } from '../api/space-client.ts'
import { identityIn } from '../identity/present.ts'
import type { RoomLink } from '../room-link.ts'
import { ClientSealedChannel } from './client-sealed-channel.ts'

export interface ReadOptions {
  readonly waitMs: number
  readonly limit: number
  readonly timeoutMs?: number
  readonly signal: AbortSignal
}

export interface Said {
  readonly clientId: string
  readonly text: string
  readonly replyTo?: string | undefined
  /** The name that a guest claims. */
  readonly name: string | undefined
}

/** How messages of a room are read and written. */
export interface Channel {
  /**
   * Resolves to where reading starts, where every line is checked against those before it. The first page then has the
   * messages from the beginning. Absent: reading may start anywhere.
   */
  begin?: () => Promise<Since>
  read: (since: Since, options: ReadOptions) => Promise<RoomPage>
  /** A repeat with the same clientId is stored once. Resolves to the number and the id of the message. */
  say: (said: Said, signal: AbortSignal) => Promise<{ seq: number; id: string }>
  /**
   * Writes that the members go on in another room. A repeat with the same id is stored once. Absent: the room cannot be
   * left that way.
   */
  leave?: (farewell: { id: string; name: string | undefined; to: RoomSecret | undefined }) => Promise<void>
  /** The farewell of a client-sealed room, once it was read. */
  readonly farewell?: FoundFarewell | undefined
  close: () => void
}

export function openChannel(link: RoomLink): Channel {
  return link.kind === 'classic' ? classicChannel(link) : new ClientSealedChannel(link)
}

function classicChannel({ room, mk }: RoomLink): Channel {
  return {
    close: () => undefined,
    async read({ sinceEtag, sinceCount }, { waitMs, limit, ...how }) {
      // Polls with the identity even as a guest, because the service returns a client_id only to the key that wrote
      // the message.
      const identity = { ...(await identityIn(room)), sign: undefined }
      return callSpace({ op: 'poll', room, mk, sinceEtag, sinceCount, waitMs, limit }, { identity, ...how })
    },
    async say({ clientId, text, replyTo, name }, signal) {
      const message = { text, ...(replyTo !== undefined && { reply_to: replyTo }), client_id: clientId }
      const identity = await identityIn(room)
      // An account has the name in its token.
      const claimed = identity.idToken === undefined ? name : undefined
      return callSpace({ op: 'turn', room, mk, message, name: claimed }, { identity, signal })
    },
  }
}
