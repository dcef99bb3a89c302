import type { TSchema } from 'typebox'
import { errorCodesOf } from '../../packages/contract/src/error-codes.ts'
import type { AnswerSpec, Operation } from '../../packages/contract/src/operation.ts'
import { errorClassName } from './errors.ts'
import { docstring, literal, parameterName, pascalCase, snakeCase, wrap } from './text.ts'
import { documentation, type Schema, type TypeCollector } from './types.ts'

interface Parameter {
  /** As the contract has it. */
  name: string
  python: string
  type: string
  isRequired: boolean
  says: string
}

const header = (origin: string) => `# ${origin}

from __future__ import annotations

`

/** `operations/<tag>.py`: a class with a method for each operation of the tag. */
export function printTag(tag: string, operations: readonly Operation[], types: TypeCollector, origin: string): string {
  const methods = operations.map((op) => printMethod(op, types))
  const body = methods.join('\n\n')
  const typing = ['Any', 'Literal'].filter((name) => new RegExp(`: [^#]*\\b${name}\\b`).test(signaturesOf(body)))
  const answers = ['Answer', 'Page'].filter((name) => body.includes(`${name}[`))
  return [
    `"""Operations: ${tag}."""\n\n${header(origin)}`,
    typing.length > 0 ? `from typing import ${typing.join(', ')}\n\n` : '',
    body.includes('types.') ? 'from .. import types\n' : '',
    'from .._core import Core, Route\n',
    answers.length > 0 ? `from ..answer import ${answers.join(', ')}\n` : '',
    body.includes('EventStream:') ? 'from ..streams import EventStream\n' : '',
    `\n\nclass ${className(tag)}(Core):\n    """${tag}: see /docs of your installation for the guides."""\n\n${body}\n`,
  ].join('')
}

/** Without docstrings, whose words are no names. */
function signaturesOf(body: string): string {
  return body.replace(/"""[^]*?"""/g, '')
}

/** `operations/__init__.py`: all operations in one class. */
export function printOperations(tags: readonly string[], origin: string): string {
  return [
    `"""A method for each operation of the API."""\n\n${header(origin)}`,
    ...[...tags]
      .sort((a, b) => (snakeCase(a) < snakeCase(b) ? -1 : 1))
      .map((tag) => `from .${snakeCase(tag)} import ${className(tag)}\n`),
    `\n\nclass Operations(\n${tags.map((tag) => `    ${className(tag)},\n`).join('')}):\n    """All operations."""\n`,
  ].join('')
}

function className(tag: string): string {
  return `${pascalCase(tag)}Operations`
}

function printMethod(op: Operation, types: TypeCollector): string {
  const answers = Object.entries(op.answers).filter(([status]) => Number(status) < 400)
  const isStream = answers.some(([, { raw }]) => raw === 'text/event-stream')
  const paged = answers.some(([, { paged }]) => paged)
  const path = parametersOf(op.params, types)
  // A stream takes its cursor as last_event_id.
  const query = isStream ? [] : parametersOf(op.query, types)
  const headers = isStream ? [] : parametersOf(op.headers, types)
  const common = commonParameters(op, types, isStream)
  const named = [...query, ...headers, ...common].sort((a, b) => Number(b.isRequired) - Number(a.isRequired))
  const returns = isStream ? 'EventStream' : answerType(op, answers, types)
  const signature = [
    'self',
    ...path.map(({ python, type }) => `${python}: ${type}`),
    ...(named.length > 0 ? ['*'] : []),
    ...named.map(({ python, type, isRequired }) => (isRequired ? `${python}: ${type}` : `${python}: ${optional(type)} = None`)),
  ]
  const entry = (list: readonly Parameter[]) =>
    `{${list.map(({ name, python }) => `${JSON.stringify(name)}: ${python}`).join(', ')}}`
  const args = [
    routeOf(op),
    ...(path.length > 0 ? [`path=${entry(path)}`] : []),
    ...(query.length > 0 ? [`query=${entry(query)}`] : []),
    ...(headers.length > 0 ? [`headers=${entry(headers)}`] : []),
    ...common.map(({ python }) => `${python}=${python}`),
  ]
  const indent = '        '
  return [
    `    def ${snakeCase(op.id)}(`,
    ...signature.map((part) => `${indent}${part},`),
    `    ) -> ${returns}:`,
    ...documentationOf(op, [...path, ...named], answers),
    `${indent}return self.${isStream ? '_stream' : paged ? '_page' : '_call'}(`,
    ...args.map((part) => `${indent}    ${part},`),
    `${indent})`,
  ].join('\n')
}

