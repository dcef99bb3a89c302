import { BlockList } from 'node:net'
import type { FastifyRequest } from 'fastify'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/**
 * Whether a program on this computer asks, and for itself.
 *
 * - The socket's own address counts; `req.ip` believes headers.
 * - What a tunnel or proxy passes on arrives from loopback too, but says for whom.
 * - A page elsewhere may point its own name at 127.0.0.1 and so reach us as its own origin: its name is in Host.
 */
export function isFromThisMachine(req: FastifyRequest): boolean {
  const { remoteAddress = '' } = req.raw.socket
  const { host = '', forwarded, 'x-forwarded-for': forwardedFor } = req.headers
  return isLoopbackAddress(remoteAddress) && forwarded === undefined && forwardedFor === undefined && isLoopbackHost(host)
}

/** Also IPv4 written as IPv6, as a socket that takes both gives it. */
function isLoopbackAddress(address: string): boolean {
  return loopback.check(address, address.includes(':') ? 'ipv6' : 'ipv4')
}

/** A host as in a URL, with or without a port. */
export function isLoopbackHost(host: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i.test(host)
}
