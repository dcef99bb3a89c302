import { contractVersion, openApiDocument } from '@atrium/contract/openapi'
import { archMarkPath } from '@atrium/web/share/arch'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '#features/context.ts'
import { sendBody } from '#http/bound-unread.ts'
import { acceptsHtml } from '#http/parse.ts'
import { addDocsPages } from './add-docs-pages.ts'
import { onceMade } from './fixed-file.ts'
import { applyCors } from '#http/cors.ts'

/**
 * Adds the discovery document and the machine-readable specifications, under / and /v1/, and the documentation
 * pages. All of it is public.
 */
export function addDocs(app: FastifyInstance, ctx: Context): void {
  const baseUrl = ctx.config.publicUrl
  const options = { baseUrl: `${baseUrl}/v1`, errorPage: (code: string) => `${baseUrl}/docs/errors/${code}` }
  // Each is made at its first request: the four would take as long as all else of the start.
  const specification = (full: boolean, write: (document: object) => string | Promise<string>) =>
    onceMade(async () => Buffer.from(await write(openApiDocument({ full, ...options }))))
  const toYaml = async (document: object) => (await import('yaml')).stringify(document)
  const index = JSON.stringify({
    name: 'Atrium',
    version: contractVersion,
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
    'openapi.json': ['application/json', specification(false, JSON.stringify)],
    'openapi.yaml': ['application/yaml', specification(false, toYaml)],
    'openapi.full.json': ['application/json', specification(true, JSON.stringify)],
    'openapi.full.yaml': ['application/yaml', specification(true, toYaml)],
  } as const

  const { landing } = addDocsPages(app, {
    ...ctx.config,
    developmentKey: ctx.config.production ? undefined : ctx.config.spacePublishableKey,
  })

  for (const prefix of ['/', '/v1/']) {
    for (const [name, [type, read]] of Object.entries(files)) {
      app.get(prefix + name, async (req, reply) => publicFile(req, reply, `${type}; charset=utf-8`, await read()))
    }
    app.get(prefix, async (req, reply) => {
      reply.header('vary', 'accept')
      if (acceptsHtml(req)) await landing(req, reply)
      else publicFile(req, reply, 'application/json; charset=utf-8', index)
      return reply
    })
  }
  app.get('/favicon.ico', async (_req, reply) =>
    reply.header('content-type', 'image/svg+xml').header('cache-control', 'public, max-age=86400').send(icon),
  )
  app.get('/v1', async (_req, reply) => reply.redirect('/v1/', 308))
}

/** The icon of the pages, readable on light and dark tabs. */
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 13 15" fill="none" stroke="#c1552f" stroke-width="1.6">${archMarkPath}</svg>`

function publicFile(req: FastifyRequest, reply: FastifyReply, type: string, text: string | Buffer): FastifyReply {
  applyCors(reply)
  return sendBody(req, reply.header('content-type', type).header('cache-control', 'public, max-age=300'), text)
}
