import { parseSync } from 'oxc-parser'
import { eventSpecs } from '../../packages/contract/src/event-types.ts'
import { Event } from '../../packages/contract/src/events.ts'
import * as itemExport from '../../packages/contract/src/item-export.ts'
import { Item, OpenItem } from '../../packages/contract/src/item-schemas.ts'
import type { AnswerSpec, Operation } from '../../packages/contract/src/operation.ts'
import { SessionLaunch, SessionStatus } from '../../packages/contract/src/session-schemas.ts'
import * as space from '../../packages/contract/src/space-schemas.ts'
import * as streams from '../../packages/contract/src/streams.ts'
import { errorCodesOf } from '../../packages/contract/src/error-codes.ts'
import { servedOperations } from '../../packages/contract/src/table.ts'
import { commonErrors } from '../../packages/server/src/gateway/docs/reference/operation-section.ts'
import { samplesOf } from '../../packages/server/src/gateway/docs/reference/samples.ts'
import { printComment, printType } from './print-type.ts'

const callPath = 'client/src/call.d.ts'
const exportPath = 'contract/src/item-export.d.ts'
const streamsPath = 'contract/src/streams.d.ts'
const tenantDataPath = 'contract/src/tenant-data.d.ts'

/** The compiler's declarations of a module, such as `contract/src/streams.d.ts`. */
type Declared = (path: string) => Promise<string>

/**
 * Writes the modules of the contract that the client's declarations import, as plain types, and the client's calls. Users of the client then
 * need neither the contract nor TypeBox, and an editor shows the meaning of each property.
 */
export const contractModules: Record<string, (declared: Declared) => string | Promise<string>> = {
  'typebox.d.ts': typeboxModule,
  'contract/src/table.d.ts': tableModule,
  'contract/src/event-types.d.ts': eventTypesModule,
  'contract/src/item-schemas.d.ts': () => schemasModule({ Item, OpenItem }),
  [exportPath]: async (declared) => typesModule(await declared(exportPath), itemExport),
  [streamsPath]: async (declared) => typesModule(await declared(streamsPath), streams),
  'contract/src/events.d.ts': () => schemasModule({ Event }),
  'contract/src/session-schemas.d.ts': () => schemasModule({ SessionLaunch, SessionStatus }),
  'contract/src/space-schemas.d.ts': () => schemasModule(space),
  [callPath]: async (declared) => callModule(await declared(callPath)),
}

/** Replaces a schema of TypeBox, of which only the type matters. */
function typeboxModule(): string {
  return `export interface TSchema<T = unknown> { readonly type: T }
export type TObject = TSchema<object>
export type Static<S> = S extends TSchema<infer T> ? T : never
`
}

async function tableModule(declared: Declared): Promise<string> {
  const sources = await Promise.all([streamsPath, exportPath, tenantDataPath].map(declared))
  const [fromStreams, fromExport] = sources.map((text) => typesIn(text).join(', '))
  const streamed = (id: string) => streamOf(id, sources.join('\n'))
  return `import type { TSchema } from '../../typebox.js'
import type { ${fromExport} } from './item-export.js'
import type { ${fromStreams} } from './streams.js'
export interface Operations {
${servedOperations.map((op) => printOperation(op, streamed)).join('\n')}
}
export type OperationId = keyof Operations
export type ServedOperationId = OperationId
`
}

