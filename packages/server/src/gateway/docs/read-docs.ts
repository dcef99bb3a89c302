import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { renderMarkdown, titleOf, type RenderedMarkdown } from './render-markdown.ts'

export interface DocsPage {
  path: string
  title: string
  /** Reads and renders it again at each call, in some milliseconds: the text of all pages would take a megabyte. */
  render: () => RenderedMarkdown
}

interface DocsChapter {
  title: string
  pages: DocsPage[]
}

export interface Docs {
  /** In the order of the menu: guides, then pages for operators. */
  chapters: DocsChapter[]
  /** The index and a page for each code. */
  errors: DocsPage[]
}

export interface DocsSettings {
  publicUrl: string
  spacesUrl: string
  production: boolean
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
  'event-chain',
  'live',
  'mcp',
  'space',
].map((name) => `guides/${name}.md`)
/** The index, and the pages in its order. */
const operatingIndex = 'operating/README.md'
const operatingPages = readFileSync(folder + operatingIndex, 'utf8')
  .split('\n')
  .flatMap((line) => /^\| \[[a-z.-]{1,60}\]\(([a-z-]{1,60}\.md)\)/.exec(line)?.[1] ?? [])
  .map((name) => `operating/${name}`)
const connected = [
  'scaling.md',
  'payments.md',
  'storage.md',
  'master-key.md',
  'turn.md',
  'verification.md',
  'transparency-log.md',
]
const operating = [operatingIndex, ...operatingPages, ...connected]

/** The pages for people, without the errors. */
export const docsFiles: readonly string[] = [...guides, ...operating]

/** Reads the files of docs/ that are served. Their examples have the addresses of this installation. */
export function readDocs({ publicUrl, spacesUrl, developmentKey }: DocsSettings): Docs {
  const errors = readdirSync(folder + 'errors').map((name) => `errors/${name}`)
  const served = new Map([...guides, ...operating, ...errors].map((file) => [file, pathOf(file)]))
  const read = (file: string): DocsPage => {
    const readText = () =>
      readFileSync(folder + file, 'utf8')
        .replaceAll('http://localhost:8787', publicUrl)
        .replaceAll('http://localhost:8788', spacesUrl)
        // The key is replaced only in code, because sentences are about any key.
        .replaceAll(/^```[^]*?^```/gm, (code) => code.replaceAll('wpk_…', developmentKey ?? 'wpk_…'))
    const render = () => renderMarkdown(readText(), (href) => resolve(file, href, served))
    // A title that is a part of the text would keep all of the text in memory.
    return { path: pathOf(file), title: Buffer.from(titleOf(readText())).toString(), render }
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
export function pathOf(file: string): string {
  return `/docs/${file.replace(/(?:\/README)?\.md$/, '')}`
}

/** A link between files leads to the page of the file. If the file is not served, only the text of the link stays. */
function resolve(file: string, href: string, served: ReadonlyMap<string, string>): string | undefined {
  if (/^(?:https?:|\/|#)/.test(href)) return href
  const [path = '', hash] = href.split('#')
  const target = served.get(posix.join(posix.dirname(file), path))
  return target && hash ? `${target}#${hash}` : target
}
