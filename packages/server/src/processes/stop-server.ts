import { drainConnections } from '@atrium/traffic/drain-connections'
import type { FastifyInstance } from 'fastify'
import type { Draining } from '#gateway/health.ts'

/** Stops the server without failing a request: readiness fails, and each answer is the last on its connection. */
export async function drain(app: FastifyInstance & { state: Draining }): Promise<void> {
  app.state.draining = true
  await drainConnections(app.server)
  await app.close()
}
