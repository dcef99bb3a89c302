import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

const globalUnicast = ipaddr.parseCIDR('2000::/3')

/**
 * Whether an address is on the public internet. Every range that a registry reserves is refused: private, loopback,
 * link-local, shared, documentation, benchmarking, multicast, reserved, and addresses that contain another address
 * (mapped, NAT64, 6to4, Teredo).
 */
export function isPublicAddress(ip: string): boolean {
  const address = parseAddress(ip)
  // `unicast` is ipaddr.js's name for an address in none of the special ranges.
  if (address?.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || address.match(globalUnicast)
}

/** Whether the address is loopback, in its plain form only: a mapped 127.0.0.1 is not accepted. */
export function isLoopbackAddress(ip: string): boolean {
  return parseAddress(ip)?.range() === 'loopback'
}

/**
 * Rejects octal, hexadecimal and short forms, which ipaddr.js accepts and other resolvers treat as names, and zones,
 * which no public address has.
 */
function parseAddress(ip: string) {
  return isIP(ip) !== 0 && !ip.includes('%') ? ipaddr.parse(ip) : undefined
}
