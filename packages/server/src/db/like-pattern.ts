/** Escapes a text for a LIKE pattern, in which it then matches only itself. */
export function likePattern(text: string): string {
  return text.replaceAll(/[\\%_]/g, String.raw`\$&`)
}

/** Escapes a text for a regular expression of PostgreSQL, in which it then matches only itself. */
export function regexPattern(text: string): string {
  return text.replaceAll(/[\\^$.|?*+()[\]{}]/g, String.raw`\$&`)
}