function optional(type: string): string {
  return type.split(' | ').includes('None') ? type : `${type} | None`
}

function routeOf({ id, method, path, status, caller, idempotency, answers }: Operation): string {
  const address = `${status === 'legacy' ? '' : '/v1'}${path}`
  const isRaw = Object.values(answers).some(({ raw }) => raw)
  const more = [
    ...(idempotency ? [`keyed="${id}"`] : []),
    ...(idempotency === 'required' ? ['billed=True'] : []),
    ...(isRaw ? ['raw=True'] : []),
  ]
  return `Route(${[`"${method}"`, `"${address}"`, `"${caller}"`, ...more].join(', ')})`
}

function answerType(op: Operation, answers: [string, AnswerSpec][], types: TypeCollector): string {
  const name = `${pascalCase(op.id)}Data`
  const data = answers.map(([, { data, raw }]) => {
    if (raw === '*/*') return 'bytes'
    return data ? qualified(types.typeOf(data, name)) : 'None'
  })
  const type = [...new Set(data)].join(' | ')
  if (!answers.some(([, { paged }]) => paged)) return `Answer[${type}]`
  // A page that is not a plain list has its items among other fields.
  const [, rows = 'types.Item'] = /^list\[(.*)\]$/.exec(type) ?? []
  return `Page[${type}, ${rows}]`
}

/** The names of `atrium.types`, with their module. */
function qualified(type: string): string {
  return type.replace(/"[^"]*"|\b[A-Z]\w+\b/g, (name) => (/^"|^(?:Any|None|Literal)$/.test(name) ? name : `types.${name}`))
}

function parametersOf(object: TSchema | undefined, types: TypeCollector): Parameter[] {
  if (!object) return []
  const { properties = {}, required = [] } = object as unknown as { properties?: Record<string, TSchema>; required?: string[] }
  return Object.entries(properties).map(([name, property]) => {
    const schema: Schema = types.schemaOf(property)
    return {
      name,
      python: parameterName(name),
      type: schema.type === undefined ? 'str' : qualified(types.typeOf(property, pascalCase(name))),
      isRequired: required.includes(name),
      says: documentation(schema) || idSays(schema),
    }
  })
}

function idSays({ pattern }: Schema): string {
  const [, prefix] = /^\^([a-z]+_)/.exec(pattern ?? '') ?? []
  return prefix ? `The id (${prefix}…).` : ''
}

function commonParameters(op: Operation, types: TypeCollector, isStream: boolean): Parameter[] {
  const one = (python: string, type: string, isRequired: boolean, says: string): Parameter[] => [
    { name: python, python, type, isRequired, says },
  ]
  const token = {
    owner: 'The owner token (admin_token).',
    contributor: 'The contributor or owner token, if the collection asks for one.',
    optional: 'The owner token, which shows more.',
  }
  return [
    ...(op.body ? one('body', qualified(types.typeOf(op.body, `${pascalCase(op.id)}Body`)), !op.bodyOptional, bodySays(op)) : []),
    ...(op.capability ? one('collection_token', 'str', op.capability === 'owner', token[op.capability]) : []),
    ...(isStream
      ? one('last_event_id', 'str', false, '``id`` of the last message that you handled. Absent: the stream starts now.')
      : []),
    ...(op.caller === 'control'
      ? one('control_token', 'str', false, 'Of the session (sct_…). Default: that of the client.')
      : []),
    ...(op.idempotency
      ? one(
          'idempotency_key',
          'str',
          false,
          '1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts. Store one of your own where the call must take effect once even if your process ends in between.',
        )
      : []),
    ...(isStream ? [] : one('repeatable', 'bool', false, 'Whether to retry where no answer came or the server was unavailable.')),
    ...(isStream ? [] : one('timeout', 'float', false, 'The limit of one attempt, in seconds. Default: that of the client.')),
  ]
}

