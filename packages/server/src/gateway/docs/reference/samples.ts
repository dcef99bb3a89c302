import { jsonOf, schemaJson, type Json, type JsonObject } from '@atrium/contract/openapi-schemas'
import type { Operation } from '@atrium/contract/operation'
import { idPrefixOf } from './property-list.ts'

export const sampleLanguages = [
  { id: 'curl', title: 'curl', highlight: 'sh' },
  { id: 'ts', title: 'TypeScript', highlight: 'ts' },
  { id: 'python', title: 'Python', highlight: 'python' },
] as const

export type SampleLanguage = (typeof sampleLanguages)[number]['id']

/** The values in examples: the addresses of this installation and, on a development server, a key that works. */
export interface SampleSettings {
  publicUrl: string
  publishableKey: string
}

/** Returns the same call in each language; nothing for a proposed operation, because no server answers it. */
export function samplesOf(op: Operation, settings: SampleSettings): Record<SampleLanguage, string> | undefined {
  if (op.status === 'proposed') return undefined
  const call = callOf(op)
  return { curl: curl(op, call, settings), ts: typescript(op, call, settings), python: python(op, call, settings) }
}

interface SampleCall {
  params: [string, string][]
  query: [string, Json][]
  /** Those that the call needs. */
  headers: [string, string][]
  body: Json | undefined
  /** The collection token that the call needs. */
  collectionToken: string | undefined
}

function callOf(op: Operation): SampleCall {
  const required = new Set<string>(op.query?.required)
  return {
    params: Object.entries(op.params?.properties ?? {}).map(([name, schema]) => [
      name,
      String(valueOf(name, schemaJson(schema))),
    ]),
    query: Object.entries(op.query?.properties ?? {})
      .filter(([name]) => required.has(name))
      .map(([name, schema]) => [name, valueOf(name, schemaJson(schema))]),
    headers: (op.headers?.required ?? []).map((name) => [name, '…']),
    body: op.body ? jsonOf(op.example?.body) : undefined,
    collectionToken: op.capability === 'owner' ? 'cat_…' : op.capability === 'contributor' ? 'cct_…' : undefined,
  }
}

/** An example value for a parameter of this type. */
export function valueOf(name: string, schema: JsonObject): Json {
  const { pattern, enum: values, default: usual, type, format } = schema
  const prefix = typeof pattern === 'string' ? idPrefixOf(pattern) : undefined
  if (prefix) return `${prefix}4fRzK0vXcB1mQwErTy7uPa`
  if (usual !== undefined) return usual
  if (Array.isArray(values)) return values[0] ?? null
  if (type === 'integer') return typeof schema['minimum'] === 'number' ? schema['minimum'] : 1
  if (format === 'date' || /\\d\{4\}-\\d\{2\}-\\d\{2\}/.test(String(pattern))) return '2026-11-20'
  if (format === 'date-time') return '2026-11-20T09:30:00.000Z'
  return name === 'url' ? 'https://api.example/v1/collections/col_4fRzK0vXcB1mQwErTy7uPa/render' : `${name}…`
}

/** The path with the version under which the operation is served. */
export function servedPath(op: Operation): string {
  return (op.status === 'legacy' || op.becomes === 'legacy' ? '' : '/v1') + op.path
}

function curl(
  op: Operation,
  { params, query, headers: needed, body, collectionToken }: SampleCall,
  { publicUrl, publishableKey }: SampleSettings,
) {
  const filled = params.reduce((path, [name, value]) => path.replace(`{${name}}`, encodeURIComponent(value)), servedPath(op))
  const search =
    query.length > 0 ? `?${new URLSearchParams(query.map(([name, value]): [string, string] => [name, String(value)]))}` : ''
  const key = { secret: 'wsk_…', publishable: publishableKey, control: 'sct_…', operator: undefined, anyone: undefined }[
    op.caller
  ]
  const headers = [
    ...(key ? [`Authorization: Bearer ${key}`] : []),
    ...(op.caller === 'operator' ? ['X-Admin-Token: …'] : []),
    ...(collectionToken ? [`X-Collection-Token: ${collectionToken}`] : []),
    ...needed.map(([name, value]) => `${capitalised(name)}: ${value}`),
    ...(op.idempotency ? ['Idempotency-Key: 8e03978e-40d5-43dd-bc93-6894a57f9324'] : []),
    ...(body === undefined ? [] : ['Content-Type: application/json']),
  ]
  const usual = body === undefined ? 'GET' : 'POST'
  const isPage = Object.values(op.answers).some(({ raw }) => raw === 'text/event-stream')
  return [
    `curl ${isPage ? '-N ' : ''}${op.method === usual ? '' : `-X ${op.method} `}${shellQuote(publicUrl + filled + search)}`,
    ...headers.map((header) => `  -H ${singleQuote(header)}`),
    ...(body === undefined ? [] : [`  -d ${singleQuote(JSON.stringify(body, null, 2))}`]),
  ].join(' \\\n')
}

