import { isMk, isRoomName, type RoomSecret } from '@atrium/sealing/room-secret'

/** A room with a list of devices: its owner, and the keys of a device or of an invitation, if there are any. */
export interface ListedTarget {
  readonly room: string
  readonly owner: string
  readonly keys?: string
}

/** What is to be checked. */
export interface Target {
  readonly origin: string
  /** From a room link: stays on this machine. */
  readonly secret?: RoomSecret
  /** The same of a room whose lines the clients seal. */
  readonly clientSealed?: RoomSecret | ListedTarget
}

/**
 * Reads the Spaces origin, or a room link: `https://…/space#<room>.<mk>`; of a client-sealed room `#<room>~<mk>`; of one
 * with a list `#<room>~<owner>~<keys>`, which is an invitation, `#<room>~<owner>~`, or `#<room>~~<owner>`, the address
 * that the Space app shows. A TypeError never quotes it: a link is a key.
 */
export function parseTarget(address: string): Target {
  const url = URL.canParse(address.trim()) ? new URL(address.trim()) : undefined
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw new TypeError(
      'the address must start with https:// or http://, such as https://spaces.example, or be a room link (https://spaces.example/space#ROOM.KEY, or #ROOM~KEY)',
    )
  if (url.username || url.password) throw new TypeError('the address must not hold a password')
  if (url.pathname !== '/' && url.pathname !== '/space') {
    throw new TypeError('the address must be that of the Spaces service, such as https://spaces.example, or a room link')
  }
  if (!url.hash) return { origin: url.origin }
  const [, room, mark, mk] = /^#([^.~]*)([.~])(.*)$/.exec(url.hash) ?? []
  const text = mark === '~' ? (mk ?? '') : ''
  const [, owner, keys] = /^([\w-]{43})~([\w-]{258})?$/.exec(text) ?? addressOfApp.exec(text) ?? []
  if (isRoomName(room) && owner !== undefined)
    return { origin: url.origin, clientSealed: { room, owner, ...(keys !== undefined && { keys }) } }
  if (!isRoomName(room) || !isMk(mk)) throw new TypeError('what follows # in the link is not a room and its key; is it cut off?')
  return { origin: url.origin, ...(mark === '~' ? { clientSealed: { room, mk } } : { secret: { room, mk } }) }
}

/** With the name of the first device, it is the link for a second device. */
const addressOfApp = /^~([\w-]{43})(?:~[\w-]{43})?$/

export function isPlainHttp(origin: string): boolean {
  const { protocol, hostname } = new URL(origin)
  return protocol === 'http:' && !/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}
