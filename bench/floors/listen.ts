import type { Server } from 'node:http'

/** Listens on the port of the environment until SIGTERM. */
export function listen(server: Server): void {
  server.listen({ port: Number(process.env['PORT']), host: process.env['HOST'], backlog: 1_024 })
  // A regular exit, so that Node writes the profile.
  process.once('SIGTERM', () => process.exit(0))
}
