import { openApiDocument } from '@atrium/contract/openapi'
import type { JsonObject } from '@atrium/contract/openapi-schemas'
import { tags } from '@atrium/contract/openapi-tags'
import { eventSpecs } from '@atrium/contract/event-types'
import type { Operation } from '@atrium/contract/operation'
import { operations } from '@atrium/contract/table'
import { schemaJson } from '@atrium/contract/openapi-schemas'
import { escapeHtml } from '@atrium/web/share/escape-html'
import type { NavigationSection } from '../docs-page.ts'
import { codeBlock } from '../highlight.ts'
import { badge, operationSection } from './operation-section.ts'
import { objectsPath, propertyList } from './property-list.ts'
import { servedPath, type SampleSettings } from './samples.ts'
import { inlineHtml, paragraphs, tagPath } from './text.ts'

export interface ReferencePage {
  path: string
  title: string
  /** Renders it again at each call, in some milliseconds. */
  render: () => { body: string; navigation: NavigationSection[] }
}

const everyOperation = Object.values<Operation>(operations)
/** Streams and operations that are not built come last. */
const operationsOf = (tag: string) =>
  everyOperation.filter((op) => op.tag === tag).toSorted((a, b) => Number(isSpecial(a)) - Number(isSpecial(b)))
const isSpecial = ({ kind, status, method }: Operation) => (kind === 'stream' && method === 'GET') || status === 'proposed'

/** The pages of the API reference: an index, a page for each section of the contract, and one for the named objects. */
export function referencePages(settings: SampleSettings): ReferencePage[] {
  const sections = tags.map(({ name, description }) => ({
    path: tagPath(name),
    title: name,
    render: () => ({
      body:
        `<div class="intro"><h1>${escapeHtml(name)}</h1><p class="lead">${inlineHtml(description)}</p></div>` +
        operationsOf(name)
          .map((op) => operationSection(op, settings))
          .join('') +
        (name === 'Webhooks' ? eventSections() : ''),
      navigation: navigation(name),
    }),
  }))
  return [
    { path: '/docs', title: 'API reference', render: () => ({ body: indexBody(settings), navigation: navigation() }) },
    ...sections,
    {
      path: objectsPath,
      title: 'Objects',
      render: () => {
        const objects = namedObjects(settings)
        return { body: objectsBody(objects), navigation: navigation('Objects', Object.keys(objects)) }
      },
    },
  ]
}

/** The named schemas of the contract. */
export function namedObjects({ publicUrl }: SampleSettings): Record<string, JsonObject> {
  const document = openApiDocument({ full: true, baseUrl: `${publicUrl}/v1` })
  return (document.components as { schemas: Record<string, JsonObject> }).schemas
}

/** The navigation: all sections, and the entries of the open one. */
function navigation(open?: string, names: readonly string[] = []): NavigationSection[] {
  const sections = tags.map(({ name }) => ({
    path: tagPath(name),
    title: name,
    ...(name === open
      ? { parts: operationsOf(name).map(({ id, summary }) => ({ path: `${tagPath(name)}#${id}`, title: summary })) }
      : {}),
  }))
  const objects = {
    path: objectsPath,
    title: 'Objects',
    ...(open === 'Objects' ? { parts: names.map((name) => ({ path: `${objectsPath}#${name}`, title: name })) } : {}),
  }
  return [{ title: 'API reference', pages: [{ path: '/docs', title: 'Overview' }, ...sections, objects] }]
}

function indexBody({ publicUrl, publishableKey }: SampleSettings): string {
  const first = [
    `curl ${publicUrl}/v1/collections \\`,
    `  -H 'Authorization: Bearer ${publishableKey}' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '{"metadata": {"share_title": "Lantern night"}}'`,
  ].join('\n')
  const lists = tags.map(({ name, description }) => {
    const rows = operationsOf(name).map(
      (op) =>
        `<li><a href="${tagPath(name)}#${op.id}"><span class="what">${escapeHtml(op.summary)}${badge(op)}</span>` +
        `<span class="route"><span class="method ${op.method.toLowerCase()}">${op.method}</span> <code>${escapeHtml(servedPath(op))}</code></span></a></li>`,
    )
    return `<section class="group"><h2><a href="${tagPath(name)}">${escapeHtml(name)}</a></h2><p>${inlineHtml(description)}</p><ul class="operations">${rows.join('')}</ul></section>`
  })
  return (
    `<div class="intro"><h1>API reference</h1><p class="lead">One HTTP API for collections, artifacts, agents, credits and rooms.</p>` +
    `<p>Requests and answers are JSON. A success is <code>{data, meta?}</code>, an error <code>{error: {code, message, request_id}}</code>; ` +
    `each code has <a href="/docs/errors">a page</a>. Every answer has <code>X-Request-Id</code>. Send a key of your tenant as ` +
    `<code>Authorization: Bearer …</code> or as <code>X-API-Key</code>: <a href="/docs/guides/keys">which key may do what</a>.</p>` +
    `<p>Private beta: the contract may change, in agreement with the invited tenants. As a file: <a href="/openapi.json">openapi.json</a>, ` +
    `<a href="/openapi.yaml">yaml</a> (what is live); <a href="/openapi.full.json">openapi.full.json</a>, ` +
    `<a href="/openapi.full.yaml">yaml</a> (everything, with its status).</p>${codeBlock(first, 'sh', 'A first call')}</div>${lists.join('')}`
  )
}

function objectsBody(objects: Record<string, JsonObject>): string {
  const sections = Object.entries(objects).map(([name, schema]) => {
    const description = typeof schema['description'] === 'string' ? paragraphs(schema['description']) : ''
    const list = propertyList(schema)
    const values = Array.isArray(schema['enum'])
      ? `<p>One of ${schema['enum'].map((value) => `<code>${escapeHtml(String(value))}</code>`).join(', ')}.</p>`
      : ''
    return `<section class="object" id="${name}"><h2><a href="#${name}">${name}</a></h2>${description}${values}${list}</section>`
  })
  return `<div class="intro"><h1>Objects</h1><p class="lead">The named schemas of the contract.</p></div>${sections.join('')}`
}

function eventSections(): string {
  const parts = Object.entries(eventSpecs).map(
    ([type, { summary, description, data, example }]) =>
      `<section class="operation" id="event-${type}" aria-labelledby="event-${type}-title"><div class="about"><h3 id="event-${type}-title"><a href="#event-${type}"><code>${type}</code></a></h3>` +
      `<p>${escapeHtml(summary)}. ${inlineHtml(description)}</p>${propertyList(schemaJson(data))}</div>` +
      `<div class="examples">${codeBlock(JSON.stringify(example, null, 2), 'json', 'data')}</div></section>`,
  )
  return `<div class="intro" id="events"><h2>Events</h2><p>The types of events, each with its <code>data</code>.</p></div>${parts.join('')}`
}
