import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * How long connections are still accepted after the signal, so that requests in transit, or routed by a load
 * balancer, are answered.
 */
const graceMs = 500
/** When idle connections are closed, and when all are: the process exits within ten seconds whatever clients do. */
const idleMs = 3_000
const endMs = 7_500

/**
 * Stops listening after a moment, then waits for open connections to end by themselves. From its start, the
 * caller must set `Connection: close` on each answer. `endHeld` must answer the held requests: their clients ask again,
 * and find that the server no longer listens.
 */
export async function drainConnections(server: Server, endHeld = () => undefined as void): Promise<void> {
  await delay(graceMs)
  // The close of http.Server would end idle keep-alive connections at once, and a request that is just being sent on
  // one would be lost.
  const closed = new Promise<void>((resolve) => {
    NetServer.prototype.close.call(server, () => resolve())
  })
  endHeld()
  const idleTimer = setTimeout(() => {
    server.closeIdleConnections()
    // Browsers open connections that they perhaps use later, and Node does not count those as idle. The server looks for
    // them each second, until it is closed by its own method. All of them were opened before the listener was closed.
    server.headersTimeout = idleMs - graceMs
  }, idleMs - graceMs)
  const endTimer = setTimeout(() => server.closeAllConnections(), endMs - graceMs)
  await closed
  clearTimeout(idleTimer)
  clearTimeout(endTimer)
}
