import type { Socket } from 'node:net'

const patient = new WeakSet<Socket>()

/**
 * Exempts the current request of this connection from `requestTimeoutMs`, which Node applies to all requests of a
 * server. The caller must enforce its own time limit, and call the returned function once the body has arrived.
 */
export function allowSlowBody(socket: Socket): () => void {
  patient.add(socket)
  return () => patient.delete(socket)
}

export function isSlowBodyAllowed(socket: Socket): boolean {
  return patient.has(socket)
}
