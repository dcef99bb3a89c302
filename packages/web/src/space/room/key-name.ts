import { encodeBase64url } from '@atrium/sealing/base64url'
import type { RoomSecret } from '@atrium/sealing/room-secret'

/** That of the first data that was stored under such a name. */
const INFO = 'atrium/space-app/lines/v2/name/'

/**
 * The name for what this device has read and written: lines, drafts, unsent messages. Each key of a room, and each
 * `owner` of a room with a list, has a name of its own: otherwise a link to another room of this name would make the device
 * forget what it has read of this one, and send there what was written for this one.
 */
export async function keyName({ room, mk }: RoomSecret, owner = ''): Promise<string> {
  const utf8 = new TextEncoder()
  const ikm = await crypto.subtle.importKey('raw', utf8.encode(mk), 'HKDF', false, ['deriveBits'])
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: utf8.encode(room), info: utf8.encode(INFO + owner) }
  return encodeBase64url(new Uint8Array(await crypto.subtle.deriveBits(hkdf, ikm, 128)))
}
