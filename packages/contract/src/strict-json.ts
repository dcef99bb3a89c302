import { requestLimits } from './request-limits.ts'

export type JsonObject = Readonly<Record<string, unknown>>

interface Strictness {
  maxDepth?: number
  /** Accepts numbers of any size, because a provider may put a large integer into a claim that is not used here. */
  anyNumber?: boolean
}

/** A syntax or range error. The message never quotes the text, which may contain a secret. */
export class JsonError extends Error {
  /** A JSON Pointer. */
  readonly path: string

  constructor(path: string, message: string) {
    super(message)
    this.path = shortPath(path)
  }
}

const maxPathLength = 200

/** Shortens a path for an error message, because the sender chooses the names in it. */
export function shortPath(path: string): string {
  return path.length > maxPathLength ? `${path.slice(0, maxPathLength).toWellFormed()}…` : path
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Parses JSON that every parser reads in the same way, from text or from UTF-8 bytes without a byte order mark.
 * Rejects what JSON.parse accepts and I-JSON (RFC 7493) does not: duplicate keys, lone surrogates, NUL characters,
 * `__proto__` keys, nesting past the limit, integers that a double does not hold exactly and infinite numbers. Throws
 * JsonError.
 */
export function parseStrictJson(source: string | Uint8Array, strictness: Strictness = {}): unknown {
  const { maxDepth = requestLimits.jsonDepth, anyNumber = false } = strictness
  const text = typeof source === 'string' ? source : decode(source)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    // Only the place, where JSON.parse names it: its message quotes the input, which may be a secret.
    const [, line, column] = /\(line (\d+) column (\d+)\)$/.exec(String(error)) ?? []
    throw new JsonError('', line === undefined ? 'not valid JSON' : `not valid JSON at line ${line}, column ${column}`)
  }
  const keys = checkValue(value, [], maxDepth, anyNumber)
  // JSON.parse keeps the last of two equal keys: fewer keys in the value than in the text means that one was lost.
  if (keys !== countKeys(text)) throw new JsonError('', 'an object has the same key twice')
  return value
}

/** The JSON object in a token, key or file, with numbers of any size; undefined where parseStrictJson would throw. */
export function parseJsonObject(source: string | Uint8Array): JsonObject | undefined {
  try {
    const value = parseStrictJson(source, { anyNumber: true })
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new JsonError('', 'not valid UTF-8')
  }
}

/** The names and indexes that lead to a value. It becomes text only in an error: a text for each value took most of the memory. */
type Path = (string | number)[]

const failAt = (path: Path, message: string) => new JsonError(path.map((name) => `/${name}`).join(''), message)

/** Checks every string and number in the value. Returns the number of object keys. */
function checkValue(value: unknown, path: Path, depthLeft: number, anyNumber: boolean): number {
  if (typeof value === 'string') {
    checkText(value, path)
    return 0
  }
  if (typeof value === 'number') {
    if (!anyNumber && (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))) {
      throw failAt(path, 'a number is out of range: integers go up to 2^53 - 1')
    }
    return 0
  }
  if (typeof value !== 'object' || value === null) return 0
  if (depthLeft === 0) throw failAt(path, 'nested too deeply')
  if (Array.isArray(value)) {
    let keys = 0
    for (let i = 0; i < value.length; i++) {
      path.push(i)
      keys += checkValue(value[i], path, depthLeft - 1, anyNumber)
      path.pop()
    }
    return keys
  }
  const names = Object.keys(value)
  let keys = names.length
  for (const name of names) {
    if (name === '__proto__') throw failAt(path, 'a key may not be __proto__')
    checkText(name, path)
    const child = (value as Record<string, unknown>)[name]
    path.push(name)
    keys += checkValue(child, path, depthLeft - 1, anyNumber)
    path.pop()
  }
  return keys
}

function checkText(text: string, path: Path): void {
  if (!text.isWellFormed()) throw failAt(path, 'a string holds a lone surrogate')
  if (text.includes('\0')) throw failAt(path, 'a string holds a NUL character')
}

const backslash = 0x5c
const colon = 0x3a

/** Counts the object keys of valid JSON: the strings that a colon follows. */
function countKeys(text: string): number {
  let keys = 0
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at)) {
    do at = text.indexOf('"', at + 1)
    while (isEscaped(text, at))
    let next = text.charCodeAt(++at)
    while (next === 0x20 || next === 0x0a || next === 0x0d || next === 0x09) next = text.charCodeAt(++at)
    if (next === colon) keys++
  }
  return keys
}

/** Whether an odd number of backslashes is before the character. */
function isEscaped(text: string, at: number): boolean {
  let start = at
  while (text.charCodeAt(start - 1) === backslash) start--
  return (at - start) % 2 === 1
}
