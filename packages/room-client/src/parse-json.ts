/** What a line, card or list holds is nested up to this deep, the outermost included. Other languages parse no deeper one. */
const MAX_DEPTH = 64

/** The value; undefined: the text is no JSON, or is nested too deep. */
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
