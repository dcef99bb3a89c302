const ADDRESS = /^[^\s@<>"(),:;[\]\\]+@[^\s@<>"(),:;[\]\\]+$/

/** With a dot inside the domain. */
function isAddress(word: string): boolean {
  if (word.length > 254 || !ADDRESS.test(word)) return false
  const domain = word.slice(word.indexOf('@') + 1)
  return domain.slice(1, -1).includes('.')
}

/**
 * Reads e-mail addresses in the forms in which people paste them: one per line, separated by commas, or as in a mail
 * program: `Ann <ann@example.com>`.
 */
export function parseAddresses(text: string): { emails: string[]; wrong: string[] } {
  const emails = new Set<string>()
  const wrong: string[] = []
  for (const piece of text.split(/[\n,;]+/)) {
    const inBrackets = /<([^<>]*)>\s*$/.exec(piece)?.[1]
    for (const word of inBrackets !== undefined ? [inBrackets.trim()] : piece.trim().split(/\s+/)) {
      if (isAddress(word)) emails.add(word.toLowerCase())
      else if (word !== '') wrong.push(word)
    }
  }
  return { emails: [...emails], wrong }
}
