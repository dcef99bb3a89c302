/**
 * The secret of a room: its name, and the key text in the link's fragment (32 random bytes as base64url in the Space
 * app).
 */
export interface RoomSecret {
  readonly room: string
  readonly mk: string
}

/** HKDF's info parameter: one room secret gives independent keys for different uses. */
export const ROOM_KEY_INFO = 'atrium/room/v1'
export const DEDUPE_KEY_INFO = 'atrium/room/dedupe/v1'

const ROOM_NAME = /^[A-Za-z0-9_-]{1,128}$/
const PRINTABLE = /^[!-~]{22,512}$/

export function isRoomName(value: unknown): value is string {
  return typeof value === 'string' && ROOM_NAME.test(value)
}

/**
 * Whether the value can be a room's `mk`: 22 to 512 printable ASCII characters without spaces. 22 characters of
 * base64url have 128 bits. Non-ASCII characters could have several byte forms that look the same, so a link that was
 * typed again might open nothing.
 */
export function isMk(value: unknown): value is string {
  return typeof value === 'string' && PRINTABLE.test(value)
}

/** Throws a TypeError, which never quotes the secret, unless both parts are well formed. */
export function assertRoomSecret({ room, mk }: RoomSecret): void {
  if (!isRoomName(room)) throw new TypeError('room must be 1 to 128 characters of A-Z a-z 0-9 _ -')
  if (!isMk(mk)) throw new TypeError('mk must be 22 to 512 printable ASCII characters without space')
}
