export type JsonObject = Readonly<Record<string, unknown>>

/** The text as a JSON object, or undefined when it is anything that two readers could understand differently. */
export function parseJsonObject(text: string): JsonObject | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  return isJsonObject(value) && hasOneReading(text) ? value : undefined
}

/** The same for bytes, which must be UTF-8 without a byte order mark. */
export function parseJsonObjectBytes(bytes: Uint8Array): JsonObject | undefined {
  try {
    return parseJsonObject(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch {
    return undefined
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// recheck: linear over well-formed JSON, in which every string that begins also ends.
const STRINGS_AND_PUNCTUATION = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g

/**
 * Whether well-formed JSON has no repeated key and no string holding a lone surrogate or NUL.
 *
 * JSON.parse keeps the last of two equal keys where other readers keep the first, and says nothing; its reviver runs
 * too late to see it. So the text is walked once more, without recursion: nesting depth costs no stack.
 */
function hasOneReading(text: string): boolean {
  const open: (Set<string> | 'array')[] = []
  let previous = ''
  for (const [token] of text.matchAll(STRINGS_AND_PUNCTUATION)) {
    const inside = open.at(-1)
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push('array')
    else if (token === '}' || token === ']') open.pop()
    else if (token.startsWith('"')) {
      const string = JSON.parse(token) as string // unescaped: "\u0061" repeats "a"
      if (!string.isWellFormed() || string.includes('\0')) return false
      const isKey = inside instanceof Set && (previous === '{' || previous === ',')
      if (isKey && inside.has(string)) return false
      if (isKey) inside.add(string)
    }
    previous = token
  }
  return true
}
