import { readFile } from 'node:fs/promises'
import type { DocsChapter } from './read-docs.ts'
import { widePage } from './docs-page.ts'

const swaggerFolder = new URL('.', import.meta.resolve('swagger-ui-dist/package.json'))

/**
 * Swagger UI writes styles through the DOM's own properties, which needs no unsafe-inline; its style sheet bears its
 * pictures as data. What is tried out goes to this origin alone.
 */
export const referencePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const scripts = { swagger: '/docs/assets/swagger-ui-bundle.js', start: '/docs/assets/reference.js' }
const swaggerStyle = '/docs/assets/swagger-ui.css'

/**
 * Which document is shown stands in the page: nothing of the address decides it. The validator would be another
 * origin.
 */
const startScript = `
if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.classList.add('dark-mode')
const place = document.getElementById('operations')
SwaggerUIBundle({
  domNode: place,
  url: place.dataset.document,
  validatorUrl: null,
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
  presets: [SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
})
`

/** The page of one document, `openapi.json` or `openapi.full.json`, with the way to the other. */
export function referencePage(full: boolean, chapters: readonly DocsChapter[]): string {
  const file = full ? 'openapi.full' : 'openapi'
  const other = full
    ? 'Everything, labelled: what is live, what lives on at the root, what is planned. <a href="/docs">What is live</a>.'
    : 'What is live. <a href="/docs/full">All operations</a>, with those that live on at the root and those that are planned.'
  return widePage(
    {
      path: full ? '/docs/full' : '/docs',
      title: full ? 'All operations' : 'Operations',
      head: `<link rel="stylesheet" href="${swaggerStyle}"><script defer src="${scripts.swagger}"></script><script defer src="${scripts.start}"></script>`,
      body:
        `<h1>${full ? 'All operations' : 'Operations'}</h1>` +
        `<p>${other} As a file: <a href="/${file}.json">JSON</a>, <a href="/${file}.yaml">YAML</a>.</p>` +
        `<p>A request that you try out here goes to this installation. Take a publishable key: a secret key is refused from a browser.</p>`,
      below: `<div id="operations" data-document="/${file}.json"><noscript><p>The list of operations needs JavaScript; the files do not.</p></noscript></div>`,
    },
    chapters,
  )
}

/** Its files by address, read when they are asked for. */
export const referenceAssets: Readonly<Record<string, { type: string; read: () => Promise<Buffer> }>> = {
  [scripts.swagger]: asset('text/javascript', () => readFile(new URL('swagger-ui-bundle.js', swaggerFolder))),
  [scripts.start]: asset('text/javascript', () => Promise.resolve(Buffer.from(startScript))),
  [swaggerStyle]: asset('text/css', () => readFile(new URL('swagger-ui.css', swaggerFolder))),
}

function asset(type: string, read: () => Promise<Buffer>) {
  return { type: `${type}; charset=utf-8`, read }
}
