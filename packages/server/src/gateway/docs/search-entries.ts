import { errors } from '@atrium/contract/errors'
import type { Operation } from '@atrium/contract/operation'
import { operations } from '@atrium/contract/table'
import { eventSpecs } from '@atrium/contract/event-types'
import type { DocsPage } from './read-docs.ts'
import { servedPath } from './reference/samples.ts'
import { tagPath } from './reference/text.ts'

/** Kind, title, address, and further words to match. */
type SearchEntry = [kind: string, title: string, path: string, words: string]

const wordsPerEntry = 40

/** The entries that the search of the documentation covers. The browser loads them when a search begins. */
export function searchEntries(pages: readonly DocsPage[], objects: ReadonlyMap<string, string>): SearchEntry[] {
  return [
    ...Object.values<Operation>(operations).map((op): SearchEntry => {
      const fields = [op.params, op.query, op.body].flatMap((schema) =>
        schema && 'properties' in schema ? Object.keys(schema['properties'] as object) : [],
      )
      return [
        'operation',
        op.summary,
        `${tagPath(op.tag)}#${op.id}`,
        `${op.method} ${servedPath(op)} ${op.id} ${fields.join(' ')}`,
      ]
    }),
    ...Array.from(objects, ([name, path]): SearchEntry => ['object', name, path, '']),
    ...Object.entries(eventSpecs).map(([type, { summary }]): SearchEntry => [
      'event',
      type,
      `${tagPath('Webhooks')}#event-${type}`,
      summary,
    ]),
    ...Object.entries(errors).map(([code, { title, status }]): SearchEntry => [
      'error',
      code,
      `/docs/errors/${code}`,
      `${status} ${title}`,
    ]),
    ...pages.flatMap(({ path, title, render }): SearchEntry[] => [
      ['guide', title, path, ''],
      ...render().headings.map(({ id, title: heading, text }): SearchEntry => [
        'guide',
        `${title}: ${heading}`,
        `${path}#${id}`,
        text.split(/\s+/).slice(0, wordsPerEntry).join(' '),
      ]),
    ]),
  ]
}
