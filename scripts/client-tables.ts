/**
 * Writes the parts of the contract that the client needs at run time: its routes and a class for each error code. The
 * contract's own table, with all its schemas, would make a page's bundle several times as large. --check: writes
 * nothing, and fails with the name of each file that is out of date.
 */
import { errors } from '../packages/contract/src/errors.ts'
import type { Operation } from '../packages/contract/src/operation.ts'
import { servedOperations } from '../packages/contract/src/table.ts'
import { writeOrCheck } from './write-or-check.ts'

const folder = 'packages/client/src'
const origin = 'Written by scripts/client-tables.ts out of packages/contract'

const files = new Map([
  [`${folder}/routes.ts`, routesFile()],
  [`${folder}/errors.ts`, errorsFile()],
])
await writeOrCheck({ files, command: 'node scripts/client-tables.ts' })

function routesFile(): string {
  return [
    `// ${origin}/src/table.ts.`,
    '',
    '/** Method, path from the origin, caller, and what else holds: keyed, it takes an Idempotency-Key; billed, it needs one; raw, no envelope. */',
    'export const routes = {',
    ...servedOperations.map((op) => `  ${op.id}: '${routeOf(op)}',`),
    '} as const',
    '',
  ].join('\n')
}

function routeOf({ method, path, status, caller, idempotency, answers }: Operation): string {
  const raw = Object.values(answers).some((answer) => answer.raw)
  const address = `${status === 'legacy' ? '' : '/v1'}${path}`
  return [
    method,
    address,
    caller,
    ...(idempotency ? ['keyed'] : []),
    ...(idempotency === 'required' ? ['billed'] : []),
    ...(raw ? ['raw'] : []),
  ].join(' ')
}

interface ErrorEntry {
  code: string
  says: string
}

function errorsFile(): string {
  const entries = [...tableEntries(), ...flatEntries(), ...clientEntries()]
  return [
    `// ${origin}/src/errors.ts and the flat errors of its operations.`,
    "import { AtriumError } from './atrium-error.ts'",
    '',
    ...entries.flatMap(classOf),
    '/** By code. */',
    'export const errorClasses = {',
    ...entries.map(({ code }) => `  ${code}: ${classNameOf(code)},`),
    '} as const',
    '',
  ].join('\n')
}

function tableEntries(): ErrorEntry[] {
  return Object.entries(errors).map(([code, { status, title }]) => ({ code, says: `${status}: ${title}.` }))
}

/** Codes that the Space endpoint alone has. */
function flatEntries(): ErrorEntry[] {
  return servedOperations
    .flatMap(({ flatErrors = {} }) => Object.entries(flatErrors))
    .filter(([, { error }]) => !Object.hasOwn(errors, error))
    .map(([status, { error, description }]) => ({ code: error, says: `${status}: ${description}` }))
}

function clientEntries(): ErrorEntry[] {
  return [
    { code: 'network_error', says: 'No answer came: the server could not be reached, or not in time.' },
    { code: 'unexpected_answer', says: 'The answer is not from the API, but for example from a proxy in front of it.' },
  ]
}

function classOf({ code, says }: ErrorEntry): string[] {
  const name = classNameOf(code)
  return [
    `/** ${says} */`,
    `export class ${name} extends AtriumError {`,
    `  override readonly name = '${name}'`,
    `  declare readonly code: '${code}'`,
    '}',
    '',
  ]
}

/** insufficient_credit: InsufficientCreditError. */
function classNameOf(code: string): string {
  const words = code.replace(/_error$/, '').split('_')
  return `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}Error`
}