/** `github-public-key-identifier` is `Github-Public-Key-Identifier`. */
function capitalised(name: string): string {
  return name.replaceAll(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())
}

function singleQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function shellQuote(text: string): string {
  return /^[\w:/.%-]+$/.test(text) ? text : singleQuote(text)
}

function typescript(op: Operation, call: SampleCall, { publicUrl, publishableKey }: SampleSettings): string {
  const credential = {
    secret: `, key: 'wsk_…'`,
    publishable: `, key: '${publishableKey}'`,
    control: `, controlToken: 'sct_…'`,
    operator: `, adminToken: '…'`,
    anyone: '',
  }[op.caller]
  const members = [
    ...call.params.map(([name, value]) => `${name}: ${literal(value, 'ts')}`),
    ...(call.collectionToken ? [`collectionToken: '${call.collectionToken}'`] : []),
    ...(call.query.length > 0 ? [`query: ${literal(Object.fromEntries(call.query), 'ts', 1)}`] : []),
    ...(call.headers.length > 0 ? [`headers: ${literal(Object.fromEntries(call.headers), 'ts', 1)}`] : []),
    ...(call.body === undefined ? [] : [`body: ${literal(call.body, 'ts', 1)}`]),
  ]
  const oneLine = members.join(', ')
  const input =
    members.length === 0
      ? ''
      : oneLine.length < 60 && !oneLine.includes('\n')
        ? `{ ${oneLine} }`
        : `{\n${members.map((member) => `  ${member},\n`).join('')}}`
  const given = Object.values(op.answers)
  const gives = given.every(({ data }) => data) ? 'const { data } = ' : given.some(({ data }) => data) ? 'const answer = ' : ''
  return [
    "import { createClient } from '@atrium/client'",
    '',
    `const atrium = createClient({ baseUrl: '${publicUrl}/v1'${credential} })`,
    `${gives}await atrium.${op.id}(${input})`,
  ].join('\n')
}

function python(op: Operation, call: SampleCall, { publicUrl, publishableKey }: SampleSettings): string {
  const credential = {
    secret: ', key="wsk_…"',
    publishable: `, key="${publishableKey}"`,
    control: ', control_token="sct_…"',
    operator: ', admin_token="…"',
    anyone: '',
  }[op.caller]
  const members = [
    ...call.params.map(([, value]) => literal(value, 'python')),
    ...(call.collectionToken ? [`collection_token="${call.collectionToken}"`] : []),
    ...call.query.map(([name, value]) => `${name}=${literal(value, 'python', 1)}`),
    ...call.headers.map(([name, value]) => `${name.replaceAll('-', '_')}=${literal(value, 'python', 1)}`),
    ...(call.body === undefined ? [] : [`body=${literal(call.body, 'python', 1)}`]),
  ]
  const oneLine = members.join(', ')
  const input =
    oneLine.length < 60 && !oneLine.includes('\n') ? oneLine : `\n${members.map((member) => `    ${member},\n`).join('')}`
  return [
    'from atrium import Atrium',
    '',
    `atrium = Atrium("${publicUrl}/v1"${credential})`,
    `${Object.values(op.answers).some(({ data }) => data) ? 'answer = ' : ''}atrium.${pythonName(op.id)}(${input})`,
  ].join('\n')
}

/** `addItem` is `add_item`. */
function pythonName(id: string): string {
  return id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** A JSON value as source code, on one line where it is short. */
function literal(value: Json, language: 'ts' | 'python', depth = 0): string {
  if (value === null) return language === 'python' ? 'None' : 'null'
  if (typeof value === 'boolean' && language === 'python') return value ? 'True' : 'False'
  if (typeof value === 'string') return language === 'ts' ? quoted(value) : JSON.stringify(value)
  if (typeof value !== 'object') return String(value)
  const entries = Array.isArray(value)
    ? value.map((entry) => literal(entry, language, depth + 1))
    : Object.entries(value).map(([name, entry]) => `${memberName(name, language)}: ${literal(entry, language, depth + 1)}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  if (entries.length === 0) return open + close
  const inner = entries.join(', ')
  const pad = language === 'ts' && !Array.isArray(value) ? ' ' : ''
  if (inner.length + depth * 2 < 60 && !inner.includes('\n')) return open + pad + inner + pad + close
  const unit = language === 'ts' ? '  ' : '    '
  return `${open}\n${entries.map((entry) => `${unit.repeat(depth + 1)}${entry},\n`).join('')}${unit.repeat(depth)}${close}`
}

function memberName(name: string, language: 'ts' | 'python'): string {
  if (language === 'python') return JSON.stringify(name)
  return /^[A-Za-z_]\w*$/.test(name) ? name : quoted(name)
}

function quoted(text: string): string {
  return text.includes("'")
    ? JSON.stringify(text)
    : `'${JSON.stringify(text)
        .slice(1, -1)
        .replaceAll(String.raw`\"`, '"')}'`
}
