import type { CallOptions } from '@atrium/room-client/call-space'
import type { Since } from '@atrium/room-client/follow-room'
import { LineReader, policyRecord, turnRecord } from '@atrium/room-client/line-reader'
import { newRoomSecret } from '@atrium/room-client/new-room-secret'
import type { RoomPage } from '@atrium/room-client/space-ops'
import { type ClientKeys, deriveClientKeys, sealClientLine, signRequest } from '@atrium/sealing/client-sealed'
import { callSpace } from '../api/space-client.ts'
import { identityIn, keyOf } from '../identity/present.ts'
import { guestName } from '../parts/guest-name.ts'
import type { RoomLink } from '../room-link.ts'

interface ReadOptions {
  readonly waitMs: number
  readonly limit: number
  readonly timeoutMs?: number
  readonly signal: AbortSignal
}

interface Said {
  readonly clientId: string
  readonly text: string
  readonly replyTo?: string | undefined
  /** The name that a guest claims. */
  readonly name: string | undefined
}

/** How messages of a room are read and written. */
export interface Channel {
  /** Whether reading starts with line 0, because every line is checked against those before it. */
  readonly readsAll: boolean
  read: (since: Since, options: ReadOptions) => Promise<RoomPage>
  /** A repeat with the same clientId is stored once. Resolves to the number and the id of the message. */
  say: (said: Said, signal: AbortSignal) => Promise<{ seq: number; id: string }>
}

export function openChannel(link: RoomLink): Channel {
  return link.kind === 'classic' ? classicChannel(link) : clientSealedChannel(link)
}

function classicChannel({ room, mk }: RoomLink): Channel {
  return {
    readsAll: false,
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

/** Signs the requests. The service that signatures name is the origin of this page. */
function signedBy(keys: ClientKeys): Pick<CallOptions, 'sign'> {
  return { sign: (request) => signRequest(keys, request, { audience: location.origin }) }
}

function clientSealedChannel(link: RoomLink): Channel {
  const { room } = link
  let deriving: Promise<ClientKeys> | undefined
  let reader: LineReader | undefined
  const derive = () => (deriving ??= deriveClientKeys(link))
  return {
    readsAll: true,
    async read({ sinceCount, sinceEtag }, { waitMs, limit, ...how }) {
      const keys = await derive()
      if (!reader || sinceCount === 0) reader = new LineReader(keys)
      const request = { op: 'read' as const, room, sinceCount, sinceEtag, waitMs, limit }
      const page = await callSpace(request, { ...signedBy(keys), ...how })
      return { count: page.count, etag: page.etag, policy: 'open', entries: await reader.take(page) }
    },
    async say({ clientId, text, replyTo, name }, signal) {
      const keys = await derive()
      // Nobody checks a name here. One that is derived from a key of this device tells guests apart.
      const shown = name ?? guestName((await keyOf(room, 'guest')).thumbprint)
      const content = turnRecord({ id: clientId, text, name: shown, replyTo })
      const line = await sealClientLine(keys, { seen: reader?.seen, content })
      // Another line with the same content, such as one that was sealed by an earlier visit, is not stored again.
      const { seq } = await callSpace({ op: 'append', room, line, dedupe: clientId }, { ...signedBy(keys), signal })
      return { seq, id: clientId }
    },
  }
}

/** Creates a room whose key stays with those who have its link. */
export async function makeClientSealedRoom(): Promise<RoomLink> {
  const link: RoomLink = { ...newRoomSecret(), kind: 'client-sealed' }
  const keys = await deriveClientKeys(link)
  const line = await sealClientLine(keys, { content: policyRecord })
  await callSpace({ op: 'make', room: link.room, access: keys.access, line }, signedBy(keys))
  return link
}
