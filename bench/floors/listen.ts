import type { Server } from 'node:http'

/** Listens where the environment says, until SIGTERM. */
export function listen(server: Server): void {
  server.listen({ port: Number(process.env['PORT']), host: process.env['HOST'], backlog: 1_024 })
  // An exit of its own accord, so that a profile is written.
  process.once('SIGTERM', () => process.exit(0))
}
