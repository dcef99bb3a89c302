import type { TSchema } from 'typebox'
import { eventSpecs } from '../../packages/contract/src/event-types.ts'
import { Event } from '../../packages/contract/src/events.ts'
import { collectSchemas, type Json, type JsonObject } from '../../packages/contract/src/openapi-schemas.ts'
import { docstring, isIdentifier, literal, pascalCase, wrap } from './text.ts'

/** A schema of the contract as JSON. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  oneOf?: Schema[]
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  patternProperties?: Record<string, Schema>
  items?: Schema
  description?: string
  default?: unknown
  pattern?: string
}

/** Collects the types of one module, `atrium.types`. */
export interface TypeCollector {
  /** Returns the Python type of the schema. An object without a name gets this name. */
  typeOf: (schema: TSchema, name: string) => string
  /** Returns the schema with names in place of named objects. */
  schemaOf: (schema: TSchema) => Schema
  /** The text of `types.py`. */
  print: (origin: string) => string
}

export function collectTypes(): TypeCollector {
  const schemas = collectSchemas()
  const texts = new Map<string, string>()
  const declared = new Map<string, string>()
  const schemaOf = (schema: TSchema) => schemas.emit(schema) as Schema

  /** Two objects of the same name share a type only if they are equal. */
  function declare(wanted: string, schema: Schema): string {
    const json = JSON.stringify(schema)
    let name = wanted
    for (let n = 2; declared.has(name) && declared.get(name) !== json; n++) name = `${wanted}${n}`
    if (declared.has(name)) return name
    declared.set(name, json)
    texts.set(name, '')
    texts.set(name, printObject(name, schema, print))
    return name
  }

  function print(schema: Schema, name: string): string {
    if (schema.$ref) return component(schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1))
    if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`
    if (schema.enum) return printEnum(schema.enum)
    const parts = schema.oneOf ?? schema.anyOf
    if (parts) return union(parts.map((part, at) => print(part, `${name}${at + 1}`)))
    const { type } = schema
    if (Array.isArray(type)) return union(type.map((one) => print({ ...schema, type: one }, name)))
    if (type === 'array') return `list[${schema.items ? print(schema.items, `${name}Entry`) : 'Any'}]`
    if (type === 'object') return printRecord(schema, name)
    return { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' }[type ?? ''] ?? 'Any'
  }

  function printRecord(schema: Schema, name: string): string {
    if (schema.properties && Object.keys(schema.properties).length > 0) return declare(name, schema)
    const values = Object.values(schema.patternProperties ?? {})[0] ?? schema.additionalProperties
    return `dict[str, ${typeof values === 'object' ? print(values, `${name}Value`) : 'Any'}]`
  }

  /** A schema that the contract names. */
  function component(name: string): string {
    if (!texts.has(name)) {
      const schema = schemas.collected()[name] as Schema
      if (schema.type === 'object' && schema.properties) {
        declared.set(name, JSON.stringify(schema))
        texts.set(name, '')
        texts.set(name, printObject(name, schema, print))
      } else texts.set(name, printAlias(name, schema, print))
    }
    return name
  }

  return {
    schemaOf,
    typeOf: (schema, name) => print(schemaOf(schema), name),
    print: (origin) => {
      const events = printEvents(print, (schema) => schemas.emit(schema as TSchema) as Schema)
      const all = [...texts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text)
      const isAlias = (text: string) => !text.startsWith('class ')
      return `"""The objects of the API. A NotRequired member may be missing."""

# ${origin}

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, Union


${[...all.filter((text) => !isAlias(text)), ...all.filter(isAlias), events].join('\n\n\n')}
`
    },
  }
}

type Print = (schema: Schema, name: string) => string

function printAlias(name: string, schema: Schema, print: Print): string {
  const comment = schema.description ? docstring(wrap(schema.description, ''), '').join('\n') : ''
  return `${name}: TypeAlias = "${print(schema, `${name}Value`).replaceAll('"', "'")}"\n${comment}`.trimEnd()
}

function printObject(name: string, { properties = {}, required = [], description }: Schema, print: Print): string {
  const members = Object.entries(properties).map(([member, schema]) => {
    const type = print(schema, `${name}${pascalCase(member)}`)
    return { member, schema, type: required.includes(member) ? type : `NotRequired[${type}]` }
  })
  if (!members.every(({ member }) => isIdentifier(member))) {
    const fields = members.map(({ member, type }) => `    ${JSON.stringify(member)}: ${JSON.stringify(type)},`)
    return `${name} = TypedDict(\n    "${name}",\n    {\n${fields.map((line) => `    ${line}`).join('\n')}\n    },\n)`
  }
  const lines = members.flatMap(({ member, schema, type }) => {
    const doc = documentation(schema)
    return [`    ${member}: ${type}`, ...(doc ? docstring(wrap(doc, '    '), '    ') : [])]
  })
  const about = description ? [...docstring(wrap(description, '    '), '    '), ''] : []
  return [`class ${name}(TypedDict):`, ...about, ...lines].join('\n')
}

/** What a reader must know beside the type. */
export function documentation({ description, default: value }: Schema): string {
  const said = description ?? ''
  return [said, value === undefined ? '' : `Default: ${literal(value)}.`].filter(Boolean).join(' ')
}

/** One type for each event, so that `event["type"] == …` tells a type checker the fields of `data`. */
function printEvents(print: Print, emit: (schema: unknown) => Schema): string {
  const {
    type: _type,
    data: _data,
    ...envelope
  } = (JSON.parse(JSON.stringify(Event)) as JsonObject)['properties'] as Record<string, Json>
  const names: string[] = []
  const texts = Object.entries(eventSpecs).map(([type, { summary, description, data }]) => {
    const name = `${pascalCase(type)}Event`
    names.push(name)
    const extra: string[] = []
    const printNamed: Print = (schema, hint) => {
      if (schema.type !== 'object') return print(schema, hint)
      extra.push(printObject(hint, schema, print))
      return hint
    }
    const properties = { ...envelope, type: { const: type }, data: emit(data) } as Record<string, Schema>
    const schema: Schema = { properties, required: Object.keys(properties), description: `${summary}. ${description}` }
    const text = printObject(name, schema, printNamed)
    return [...extra, text].join('\n\n\n')
  })
  return `${texts.join('\n\n\n')}


AnyEvent: TypeAlias = Union[
${names.map((name) => `    ${name},`).join('\n')}
]
"""An event. Types may be added: handle one that you do not know by ignoring it."""`
}

function printEnum(values: readonly unknown[]): string {
  const texts = values.filter((value) => value !== null).map((value) => literal(value))
  const type = `Literal[${texts.join(', ')}]`
  return values.includes(null) ? `${type} | None` : type
}

function union(types: readonly string[]): string {
  const once = [...new Set(types.flatMap((type) => type.split(' | ')))]
  return once.join(' | ')
}
