import { Server as NetServer } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Draining } from '#gateway/health.ts'

/**
 * How long after the signal connections are still taken, so that what is on its way in, or routed by a balancer, is
 * answered.
 */
const graceMs = 500
/** When the last idle connections are closed, and when all are: an exit within ten seconds whatever clients do. */
const idleMs = 3_000
const endMs = 7_500

/**
 * Stops taking requests without failing one: answers what comes in with `Connection: close`, then stops listening,
 * then waits for the connections that are open to end by themselves.
 */
export async function drain(app: FastifyInstance & { state: Draining }): Promise<void> {
  const { server } = app
  app.state.draining = true
  await delay(graceMs)
  // http.Server's close would end idle keep-alive connections at once, and with them the request that is just being
  // sent on one.
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
