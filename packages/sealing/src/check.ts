import { InvalidRecord } from './invalid-record.ts'

/** Returns the value with its members in a fixed order, or throws InvalidRecord. */
export type Check<Value> = (value: unknown, path: string) => Value

/** An object with these members in this order and no others. */
export function object<Value>(members: { readonly [Name in keyof Value]-?: Check<Value[Name] | undefined> }): Check<Value> {
  const checks = Object.entries<Check<unknown>>(members)
  return (value, path) => {
    const fields = fieldsOf(value, path)
    const result: Record<string, unknown> = {}
    for (const [name, check] of checks) {
      const checked = check(fields[name], `${path}/${name}`)
      if (checked !== undefined) result[name] = checked
    }
    for (const name of Object.keys(fields)) {
      if (!Object.hasOwn(members, name)) throw new InvalidRecord(path, 'has a member that is not known')
    }
    return result as Value
  }
}

/** One of several objects, selected by the member `tag`. */
export function variant<Value>(tag: string, variants: Readonly<Record<string, Check<Value>>>): Check<Value> {
  return (value, path) => {
    const name = fieldsOf(value, path)[tag]
    const check = typeof name === 'string' && Object.hasOwn(variants, name) ? variants[name] : undefined
    if (!check) throw new InvalidRecord(`${path}/${tag}`, `must be one of ${Object.keys(variants).join(', ')}`)
    return check(value, path)
  }
}

export function optional<Value>(check: Check<Value>): Check<Value | undefined> {
  return (value, path) => (value === undefined ? undefined : check(value, path))
}

export function list<Value>(check: Check<Value>): Check<readonly Value[]> {
  return (value, path) => {
    if (!Array.isArray(value)) throw new InvalidRecord(path, 'must be a list')
    return value.map((item, i) => check(item, `${path}/${i}`))
  }
}

/** A value that passes `check` and for which `holds` returns true. */
export function where<Value>(check: Check<Value>, holds: (value: Value) => boolean, problem: string): Check<Value> {
  return (value, path) => {
    const checked = check(value, path)
    if (!holds(checked)) throw new InvalidRecord(path, problem)
    return checked
  }
}

export function constant<const Value extends string | boolean>(expected: Value): Check<Value> {
  return (value, path) => {
    if (value !== expected) throw new InvalidRecord(path, `must be ${expected}`)
    return expected
  }
}

/** 1 to `max` code points of well-formed text without NUL, which all parsers read in the same way. */
export function text(max: number): Check<string> {
  return (value, path) => {
    if (typeof value !== 'string' || value === '') throw new InvalidRecord(path, 'must be text')
    if (value.length > max && (value.length > max * 2 || [...value].length > max)) throw new InvalidRecord(path, 'is too long')
    if (!value.isWellFormed() || value.includes('\0')) throw new InvalidRecord(path, 'holds a lone surrogate or NUL')
    return value
  }
}

/** Whether it is a valid time in exactly one form: RFC 3339, UTC, milliseconds. */
export function isTimestamp(value: unknown): value is string {
  const ms = typeof value === 'string' && value.length === 24 ? Date.parse(value) : Number.NaN
  return !Number.isNaN(ms) && new Date(ms).toISOString() === value
}

export function timestamp(value: unknown, path: string): string {
  if (!isTimestamp(value)) throw new InvalidRecord(path, 'must be a time in UTC')
  return value
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function fieldsOf(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw new InvalidRecord(path, 'must be an object')
  return value
}
