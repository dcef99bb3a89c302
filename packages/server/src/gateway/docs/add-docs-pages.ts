import { escapeHtml } from '@atrium/web/share/escape-html'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { addDownloads } from './add-downloads.ts'
import { agentsPage } from './agents-page.ts'
import { docsPage, docsPolicy, stylePath } from './docs-page.ts'
import { docsStyle } from './docs-style.ts'
import { fixedFile, onceMade, sendFixedFile } from './fixed-file.ts'
import { readDocs } from './read-docs.ts'
import { referenceAssets, referencePage, referencePolicy } from './reference.ts'

type Handler = (req: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/**
 * /docs: the API reference, the guides and a page for each error code. For anyone, and fixed while the server runs.
 * Gives the landing page, whose address answers programs too.
 */
export function addDocsPages(app: FastifyInstance, addresses: { publicUrl: string; spacesUrl: string }): { landing: Handler } {
  const { chapters, errors } = readDocs(addresses)
  const agents = { path: '/docs/agents', title: 'Agents in rooms', html: agentsPage }
  for (const { path, title, html } of [...chapters.flatMap(({ pages }) => pages), ...errors, agents]) {
    app.get(path, servePage(docsPage({ path, title, body: html }, chapters)))
  }
  const downloads = addDownloads(app, addresses.publicUrl)
  const downloadsPage = async () => docsPage({ path: '/downloads', title: 'Downloads', body: await downloads() }, chapters)
  app.get('/downloads', servePage(downloadsPage))
  app.get('/docs', servePage(referencePage(false, chapters), referencePolicy))
  app.get('/docs/full', servePage(referencePage(true, chapters), referencePolicy))
  app.get('/docs/guides', async (_req, reply) => reply.redirect(chapters[0]?.pages[0]?.path ?? '/docs', 302))

  app.get(
    stylePath,
    serveFile('text/css; charset=utf-8', async () => docsStyle),
  )
  for (const [path, { type, read }] of Object.entries(referenceAssets)) app.get(path, serveFile(type, read))
  return { landing: servePage(docsPage({ path: '/', title: 'Atrium', body: landingBody(addresses.publicUrl) }, chapters)) }
}

function serveFile(type: string, read: () => Promise<string | Buffer>): Handler {
  const file = onceMade(async () => fixedFile(await read()))
  return async (req, reply) => sendFixedFile(req, reply.header('content-type', type), await file())
}

function servePage(html: string | (() => Promise<string>), policy = docsPolicy): Handler {
  const serve = serveFile('text/html; charset=utf-8', async () => (typeof html === 'string' ? html : html()))
  return (req, reply) => {
    reply.header('content-security-policy', policy).header('referrer-policy', 'no-referrer')
    return serve(req, reply.header('cross-origin-opener-policy', 'same-origin'))
  }
}

function landingBody(publicUrl: string): string {
  return (
    `<h1>Atrium</h1><p>A platform that other people’s apps are built on. The API answers at <code>${escapeHtml(publicUrl)}/v1</code>.</p>` +
    `<ul><li><a href="/docs/guides/quickstart">Quickstart</a>: from two keys to a page that people add to</li>` +
    `<li><a href="/docs">Operations</a>: the reference, to read and to try out</li>` +
    `<li><a href="/docs/errors">Error codes</a>, each with its cause and remedy</li>` +
    `<li><a href="/downloads">Downloads</a>: the client, the command line and the verifier</li>` +
    `<li><a href="/openapi.json">openapi.json</a> (<a href="/openapi.yaml">yaml</a>): what is live</li>` +
    `<li><a href="/openapi.full.json">openapi.full.json</a> (<a href="/openapi.full.yaml">yaml</a>): all that is planned</li></ul>`
  )
}
