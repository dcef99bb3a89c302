const ADDRESS = /^[^\s@<>"(),:;[\]\\]+@[^\s@<>"(),:;[\]\\]+$/

/** With a dot inside the domain. */
function isAddress(word: string): boolean {
  if (word.length > 254 || !ADDRESS.test(word)) return false
  const domain = word.slice(word.indexOf('@') + 1)
  return domain.slice(1, -1).includes('.')
}

/** Addresses as people paste them: one a line, with commas, or as a mail program has them: `Ann <ann@example.com>`. */
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
