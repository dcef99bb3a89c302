import { openApiDocument } from '@atrium/contract/openapi'
import { archMarkPath } from '@atrium/web/share/arch'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { stringify } from 'yaml'
import type { Context } from '#features/context.ts'
import { sendBody } from '#http/bound-unread.ts'
import { addDocsPages } from './add-docs-pages.ts'
import { applyCors } from '#http/cors.ts'

/** Discovery and the machine-readable specs, under / and /v1/ alike, and the documentation for people: for anyone. */
export function addDocs(app: FastifyInstance, ctx: Context): void {
  const baseUrl = ctx.config.publicUrl
  const options = { baseUrl: `${baseUrl}/v1`, errorPage: (code: string) => `${baseUrl}/docs/errors/${code}` }
  const production = openApiDocument({ full: false, ...options })
  const full = openApiDocument({ full: true, ...options })
  const index = JSON.stringify({
    name: 'Atrium',
    version: (production.info as { version: string }).version,
    base_url: `${baseUrl}/v1`,
    space_url: `${baseUrl}/v1/space`,
    spaces_app_url: ctx.config.spacesUrl,
    openapi: `${baseUrl}/v1/openapi.json`,
    openapi_full: `${baseUrl}/v1/openapi.full.json`,
    docs: { reference: `${baseUrl}/docs`, guides: `${baseUrl}/docs/guides`, errors: `${baseUrl}/docs/errors` },
    downloads: `${baseUrl}/downloads`,
    health: `${baseUrl}/healthz`,
  })
  const files = {
    'openapi.json': ['application/json', Buffer.from(JSON.stringify(production))],
    'openapi.yaml': ['application/yaml', Buffer.from(stringify(production))],
    'openapi.full.json': ['application/json', Buffer.from(JSON.stringify(full))],
    'openapi.full.yaml': ['application/yaml', Buffer.from(stringify(full))],
  } as const

  const { landing } = addDocsPages(app, {
    ...ctx.config,
    developmentKey: ctx.config.production ? undefined : ctx.config.spacePublishableKey,
  })

  for (const prefix of ['/', '/v1/']) {
    for (const [name, [type, text]] of Object.entries(files)) {
      app.get(prefix + name, async (req, reply) => publicFile(req, reply, `${type}; charset=utf-8`, text))
    }
    app.get(prefix, async (req, reply) => {
      const html = /\btext\/html\b/.test(req.headers.accept ?? '')
      reply.header('vary', 'accept')
      if (html) await landing(req, reply)
      else publicFile(req, reply, 'application/json; charset=utf-8', index)
      return reply
    })
  }
  app.get('/favicon.ico', async (_req, reply) =>
    reply.header('content-type', 'image/svg+xml').header('cache-control', 'public, max-age=86400').send(icon),
  )
  app.get('/v1', async (_req, reply) => reply.redirect('/v1/', 308))
}

/** The house's mark, readable on light and dark tabs alike. */
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 13 15" fill="none" stroke="#7c6cf2" stroke-width="1.6">${archMarkPath}</svg>`

function publicFile(req: FastifyRequest, reply: FastifyReply, type: string, text: string | Buffer): FastifyReply {
  applyCors(reply)
  return sendBody(req, reply.header('content-type', type).header('cache-control', 'public, max-age=300'), text)
}
