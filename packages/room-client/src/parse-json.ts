/** The greatest depth of the JSON in a line, card or list, counted from 1. The parsers of all readers accept it. */
const MAX_DEPTH = 64

/** Returns undefined if the text is not JSON, or is nested too deep. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return isNested(value, MAX_DEPTH) ? value : undefined
  } catch {
    return undefined
  }
}

function isNested(value: unknown, most: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return most > 0 && Object.values(value).every((one) => isNested(one, most - 1))
}
