import { Errors } from '#libraries/typebox-schema.js'
import { inTurn } from './in-turn.ts'
import { timeBoxed } from './time-boxed.ts'

/** Far more than a reasonable schema needs, even on a busy machine. */
const maxMs = 100
const maxProblems = 10
const uncheckable = "they cannot be checked against this tool's schema"

/**
 * Returns a check of the arguments of one tool. The check returns what is wrong with them, as a text for the model
 * that wrote them; undefined if nothing is. A schema that once took too long is not checked again, because it would
 * block the process at each call.
 */
export function argumentCheck(schema: Record<string, unknown>): (args: unknown) => Promise<string | undefined> {
  let stuck = false
  const check = (args: unknown) => {
    if (stuck) return uncheckable
    try {
      const [valid, errors] = timeBoxed(maxMs, () => Errors(schema, args))
      return valid ? undefined : explain(errors)
    } catch {
      stuck = true
      return uncheckable
    }
  }
  return (args) => inTurn(() => check(args))
}

function explain(errors: ReturnType<typeof Errors>[1]): string {
  const told = errors.filter(({ keyword }) => keyword !== 'boolean')
  const problems = new Set(told.map(({ instancePath, message }) => `${instancePath || '/'} ${message}`))
  return [...problems].slice(0, maxProblems).join('; ') || 'they do not match the schema'
}
