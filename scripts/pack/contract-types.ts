import { eventSpecs } from '../../packages/contract/src/event-types.ts'
import { Event } from '../../packages/contract/src/events.ts'
import type { Operation } from '../../packages/contract/src/operation.ts'
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
      .map(([code, { data, raw }]) => {
        const inside = ['description: string', data && `data: ${schemaOf(data)}`, raw && `raw: ${JSON.stringify(raw)}`]
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

function schemasModule(schemas: Record<string, object>): string {
  const lines = Object.entries(schemas).map(([name, schema]) => `export declare const ${name}: ${schemaOf(schema)}`)
  return `import type { TSchema } from '../../typebox.js'\n${lines.join('\n')}\n`
}

function schemaOf(schema: object): string {
  return `TSchema<${printType(schema)}>`
}
