import { formatFragment, type RoomLink } from './room-link.ts'

const KEY = 'atrium.space.service'
const LINK = /^(https?:\/\/[^/#?\s]+)(?:\/space)?\/?(#.*)?$/

/** Whether this is the app in one file, which was opened from a disk and belongs to no service. */
export function isFile(): boolean {
  return document.documentElement.dataset['client'] === 'file'
}

/** The parts of a whole link, or of the address of a service: `https://rooms.example/space#room~key`. */
export function parseLink(text: string): { origin: string; fragment: string } | undefined {
  const [, address = '', fragment = ''] = LINK.exec(text.trim()) ?? []
  return URL.canParse(address) ? { origin: new URL(address).origin, fragment } : undefined
}

let chosen: string | undefined

/**
 * The origin of the Space service. A page has one for as long as it is loaded. In a file it is that of the link after
 * the `#`, or the one that was used last; undefined: none has been chosen.
 */
export function serviceOrigin(): string | undefined {
  if (!isFile()) return location.origin
  chosen ??= parseLink(location.hash.slice(1))?.origin ?? readLast()
  return chosen
}

/** Keeps apart rooms of one name on this device: by owner, and in a file by service. */
export function keptFor(owner = ''): string {
  return isFile() ? `${owner} ${serviceOrigin()}` : owner
}

export function getServiceOrigin(): string {
  const origin = serviceOrigin()
  if (origin === undefined) throw new Error('no service was chosen')
  return origin
}

/** The fragment of the room's link. If the address is of another service than before, the file is loaded anew. */
export function readFragment(): string {
  if (!isFile()) return location.hash
  const link = parseLink(location.hash.slice(1))
  if (!link) return location.hash
  if (chosen !== undefined && link.origin !== chosen) location.reload()
  keepLast(link.origin)
  return link.fragment
}

/** What the address of this page has from `#` on to show a room. `service`: of another service, in a file. */
export function hashOf(link: RoomLink, service = serviceOrigin()): string {
  return isFile() ? `#${service}/space${formatFragment(link)}` : formatFragment(link)
}

/** The start page. */
export function homeHref(): string {
  return isFile() ? '#' : '/space'
}

/** The link of this room for others, who open it at the service. */
export function linkToShare(): string {
  return isFile() ? location.hash.slice(1) : location.href
}

/** What an invited person opens. */
export function invitationLink(invitation: string): string {
  return `${getServiceOrigin()}/space#${invitation}`
}

/** From now on, a file begins with this service. */
export function chooseService(origin: string): void {
  keepLast(origin)
  location.hash = ''
  location.reload()
}

function keepLast(origin: string): void {
  try {
    localStorage.setItem(KEY, origin)
  } catch {
    // Storage is off: the service is asked for each time.
  }
}

function readLast(): string | undefined {
  try {
    return parseLink(localStorage.getItem(KEY) ?? '')?.origin
  } catch {
    return undefined
  }
}
