import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '#errors/api-error.ts'
import { acceptsHtml } from '#http/parse.ts'
import { addDownloads } from './add-downloads.ts'
import { agentsPage } from './agents-page.ts'
import { assetPaths, docsAssets, previewPicture } from './docs-assets.ts'
import { docsPage, docsPolicy, type DocsPageParts, type NavigationSection } from './docs-page.ts'
import { fixedFile, onceMade, sendFixedFile } from './fixed-file.ts'
import { landingBody } from './landing-page.ts'
import { readDocs, type Docs, type DocsPage, type DocsSettings } from './read-docs.ts'
import { objectsPath } from './reference/property-list.ts'
import { namedObjects, referencePages } from './reference/reference-pages.ts'
import { searchEntries } from './search-entries.ts'

type Handler = (req: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/**
 * Adds /docs: the API reference, the guides and a page for each error code. It is public and does not change while
 * the server runs. Each page is rendered at its first request, because rendering all of them takes a third of the time
 * of a start. Returns the landing page, whose address also answers programs.
 */
export function addDocsPages(app: FastifyInstance, settings: DocsSettings): { landing: Handler } {
  const { developmentKey, publicUrl } = settings
  const pageOf = (parts: DocsPageParts) => docsPage({ ...parts, publicUrl })
  const docs = readDocs(settings)
  const navigation = guideNavigation(docs)
  const guides = docs.chapters.flatMap(({ pages }) => pages)

  for (const [at, { path, title, render }] of guides.entries()) {
    const around = { path, title, previous: guides[at - 1], next: guides[at + 1] }
    const page = () => {
      const { html: body, headings } = render()
      return pageOf({ ...around, body, headings, layout: 'prose', navigation, developmentKey })
    }
    app.get(path, servePage(page))
  }
  // The menu lists only the codes. Their titles would take three lines each there.
  const errorLinks = docs.errors.map(({ path, title }) => ({ path, title: title.split(': ', 1).join() }))
  const errorNavigation = [{ title: 'Errors', pages: errorLinks }]
  for (const { path, title, render } of docs.errors) {
    const page = () => pageOf({ path, title, body: render().html, layout: 'prose', navigation: errorNavigation })
    app.get(path, servePage(page))
  }
  const agents = { path: '/docs/agents', title: 'Agents in rooms', body: agentsPage, layout: 'prose', navigation } as const
  app.get(
    agents.path,
    servePage(() => pageOf(agents)),
  )
  const downloads = addDownloads(app, settings)
  const downloadsPage = async () =>
    pageOf({ path: '/downloads', title: 'Downloads', body: await downloads(), layout: 'prose', navigation })
  app.get('/downloads', servePage(downloadsPage))

  const samples = { publicUrl, publishableKey: developmentKey ?? 'wpk_…' }
  for (const { path, title, render } of referencePages(samples))
    app.get(
      path,
      servePage(() => pageOf({ path, title, ...render(), layout: 'wide', developmentKey })),
    )
  // Redirects from the addresses of an earlier release, which had the live operations on one page and all operations
  // on another.
  app.get('/docs/full', async (_req, reply) => reply.redirect('/docs', 308))
  app.get('/docs/api', async (_req, reply) => reply.redirect('/docs', 308))
  app.get('/docs/guides', async (_req, reply) => reply.redirect(guides[0]?.path ?? '/docs', 302))

  const missing = servePage(() => pageOf({ path: '', title: missingTitle, body: missingBody, layout: 'prose', navigation }))
  app.get('/docs/*', async (req, reply) => {
    if (!acceptsHtml(req)) throw new ApiError('not_found')
    return missing(req, reply.code(404).header('vary', 'accept'))
  })

  for (const [path, { type, read }] of Object.entries(docsAssets)) app.get(path, serveFile(`${type}; charset=utf-8`, read))
  app.get(previewPicture.path, serveFile(previewPicture.type, previewPicture.read))
  const search = async () => {
    const objects = new Map(Object.keys(namedObjects(samples)).map((name) => [name, `${objectsPath}#${name}`]))
    return JSON.stringify(searchEntries(guides, objects))
  }
  app.get(assetPaths.search, serveFile('application/json; charset=utf-8', search))
  const landing = { path: '/', title: 'Atrium', body: landingBody(settings), layout: 'landing', navigation: [] } as const
  return { landing: servePage(() => pageOf(landing)) }
}

const missingTitle = 'There is no such page'
const missingBody =
  `<h1>${missingTitle}</h1><p>The address may be incomplete, or the page has another one in this release.</p>` +
  '<p><a href="/docs/guides/quickstart">Quickstart</a> · <a href="/docs">API reference</a> · <a href="/docs/errors">Errors</a></p>'

function guideNavigation({ chapters }: Docs): NavigationSection[] {
  const link = ({ path, title }: DocsPage) => ({ path, title })
  return chapters.map(({ title, pages }) => ({ title, pages: pages.map(link) }))
}

function serveFile(type: string, read: () => Promise<string | Buffer>): Handler {
  const file = onceMade(async () => fixedFile(await read()))
  return async (req, reply) => sendFixedFile(req, reply.header('content-type', type), await file())
}

function servePage(html: () => string | Promise<string>): Handler {
  const serve = serveFile('text/html; charset=utf-8', async () => html())
  return (req, reply) => {
    reply.header('content-security-policy', docsPolicy).header('referrer-policy', 'no-referrer')
    return serve(req, reply.header('cross-origin-opener-policy', 'same-origin'))
  }
}
