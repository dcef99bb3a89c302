import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'

const folder = fileURLToPath(new URL('../../../../examples/event-wall/pictures/', import.meta.url))

/**
 * Serves the pictures of the demo, so that its artifacts have an address. Not in production. Only the files that
 * exist at the start have a route, so no request can name a path.
 */
export function addExamples(app: FastifyInstance): void {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.webp'))) {
    const bytes = readFileSync(folder + name)
    app.get(`/examples/event-wall/${name}`, async (_req, reply) =>
      reply.header('content-type', 'image/webp').header('cache-control', 'public, max-age=86400').send(bytes),
    )
  }
}
