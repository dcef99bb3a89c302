import { eventSpecs } from '../../packages/contract/src/event-types.ts'
import { Event } from '../../packages/contract/src/events.ts'
import { ExportEnd, ExportHead } from '../../packages/contract/src/item-export.ts'
import { Item, OpenItem } from '../../packages/contract/src/items.ts'
import type { AnswerSpec, Operation } from '../../packages/contract/src/operation.ts'
import { SessionStatus } from '../../packages/contract/src/sessions.ts'
import * as space from '../../packages/contract/src/space-schemas.ts'
import { servedOperations } from '../../packages/contract/src/table.ts'
import { printComment, printType } from './print-type.ts'

/**
 * The modules of the contract that the client's declarations import, as plain types: whoever installs the client needs
 * neither the contract nor TypeBox, and an editor shows what each member means.
 */
export const contractModules: Record<string, () => string> = {
  'typebox.d.ts': typeboxModule,
  'contract/src/table.d.ts': tableModule,
  'contract/src/event-types.d.ts': eventTypesModule,
  'contract/src/items.d.ts': () => schemasModule({ Item, OpenItem }),
  'contract/src/item-export.d.ts': itemExportModule,
  'contract/src/streams.d.ts': streamsModule,
  'contract/src/events.d.ts': () => schemasModule({ Event }),
  'contract/src/sessions.d.ts': () => schemasModule({ SessionStatus }),
  'contract/src/space-schemas.d.ts': () => schemasModule(space),
}

/** A schema, whose type alone counts, in the place of TypeBox's. */
function typeboxModule(): string {
  return `export interface TSchema<T = unknown> { readonly type: T }
export type TObject = TSchema<object>
export type Static<S> = S extends TSchema<infer T> ? T : never
`
}

function tableModule(): string {
  return `import type { TSchema } from '../../typebox.js'
import type { ItemExportLine } from './item-export.js'
import type { CollectionEventMessage, ControlMessage, EventMessage, OpenItemMessage, StreamBody } from './streams.js'
export interface Operations {
${servedOperations.map(printOperation).join('\n')}
}
export type OperationId = keyof Operations
export type ServedOperationId = OperationId
`
}

function printOperation(op: Operation): string {
  const { id, kind, method, path, status, caller, capability, idempotency, answers, summary, description } = op
  const parts = { params: op.params, query: op.query, headers: op.headers, body: op.body }
  const fixed = { id, kind, method, path, status, caller, capability, idempotency }
  const members = [
    ...Object.entries(fixed).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${JSON.stringify(value)}`])),
    'tag: string; summary: string; description: string',
    ...Object.entries(parts).flatMap(([name, schema]) => (schema ? [`${name}: ${schemaOf(schema)}`] : [])),
    `answers: {\n${Object.entries(answers)
      .map(([code, answer]) => {
        const { raw } = answer
        const payload = payloadOf(id, answer)
        const inside = ['description: string', payload && `data: ${payload}`, raw && `raw: ${JSON.stringify(raw)}`]
        return `${code}: { ${inside.filter(Boolean).join('; ')} }`
      })
      .join('\n')}\n}`,
  ]
  return `${printComment(`${summary}.`, description)}${id}: {\n${members.join('\n')}\n}`
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

/** The messages of each stream: their type is no schema, since the answer is not JSON. */
const streamMessages: Record<string, string> = {
  streamEvents: 'EventMessage | ControlMessage',
  streamCollection: 'OpenItemMessage | CollectionEventMessage | ControlMessage',
  streamWall: 'OpenItemMessage | ControlMessage',
  exportItems: 'ItemExportLine',
}

function streamsModule(): string {
  return `import type { Static } from '../../typebox.js'
import type { EventData, EventType } from './event-types.js'
import type { Event } from './events.js'
import type { OpenItem } from './items.js'
/** \`ready\`: the first message of a stream without a cursor. \`reset\`: the cursor has expired; read the state again. */
export type ControlMessage = { event: 'ready' | 'reset'; data: Record<never, never> }
/** \`item\`: an item that became open or was curated. \`removed\`: an item that is no longer open. */
export type OpenItemMessage =
  | { event: 'item'; data: Static<typeof OpenItem> }
  | { event: 'removed'; data: Pick<Static<typeof OpenItem>, 'id'> }
type MessageOfEvent<E extends { type: string; data: unknown }> = {
  [Name in EventType]: { event: Name; data: Omit<E, 'type' | 'data'> & { type: Name; data: EventData<Name> } }
}[EventType]
export type EventMessage = MessageOfEvent<Static<typeof Event>>
export type CollectionEventMessage = MessageOfEvent<Pick<Static<typeof Event>, 'id' | 'type' | 'created_at' | 'data'>>
/** The body of a stream whose messages are of this type. */
export interface StreamBody<Message> extends ReadableStream<Uint8Array<ArrayBuffer>> {
  readonly message?: Message
}
`
}

function itemExportModule(): string {
  return `${schemasModule({ ExportHead, ExportEnd })}import type { Static } from '../../typebox.js'
import type { Item } from './items.js'
export type ExportedItem = Static<typeof Item>
export type ItemExportLine = Static<typeof ExportHead> | ExportedItem | Static<typeof ExportEnd>
`
}

/** The payload of an answer: of a stream, its messages or lines. */
function payloadOf(id: string, { data, raw }: AnswerSpec): string | undefined {
  if (raw !== 'text/event-stream' && raw !== 'application/x-ndjson') return data && schemaOf(data)
  const messages = streamMessages[id]
  if (!messages) throw new Error(`${id}: say in streamMessages what its messages are`)
  return `TSchema<StreamBody<${messages}>>`
}

function schemasModule(schemas: Record<string, object>): string {
  const lines = Object.entries(schemas).map(([name, schema]) => `export declare const ${name}: ${schemaOf(schema)}`)
  return `import type { TSchema } from '../../typebox.js'\n${lines.join('\n')}\n`
}

function schemaOf(schema: object): string {
  return `TSchema<${printType(schema)}>`
}
