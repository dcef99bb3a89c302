import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

const globalUnicast = ipaddr.parseCIDR('2000::/3')

/**
 * Whether an address is one of the public internet. Everything that a registry sets aside is not: private, loopback,
 * link-local, shared, documentation, benchmarking, multicast, reserved, and whatever carries another address inside
 * (mapped, NAT64, 6to4, Teredo).
 */
export function isPublicAddress(ip: string): boolean {
  const address = parseAddress(ip)
  // `unicast` is what ipaddr.js calls an address that is in none of the special ranges.
  if (address?.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || address.match(globalUnicast)
}

/** This machine itself, in the plain spellings only: a mapped 127.0.0.1 is not one. */
export function isLoopbackAddress(ip: string): boolean {
  return parseAddress(ip)?.range() === 'loopback'
}

/**
 * ipaddr.js also reads octal, hexadecimal and short forms, which are names to others, and zones, which no public
 * address has.
 */
function parseAddress(ip: string) {
  return isIP(ip) !== 0 && !ip.includes('%') ? ipaddr.parse(ip) : undefined
}
