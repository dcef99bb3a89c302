import { Server as NetServer } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Draining } from '#gateway/health.ts'

/**
 * How long connections are still accepted after the signal, so that requests in transit, or routed by a load
 * balancer, are answered.
 */
const graceMs = 500
/** When idle connections are closed, and when all are: the process exits within ten seconds whatever clients do. */
const idleMs = 3_000
const endMs = 7_500

/**
 * Stops the server without failing a request: answers with `Connection: close`, then stops listening, then waits for
 * open connections to end by themselves.
 */
export async function drain(app: FastifyInstance & { state: Draining }): Promise<void> {
  const { server } = app
  app.state.draining = true
  await delay(graceMs)
  // The close of http.Server would end idle keep-alive connections at once, and a request that is just being sent on
  // one would be lost.
  const closed = new Promise<void>((resolve) => {
    NetServer.prototype.close.call(server, () => resolve())
  })
  const idleTimer = setTimeout(() => server.closeIdleConnections(), idleMs - graceMs)
  const endTimer = setTimeout(() => server.closeAllConnections(), endMs - graceMs)
  await closed
  clearTimeout(idleTimer)
  clearTimeout(endTimer)
  await app.close()
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
