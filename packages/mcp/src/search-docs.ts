import { errors } from '@atrium/contract/errors'
import type { Operation } from '@atrium/contract/operation'
import { servedOperations } from '@atrium/contract/table'

/** A section of a page: from one heading to the next. */
export interface DocsSection {
  /** The path on the origin, such as /docs/guides/keys. */
  path: string
  title: string
  text: string
}

interface Found {
  path: string
  title: string
  excerpt: string
}

const excerptChars = 700

const operationSections: DocsSection[] = servedOperations
  .filter(({ unpublished }) => !unpublished)
  .map(({ method, path, status, summary, description }: Operation) => ({
    path: '/docs',
    title: `${method} ${status === 'live' ? '/v1' : ''}${path}: ${summary}`,
    text: description,
  }))

const errorSections: DocsSection[] = Object.entries(errors).map(([code, { title, cause, remedy }]) => ({
  path: `/docs/errors/${code}`,
  title: `${code}: ${title}`,
  text: `${cause} ${remedy}`,
}))

/** The sections that contain most of the words; matches in a title come first. */
export function searchDocs(guides: readonly DocsSection[], query: string, limit: number): Found[] {
  const words = [...new Set(wordsOf(query))]
  return [...guides, ...operationSections, ...errorSections]
    .map((section) => ({ section, score: scoreOf(section, words) * weightOf(section) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ section: { path, title, text } }) => ({ path, title, excerpt: excerptOf(text, words) }))
}

/** The reader builds an app, so the pages about operating an installation come after the guides. */
function weightOf({ path }: DocsSection): number {
  return path.startsWith('/docs/operating/') ? 0.5 : 1
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []
}

/**
 * Each word counts once in the text and three times in the title. A section without most of the words does not
 * match.
 */
function scoreOf({ title, text }: DocsSection, words: readonly string[]): number {
  const [inTitle, inText] = [title.toLowerCase(), text.toLowerCase()]
  const scores = words.map((word) => (inTitle.includes(word) ? 3 : 0) + (inText.includes(word) ? 1 : 0))
  return scores.filter((score) => score > 0).length * 2 < words.length ? 0 : scores.reduce((sum, score) => sum + score, 0)
}

/** The excerpt begins a little before the first match. */
function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase()
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place !== -1)
  const start = Math.max(0, Math.min(...places, text.length) - 120)
  const from = places.length === 0 ? 0 : start
  return text.slice(from, from + excerptChars).toWellFormed()
}