function bodySays(op: Operation): string {
  const { properties, required = [] } = op.body as Schema
  if (!properties) return 'The request; its type says what it holds.'
  const names = Object.keys(properties).map((name) => (required.includes(name) ? name : `${name} (optional)`))
  return `The request: ${names.join(', ')}.${op.bodyOptional ? ' Default: an empty one.' : ''}`
}

const callers = {
  secret: 'A secret key.',
  publishable: 'A publishable or a secret key.',
  operator: "The operator's token.",
  control: "A session's control token.",
  anyone: 'No key.',
}

function session({ roles = [] }: Operation): string {
  return `A session of the console with the role ${roles.join(' or ')}. A call with a key is refused.`
}

function documentationOf(op: Operation, parameters: readonly Parameter[], answers: [string, AnswerSpec][]): string[] {
  const indent = '        '
  const inner = `${indent}    `
  const codes = op.flatErrors ? Object.values(op.flatErrors).map(({ error }) => error) : (op.errors ?? [])
  const lines = [
    `${op.summary}.`,
    '',
    ...op.description.split('\n').flatMap((text) => (text === '' ? [''] : wrap(text, indent))),
    '',
    ...wrap(
      `Needs: ${op.sessionOnly ? session(op) : callers[op.caller]}${op.role === 'issuer' ? ' The tenant must hold the issuer role.' : ''}`,
      indent,
    ),
    '',
    `${indent}Args:`,
    ...parameters.flatMap(({ python, type, says }) => wrap(`${python}: ${says || describe(type)}`, inner, '    ')),
    '',
    `${indent}Returns:`,
    ...answers.flatMap(([status, { description }]) => wrap(`${status}: ${description}`, inner, '    ')),
    '',
    `${indent}Raises:`,
    ...wrap(raised(codes, op), inner, '    '),
    ...exampleOf(op, parameters),
  ]
  return docstring(lines, indent)
}

function describe(type: string): string {
  return `${type.replaceAll('types.', '')}.`
}

function raised(codes: readonly string[], op: Operation): string {
  const own = [...new Set(codes)].map(errorClassName)
  const implied = op.flatErrors
    ? []
    : errorCodesOf(op)
        .filter((code) => !codes.includes(code))
        .map(errorClassName)
  return `AtriumError: ${[...own, ...implied].join(', ')}.`
}

function exampleOf(op: Operation, parameters: readonly Parameter[]): string[] {
  const inner = '            '
  const given = parameters
    .filter(({ isRequired }) => isRequired)
    .map(({ name, python }) => {
      if (python === 'body') return `body=${literal(op.example?.body ?? {}, inner)}`
      if (python === 'collection_token') return 'collection_token="cat_…"'
      return op.path.includes(`{${name}}`) ? `"${exampleId(op, name)}"` : `${python}=…`
    })
  const isStream = Object.values(op.answers).some(({ raw }) => raw === 'text/event-stream')
  const call = `atrium.${snakeCase(op.id)}(${given.join(', ')})`
  if (isStream)
    return ['', '        Example:', `${inner}for message in ${call}:`, `${inner}    print(message.event, message.data)`]
  return ['', '        Example:', ...`${inner}answer = ${call}`.split('\n')]
}

/** `col_…` for an id of a collection. */
function exampleId(op: Operation, name: string): string {
  const property = (op.params as unknown as { properties: Record<string, Schema> }).properties[name]
  return `${/^\^([a-z]+_)/.exec(property?.pattern ?? '')?.[1] ?? ''}…`
}
