/** The greatest depth of the JSON in a line, card or list, counted from 1. The parsers of all readers accept it. */
const MAX_DEPTH = 64

/** Returns undefined if the text is not JSON, or is nested too deep. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return isNested(text, MAX_DEPTH) ? value : undefined
  } catch {
    return undefined
  }
}

/** Counts in the text, because the parsed value lacks the first of two members with the same name. */
function isNested(json: string, most: number): boolean {
  let depth = 0
  let isText = false
  for (let i = 0; i < json.length; i++) {
    const char = json[i]
    if (char === '"') isText = !isText
    else if (isText && char === '\\') i++
    else if (!isText && (char === '{' || char === '[')) depth++
    else if (!isText && (char === '}' || char === ']')) depth--
    if (depth > most) return false
  }
  return true
}
