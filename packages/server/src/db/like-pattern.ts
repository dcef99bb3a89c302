/** The text as a part of a LIKE pattern: it matches itself alone. */
export function likePattern(text: string): string {
  return text.replaceAll(/[\\%_]/g, String.raw`\$&`)
}

/** The text as a part of a regular expression of PostgreSQL: it matches itself alone. */
export function regexPattern(text: string): string {
  return text.replaceAll(/[\\^$.|?*+()[\]{}]/g, String.raw`\$&`)
}
