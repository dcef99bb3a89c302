import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { addDownloads } from './add-downloads.ts'
import { agentsPage } from './agents-page.ts'
import { assetPaths, docsAssets } from './docs-assets.ts'
import { docsPage, docsPolicy, type NavigationSection } from './docs-page.ts'
import { fixedFile, onceMade, sendFixedFile } from './fixed-file.ts'
import { landingBody } from './landing-page.ts'
import { readDocs, type Docs, type DocsPage, type DocsSettings } from './read-docs.ts'
import { objectsPath } from './reference/property-list.ts'
import { referencePages } from './reference/reference-pages.ts'
import { searchEntries } from './search-entries.ts'

type Handler = (req: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/**
 * /docs: the API reference, the guides and a page for each error code. For anyone, and fixed while the server runs.
 * Gives the landing page, whose address answers programs too.
 */
export function addDocsPages(app: FastifyInstance, settings: DocsSettings): { landing: Handler } {
  const { developmentKey } = settings
  const docs = readDocs(settings)
  const navigation = guideNavigation(docs)
  const guides = docs.chapters.flatMap(({ pages }) => pages)

  for (const [at, { html: body, ...page }] of guides.entries()) {
    const around = { previous: guides[at - 1], next: guides[at + 1] }
    app.get(page.path, servePage(docsPage({ ...page, ...around, body, layout: 'prose', navigation, developmentKey })))
  }
  const errorNavigation = [{ title: 'Errors', pages: docs.errors }]
  for (const { path, title, html: body } of docs.errors) {
    app.get(path, servePage(docsPage({ path, title, body, layout: 'prose', navigation: errorNavigation })))
  }
  const agents = { path: '/docs/agents', title: 'Agents in rooms', body: agentsPage, layout: 'prose', navigation } as const
  app.get(agents.path, servePage(docsPage(agents)))
  const downloads = addDownloads(app, settings.publicUrl)
  const downloadsPage = async () =>
    docsPage({ path: '/downloads', title: 'Downloads', body: await downloads(), layout: 'prose', navigation })
  app.get('/downloads', servePage(downloadsPage))

  const reference = referencePages({ publicUrl: settings.publicUrl, publishableKey: developmentKey ?? 'wpk_…' })
  for (const page of reference) app.get(page.path, servePage(docsPage({ ...page, layout: 'wide', developmentKey })))
  // Before, the live operations were on one page and all of them on another.
  app.get('/docs/full', async (_req, reply) => reply.redirect('/docs', 308))
  app.get('/docs/api', async (_req, reply) => reply.redirect('/docs', 308))
  app.get('/docs/guides', async (_req, reply) => reply.redirect(guides[0]?.path ?? '/docs', 302))

  for (const [path, { type, read }] of Object.entries(docsAssets)) app.get(path, serveFile(`${type}; charset=utf-8`, read))
  const objects = reference
    .flatMap((page) => page.navigation.flatMap(({ pages }) => pages))
    .filter(({ path }) => path === objectsPath)
    .flatMap(({ parts = [] }) => parts)
  const entries = searchEntries(guides, new Map(objects.map(({ title, path }) => [title, path])))
  app.get(
    assetPaths.search,
    serveFile('application/json; charset=utf-8', async () => JSON.stringify(entries)),
  )
  const landing = { path: '/', title: 'Atrium', body: landingBody(settings), layout: 'landing', navigation: [] } as const
  return { landing: servePage(docsPage(landing)) }
}

function guideNavigation({ chapters }: Docs): NavigationSection[] {
  const link = ({ path, title }: DocsPage) => ({ path, title })
  return chapters.map(({ title, pages }) => ({ title, pages: pages.map(link) }))
}

function serveFile(type: string, read: () => Promise<string | Buffer>): Handler {
  const file = onceMade(async () => fixedFile(await read()))
  return async (req, reply) => sendFixedFile(req, reply.header('content-type', type), await file())
}

function servePage(html: string | (() => Promise<string>)): Handler {
  const serve = serveFile('text/html; charset=utf-8', async () => (typeof html === 'string' ? html : html()))
  return (req, reply) => {
    reply.header('content-security-policy', docsPolicy).header('referrer-policy', 'no-referrer')
    return serve(req, reply.header('cross-origin-opener-policy', 'same-origin'))
  }
}
