import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { renderMarkdown, type RenderedMarkdown } from './render-markdown.ts'

export interface DocsPage extends RenderedMarkdown {
  path: string
}

export interface DocsChapter {
  title: string
  pages: DocsPage[]
}

export interface Docs {
  /** In their order: guides, then what operators need. */
  chapters: DocsChapter[]
  /** The index and a page for each code. */
  errors: DocsPage[]
}

export interface DocsSettings {
  publicUrl: string
  spacesUrl: string
  /** The publishable key of a development server, for the examples; undefined in production. */
  developmentKey: string | undefined
}

const folder = fileURLToPath(new URL('../../../../../docs/', import.meta.url))

const guides = [
  'quickstart',
  'python',
  'keys',
  'idempotency',
  'errors',
  'collections',
  'artifacts',
  'credits',
  'sessions',
  'webhooks',
  'live',
  'mcp',
  'space',
].map((name) => `guides/${name}.md`)
const operating = ['payments.md', 'storage.md', 'master-key.md', 'turn.md', 'verification.md']

/** The pages for people, without the errors. */
export const docsFiles: readonly string[] = [...guides, ...operating]

/** Reads and renders the files of docs/ that are served, with the addresses of this installation in their examples. */
export function readDocs({ publicUrl, spacesUrl, developmentKey }: DocsSettings): Docs {
  const errors = readdirSync(folder + 'errors').map((name) => `errors/${name}`)
  const served = new Map([...guides, ...operating, ...errors].map((file) => [file, pathOf(file)]))
  const read = (file: string): DocsPage => {
    const path = pathOf(file)
    const text = readFileSync(folder + file, 'utf8')
      .replaceAll('http://localhost:8787', publicUrl)
      .replaceAll('http://localhost:8788', spacesUrl)
      // In code only: sentences speak of any key.
      .replaceAll(/^```[^]*?^```/gm, (code) => code.replaceAll('wpk_…', developmentKey ?? 'wpk_…'))
    return { path, ...renderMarkdown(text, (href) => resolve(file, href, served)) }
  }
  return {
    chapters: [
      { title: 'Guides', pages: guides.map(read) },
      { title: 'Operating', pages: operating.map(read) },
    ],
    errors: errors.map(read),
  }
}

/** `errors/not_found.md` is at /docs/errors/not_found, and the index of errors at /docs/errors. */
function pathOf(file: string): string {
  return `/docs/${file.replace(/(?:\/README)?\.md$/, '')}`
}

/** Links between the files lead to their pages; to files that are not served, nowhere. */
function resolve(file: string, href: string, served: ReadonlyMap<string, string>): string | undefined {
  if (/^(?:https?:|\/|#)/.test(href)) return href
  const [path = '', hash] = href.split('#')
  const target = served.get(posix.join(posix.dirname(file), path))
  return target && hash ? `${target}#${hash}` : target
}
