const ADDRESS = /^[^\s@<>"(),:;[\]\\]+@[^\s@<>"(),:;[\]\\]+\.[^\s@<>"(),:;[\]\\]+$/

/** Addresses as people paste them: one a line, with commas, or as a mail program has them: `Ann <ann@example.com>`. */
export function parseAddresses(text: string): { emails: string[]; wrong: string[] } {
  const emails = new Set<string>()
  const wrong: string[] = []
  for (const piece of text.split(/[\n,;]+/)) {
    const inBrackets = /<([^<>]*)>\s*$/.exec(piece)
    for (const word of inBrackets ? [inBrackets[1]!.trim()] : piece.trim().split(/\s+/)) {
      if (ADDRESS.test(word) && word.length <= 254) emails.add(word.toLowerCase())
      else if (word !== '') wrong.push(word)
    }
  }
  return { emails: [...emails], wrong }
}
