import type { Json, JsonObject } from '@atrium/contract/openapi-schemas'
import { escapeHtml } from '@atrium/web/share/escape-html'
import { inlineHtml } from './text.ts'

/** Returns the address of a named schema that `$ref` refers to. */
export const objectsPath = '/docs/api/objects'

/** The properties of an object as a nested list; of an array of objects, those of its entries. */
export function propertyList(schema: JsonObject): string {
  const inner = entriesOf(schema)
  const alternatives = alternativesOf(inner)
  if (alternatives.length > 0) return alternatives.map((one, at) => alternative(one, at)).join('')
  const properties = objectOf(inner['properties'])
  const required = new Set(Array.isArray(inner['required']) ? inner['required'] : [])
  const fields = Object.entries(properties).map(([name, property]) =>
    field({ name, schema: objectOf(property), required: required.has(name) }),
  )
  return fields.length > 0 ? `<dl class="fields">${fields.join('')}</dl>` : ''
}

export interface Field {
  name: string
  schema: JsonObject
  required: boolean
}

/** One property or parameter: its name, type, whether it must be there, meaning and limits. */
export function field({ name, schema, required }: Field): string {
  const { description } = schema
  const limits = limitsOf(schema)
  return (
    `<div class="field"><dt><code>${escapeHtml(name)}</code> <span class="type">${typeOf(schema)}</span>` +
    `${required ? ' <span class="required">required</span>' : ''}</dt><dd>` +
    (typeof description === 'string' ? `<p>${inlineHtml(description)}</p>` : '') +
    `${limits.length > 0 ? `<p class="limits">${limits.join(' · ')}</p>` : ''}${children(name, schema)}</dd></div>`
  )
}

function children(name: string, schema: JsonObject): string {
  const list = propertyList(schema)
  if (list === '') return ''
  const count = Object.keys(objectOf(entriesOf(schema)['properties'])).length
  const what = count > 0 ? `${count} ${count === 1 ? 'property' : 'properties'}` : 'alternatives'
  return `<details><summary>${what} of <code>${escapeHtml(name)}</code></summary>${list}</details>`
}

function alternative(schema: JsonObject, at: number): string {
  const tell = Object.entries(objectOf(schema['properties'])).find(([, one]) => 'const' in objectOf(one))
  const named = tell ? `<code>${escapeHtml(`${tell[0]}: ${JSON.stringify(objectOf(tell[1])['const'])}`)}</code>` : undefined
  const title = named ?? refLink(schema) ?? (typeof schema['title'] === 'string' ? escapeHtml(schema['title']) : `form ${at + 1}`)
  const description = typeof schema['description'] === 'string' ? `<p>${inlineHtml(schema['description'])}</p>` : ''
  const list = propertyList(schema)
  if (list === '') return `<p class="alternative">${at === 0 ? 'Either' : 'Or'} ${title}: ${typeOf(schema)}</p>${description}`
  return `<details class="alternative"><summary>${at === 0 ? 'Either' : 'Or'} ${title}</summary>${description}${list}</details>`
}

/** string; array of integer; `col_…` of a collection; a link to a named schema. */
function typeOf(schema: JsonObject): string {
  const link = refLink(schema)
  if (link) return link
  if ('const' in schema) return `<code>${escapeHtml(JSON.stringify(schema['const']))}</code>`
  const { type } = schema
  if (type === 'array') return `array of ${'items' in schema ? typeOf(objectOf(schema['items'])) : 'any JSON'}`
  if (Array.isArray(type)) return type.map(String).join(' or ')
  if (typeof type === 'string') return escapeHtml(type)
  return alternativesOf(schema).length > 0 ? 'one of several forms' : 'any JSON'
}

function refLink(schema: JsonObject): string | undefined {
  const { $ref } = schema
  if (typeof $ref !== 'string') return undefined
  const name = escapeHtml($ref.slice($ref.lastIndexOf('/') + 1))
  return `<a href="${objectsPath}#${name}">${name}</a>`
}

function limitsOf(given: JsonObject): string[] {
  const schema = given['type'] === 'array' && 'items' in given ? { ...objectOf(given['items']), ...given } : given
  const said: string[] = []
  const code = (value: Json | undefined) =>
    `<code>${escapeHtml(typeof value === 'string' ? value : JSON.stringify(value))}</code>`
  if (Array.isArray(schema['enum'])) said.push(`one of ${schema['enum'].map((value) => code(value)).join(', ')}`)
  if ('default' in schema) said.push(`default ${code(schema['default'])}`)
  if (typeof schema['format'] === 'string') said.push(`format ${escapeHtml(schema['format'])}`)
  for (const [low, high, unit] of [
    ['minimum', 'maximum', ''],
    ['minLength', 'maxLength', ' characters'],
    ['minItems', 'maxItems', ' entries'],
    ['minProperties', 'maxProperties', ' properties'],
  ] as const) {
    const range = rangeOf(schema[low], schema[high])
    if (range) said.push(range + unit)
  }
  if (schema['uniqueItems'] === true) said.push('each once')
  if (typeof schema['pattern'] === 'string') said.push(patternText(schema['pattern']))
  return said
}

function rangeOf(low: Json | undefined, high: Json | undefined): string | undefined {
  const shown = (value: number) => value.toLocaleString('en')
  // The largest integer that JSON represents exactly is not a limit that anyone chose, so it is not shown.
  const top = high === Number.MAX_SAFE_INTEGER ? undefined : high
  if (typeof low === 'number' && typeof top === 'number') return low === top ? shown(low) : `${shown(low)} to ${shown(top)}`
  if (typeof low === 'number') return `at least ${shown(low)}`
  return typeof top === 'number' ? `at most ${shown(top)}` : undefined
}

/** The pattern of an id is not shown: the prefix is enough. */
function patternText(pattern: string): string {
  const prefix = idPrefixOf(pattern)
  if (prefix) return `an id: <code>${prefix}…</code>`
  return pattern.includes('\\u0000') ? 'no NUL character' : `matches <code>${escapeHtml(pattern)}</code>`
}

/** `col_` of the pattern of a collection's id. */
export function idPrefixOf(pattern: string): string | undefined {
  return /^\^([a-z]+_)\[/.exec(pattern)?.[1]
}

function entriesOf(schema: JsonObject): JsonObject {
  const { items } = schema
  return schema['type'] === 'array' && items !== undefined ? entriesOf(objectOf(items)) : schema
}

function alternativesOf(schema: JsonObject): JsonObject[] {
  const given = schema['anyOf'] ?? schema['oneOf']
  return Array.isArray(given) ? given.map(objectOf) : []
}

function objectOf(value: Json | undefined): JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {}
}