function printOperation(op: Operation, streamed: (id: string) => string): string {
  const { id, kind, method, path, status, caller, capability, idempotency, answers, summary } = op
  const parts = { params: op.params, query: op.query, headers: op.headers, body: op.body }
  const fixed = { id, kind, method, path, status, caller, capability, idempotency }
  const members = [
    ...Object.entries(fixed).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${JSON.stringify(value)}`])),
    'tag: string; summary: string; description: string',
    ...Object.entries(parts).flatMap(([name, schema]) => (schema ? [`${name}: ${schemaOf(schema)}`] : [])),
    `answers: {\n${Object.entries(answers)
      .map(([code, answer]) => {
        const { raw } = answer
        const payload = payloadOf(answer, () => streamed(id))
        const inside = ['description: string', payload && `data: ${payload}`, raw && `raw: ${JSON.stringify(raw)}`]
        return `${code}: { ${inside.filter(Boolean).join('; ')} }`
      })
      .join('\n')}\n}`,
  ]
  return `${printComment(`${summary}.`)}${id}: {\n${members.join('\n')}\n}`
}

/**
 * The compiler's declarations of the client's calls, with `AtriumClient` as an interface instead of a mapped type: not
 * every editor shows the documentation of a mapped type's members.
 */
function callModule(declarations: string): string {
  const mapped = /export type AtriumClient = \{\s+readonly \[Id in ServedOperationId\]: Call<Operations\[Id\]>;\s+\};/
  if (!mapped.test(declarations)) throw new Error('AtriumClient is declared in another way than the package expects')
  const methods = servedOperations.map((op) => {
    const comment = printComment(`${op.summary}.`, op.description, ...callNotes(op), exampleOf(op))
    return `${comment}readonly ${op.id}: Call<Operations['${op.id}']>;`
  })
  return declarations.replace(mapped, () => `export interface AtriumClient {\n${methods.join('\n')}\n}`)
}

/** What a caller needs, and the errors of this operation besides those that most operations have. */
function callNotes(op: Operation): string[] {
  const { caller, capability, idempotency, sessionOnly, roles = [] } = op
  const codes = op.flatErrors
    ? Object.values(op.flatErrors).map(({ error }) => error)
    : errorCodesOf(op).filter((code) => !commonErrors.has(code))
  return [
    `Credential: ${sessionOnly ? `a session of the console with the role ${roles.join(' or ')}; no key` : credentials[caller]}${capability ? `; ${tokens[capability]}` : ''}.`,
    ...(idempotency ? ['The client sends an Idempotency-Key and repeats the call after a lost answer.'] : []),
    ...(codes.length > 0 ? [`Errors: ${[...new Set(codes)].map((code) => `\`${code}\``).join(', ')}.`] : []),
  ]
}

const credentials: Record<Operation['caller'], string> = {
  secret: 'a secret key (`wsk_…`)',
  publishable: 'a publishable key (`wpk_…`) or a secret key',
  operator: 'the operator’s `adminToken`',
  control: 'the `controlToken` of the session (`sct_…`)',
  anyone: 'none',
}

const tokens: Record<NonNullable<Operation['capability']>, string> = {
  owner: '`collectionToken` is the admin token of the collection',
  contributor: '`collectionToken` is the contributor or admin token, if the collection’s policy is `token`',
  optional: '`collectionToken` is optional, and adds what only the owner may read',
}

/** The TypeScript example of the API reference, without the lines that create the client. */
function exampleOf(op: Operation): string | undefined {
  const sample = samplesOf(op, { publicUrl: 'https://api.example', publishableKey: 'wpk_…' })
  return sample && `@example\n${sample.ts.split('\n').slice(3).join('\n')}`
}

function eventTypesModule(): string {
  return `interface EventDataByType {
${Object.entries(eventSpecs)
  .map(([type, { summary, description, data }]) => `${printComment(`${summary}.`, description)}'${type}': ${printType(data)}`)
  .join('\n')}
}
export type EventType = keyof EventDataByType
export type EventData<T extends EventType> = EventDataByType[T]
`
}

/** The payload of an answer; of a stream, its messages or lines. */
function payloadOf({ data, raw }: AnswerSpec, streamed: () => string): string | undefined {
  const isStream = raw === 'text/event-stream' || raw === 'application/x-ndjson'
  return isStream ? `TSchema<${streamed()}>` : data && schemaOf(data)
}

/**
 * The type of a stream's body. It comes from the operation's declaration, because the answer is not JSON and has no
 * schema.
 */
function streamOf(id: string, declarations: string): string {
  const [, type] =
    new RegExp(`^ +${id}: \\{[^]*?\\bdata: import\\(.typebox.\\)\\.TUnsafe<(StreamBody<.*>)>;$`, 'm').exec(declarations) ?? []
  if (type === undefined) throw new Error(`${id}: its declaration does not say what its messages are`)
  return type
}

/** The names of the types that a module exports. */
function typesIn(declarations: string): string[] {
  return [...declarations.matchAll(/^export (?:type|interface) (\w+)/gm)].map(([, name = '']) => name)
}

/** A module with the compiler's types unchanged and with schemas as plain types. Its operations are left out. */
function typesModule(declarations: string, values: Readonly<Record<string, unknown>>): string {
  const parts = ["import type { Static, TSchema } from '../../typebox.js'"]
  let end = 0
  for (const node of parseSync('module.d.ts', declarations).program.body) {
    const comment = declarations.slice(end, node.start).trim()
    const withComment = declarations.slice(end, node.end).trim()
    ;({ end } = node)
    if (node.type === 'ImportDeclaration') {
      if (node.source.value !== 'typebox') parts.push(withComment.replace(/^import (?!type )/, 'import type '))
      continue
    }
    const statement = node.type === 'ExportNamedDeclaration' ? node.declaration : node
    if (statement?.type !== 'VariableDeclaration') {
      parts.push(withComment)
      continue
    }
    const [name = ''] = statement.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []))
    if (name.endsWith('Operations')) continue
    const schema = values[name]
    if (typeof schema !== 'object' || schema === null)
      throw new Error(`${name} must be exported, so that its type can be printed`)
    parts.push(`${comment}\nexport declare const ${name}: ${schemaOf(schema)}`)
  }
  return `${parts.join('\n')}\n`
}

function schemasModule(schemas: Record<string, object>): string {
  const lines = Object.entries(schemas).map(([name, schema]) => `export declare const ${name}: ${schemaOf(schema)}`)
  return `import type { TSchema } from '../../typebox.js'\n${lines.join('\n')}\n`
}

function schemaOf(schema: object): string {
  return `TSchema<${printType(schema)}>`
}
