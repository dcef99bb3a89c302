import { errors } from '@atrium/contract/errors'
import { openApiDocument } from '@atrium/contract/openapi'
import { escapeHtml } from '@atrium/web/share/escape-html'
import { archMarkPath } from '@atrium/web/share/arch'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { stringify } from 'yaml'
import type { Context } from '../context.ts'
import { ApiError } from './api-error.ts'
import { applyCors } from './cors.ts'

/** Discovery, the machine-readable specs and the error pages: under / and /v1/ alike, for anyone. */
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
    docs: { errors: `${baseUrl}/docs/errors` },
    health: `${baseUrl}/healthz`,
  })
  const files = {
    'openapi.json': ['application/json', JSON.stringify(production)],
    'openapi.yaml': ['application/yaml', stringify(production)],
    'openapi.full.json': ['application/json', JSON.stringify(full)],
    'openapi.full.yaml': ['application/yaml', stringify(full)],
  } as const

  for (const prefix of ['/', '/v1/']) {
    for (const [name, [type, text]] of Object.entries(files)) {
      app.get(prefix + name, async (_req, reply) => publicFile(reply, `${type}; charset=utf-8`, text))
    }
    app.get(prefix, async (req, reply) => {
      const html = /\btext\/html\b/.test(req.headers.accept ?? '')
      reply.header('vary', 'accept')
      return html ? page(reply, 'Atrium', landing(baseUrl)) : publicFile(reply, 'application/json; charset=utf-8', index)
    })
  }
  app.get('/favicon.ico', async (_req, reply) =>
    reply.header('content-type', 'image/svg+xml').header('cache-control', 'public, max-age=86400').send(icon),
  )
  app.get('/v1', async (_req, reply) => reply.redirect('/v1/', 308))
  app.get('/docs/errors', async (_req, reply) => page(reply, 'Errors', errorIndex()))
  app.get<{ Params: { code: string } }>('/docs/errors/:code', async (req, reply) => {
    const { code } = req.params
    if (!Object.hasOwn(errors, code)) throw new ApiError('not_found')
    return page(reply, code, errorPage(code as keyof typeof errors))
  })
}

/** The house's mark, readable on light and dark tabs alike. */
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 13 15" fill="none" stroke="#7c6cf2" stroke-width="1.6">${archMarkPath}</svg>`

function publicFile(reply: FastifyReply, type: string, text: string): FastifyReply {
  applyCors(reply)
  return reply.header('content-type', type).header('cache-control', 'public, max-age=300').send(text)
}

/** Plain on purpose: the whole style is the browser's, so the policy can forbid everything. */
function page(reply: FastifyReply, title: string, body: string): FastifyReply {
  return reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
    .header('referrer-policy', 'no-referrer')
    .send(
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">` +
        `<meta name="color-scheme" content="light dark"><title>${escapeHtml(title)}</title></head><body><main>${body}</main></body></html>`,
    )
}

function landing(baseUrl: string): string {
  return (
    `<h1>Atrium</h1><p>A platform that other people’s apps stand on. The API answers at <code>${escapeHtml(baseUrl)}/v1</code>.</p>` +
    `<ul><li><a href="/openapi.json">openapi.json</a> (<a href="/openapi.yaml">yaml</a>): what is live</li>` +
    `<li><a href="/openapi.full.json">openapi.full.json</a> (<a href="/openapi.full.yaml">yaml</a>): all that is planned</li>` +
    `<li><a href="/docs/errors">Errors</a>, each with its cause and remedy</li></ul>`
  )
}

function errorIndex(): string {
  const rows = Object.entries(errors).map(
    ([code, { status, title }]) =>
      `<tr><td>${status}</td><td><a href="/docs/errors/${code}"><code>${code}</code></a></td><td>${escapeHtml(title)}</td></tr>`,
  )
  return `<h1>Errors</h1><table><thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table>`
}

function errorPage(code: keyof typeof errors): string {
  const { status, title, cause, remedy } = errors[code]
  return (
    `<p><a href="/docs/errors">Errors</a></p><h1>${escapeHtml(title)}</h1><p>HTTP ${status}, code <code>${code}</code></p>` +
    `<h2>Why</h2><p>${escapeHtml(cause)}</p><h2>What to do</h2><p>${escapeHtml(remedy)}</p>`
  )
}
