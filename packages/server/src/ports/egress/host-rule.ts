import { isIP } from 'node:net'
import { EgressError } from './egress-error.ts'
import { isLoopbackAddress, isPublicAddress } from './public-address.ts'

/** `loopback` is for development: it also allows this machine, over plain http. */
export type EgressMode = 'public' | 'loopback'

export interface Route {
  mode: EgressMode
  secure: boolean
}

/** Names that resolve only inside a network, and names under which clouds serve credentials to their machines. */
const internalNames = ['localhost', 'local', 'internal', 'localdomain', 'lan', 'home.arpa', 'metadata.goog']

/**
 * At least two labels of letters, digits, hyphens and underscores. The last label is not a number, because some
 * resolvers parse such a name as an address.
 */
const namePattern =
  /^(?=.{4,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+(?!\d+$|0x[\da-f]*$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])$/

/** Plain http is allowed to loopback only, because it can be read on a network. */
export function isReachable(ip: string, { mode, secure }: Route): boolean {
  return (secure && isPublicAddress(ip)) || (mode === 'loopback' && isLoopbackAddress(ip))
}

export function assertReachable(ip: string, route: Route): void {
  if (!isReachable(ip, route)) throw refusedAddress()
}

/** The host of a URL in WHATWG form, without brackets: an IP address, or a name that may be resolved. */
export function assertHost(host: string, route: Route): void {
  if (isIP(host) !== 0) assertReachable(host, route)
  else if (!(isLoopbackName(host) && route.mode === 'loopback') && !isPublicName(host)) throw refusedAddress()
}

export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost')
}

/** One message for all cases, because it must not disclose what exists inside the network. */
export function refusedAddress(): EgressError {
  return new EgressError('refused_address', 'Only public addresses can be reached.')
}

function isPublicName(name: string): boolean {
  return namePattern.test(name) && !internalNames.some((internal) => name === internal || name.endsWith(`.${internal}`))
}
