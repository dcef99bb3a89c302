import { errors } from '../../packages/contract/src/errors.ts'
import { servedOperations } from '../../packages/contract/src/table.ts'
import { docstring, wrap } from './text.ts'

/** insufficient_credit: InsufficientCreditError. */
export function errorClassName(code: string): string {
  const words = code.replace(/_error$/, '').split('_')
  return `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}Error`
}

/** `errors.py`: a class for each code. */
export function printErrors(origin: string): string {
  const entries = [...tableEntries(), ...flatEntries(), ...clientEntries]
  return `"""A class for each error code. All extend AtriumError."""

# ${origin}

from __future__ import annotations

from ._atrium_error import AtriumError as AtriumError


${entries.map(printClass).join('\n\n\n')}


BY_CODE: dict[str, type[AtriumError]] = {
${entries.map(({ code }) => `    "${code}": ${errorClassName(code)},`).join('\n')}
}
`
}

interface Entry {
  code: string
  says: string[]
}

function tableEntries(): Entry[] {
  return Object.entries(errors).map(([code, { status, title, cause, remedy }]) => ({
    code,
    says: [`${status}: ${title}.`, cause, remedy],
  }))
}

/** Codes that the Space endpoint alone has. */
function flatEntries(): Entry[] {
  return servedOperations
    .flatMap(({ flatErrors = {} }) => Object.entries(flatErrors))
    .filter(([, { error }]) => !Object.hasOwn(errors, error))
    .map(([status, { error, description }]) => ({ code: error, says: [`${status}: ${description}`] }))
}

const clientEntries: Entry[] = [
  { code: 'network_error', says: ['No answer came: the server could not be reached, or not in time.'] },
  { code: 'unexpected_answer', says: ['The answer is not from the API, but for example from a proxy in front of it.'] },
]

function printClass({ code, says }: Entry): string {
  const [first = '', ...rest] = says
  const lines = [first, ...rest.flatMap((text) => ['', ...wrap(text, '    ')])]
  return [`class ${errorClassName(code)}(AtriumError):`, ...docstring(lines, '    ')].join('\n')
}
