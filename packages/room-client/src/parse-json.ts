/** The levels of JSON in a line, card or list, the outermost included: as many as the parsers of all readers accept. */
const MAX_DEPTH = 64

/** The value; undefined: the text is not JSON, or is nested too deep. */
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
