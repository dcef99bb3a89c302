import type { Socket } from 'node:net'

const patient = new WeakSet<Socket>()

/**
 * Lets the request that now comes in over this connection take longer than `requestTimeoutMs`, which Node holds against every request of a
 * server alike. Whoever asks for this watches the time; call what is given back once the body is in.
 */
export function allowSlowBody(socket: Socket): () => void {
  patient.add(socket)
  return () => patient.delete(socket)
}

export function isSlowBodyAllowed(socket: Socket): boolean {
  return patient.has(socket)
}
