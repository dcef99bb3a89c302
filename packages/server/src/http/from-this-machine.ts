import { BlockList } from 'node:net'
import type { FastifyRequest } from 'fastify'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/**
 * Whether the request was made by a program on this computer, for itself.
 *
 * - The socket's address counts, because `req.ip` may come from a header.
 * - A tunnel or proxy also connects from loopback, but its headers name the origin.
 * - A foreign page may resolve its own name to 127.0.0.1 and reach this server as its own origin: that name is in
 * Host.
 */
export function isFromThisMachine(req: FastifyRequest): boolean {
  const { remoteAddress = '' } = req.raw.socket
  const { host = '', forwarded, 'x-forwarded-for': forwardedFor } = req.headers
  return isLoopbackAddress(remoteAddress) && forwarded === undefined && forwardedFor === undefined && isLoopbackHost(host)
}

/** Also IPv4 in the form of IPv6, which a dual-stack socket reports. */
function isLoopbackAddress(address: string): boolean {
  return loopback.check(address, address.includes(':') ? 'ipv6' : 'ipv4')
}

/** A host as in a URL, with or without a port. */
export function isLoopbackHost(host: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i.test(host)
}
