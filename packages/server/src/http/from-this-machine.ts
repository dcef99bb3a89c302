import type { FastifyRequest } from 'fastify'

/**
 * Whether the request was made by a program on this computer, for itself.
 *
 * - The socket's address counts, because `req.ip` may come from a header.
 * - A tunnel or proxy also connects from loopback, but its headers name the origin.
 * - A foreign page may resolve its own name to 127.0.0.1 and reach this server as its own origin: that name is in
 *   Host.
 */
export function isFromThisMachine(req: FastifyRequest): boolean {
  const { remoteAddress } = req.raw.socket
  const { host = '', forwarded, 'x-forwarded-for': forwardedFor } = req.headers
  return isLoopbackAddress(remoteAddress) && forwarded === undefined && forwardedFor === undefined && isLoopbackHost(host)
}

/** Whether the address, as Node writes it, is of this machine. A dual-stack socket reports IPv4 in the form of IPv6. */
export function isLoopbackAddress(address: string | undefined): boolean {
  return address === '::1' || /^(::ffff:)?127\./.test(address ?? '')
}

/** A host as in a URL, with or without a port. */
export function isLoopbackHost(host: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i.test(host)
}
