/**
 * JSON for a terminal. Control characters, which a terminal would execute, and characters that reorder or hide text are
 * escaped; JSON.stringify leaves those from U+007F. Tenants choose names, and strangers write entries of logs.
 */
export function toPlainJson(data: unknown, indent?: number): string {
  // With an indent, only the line ends between the members are control characters that JSON.stringify has written.
  return JSON.stringify(data, null, indent).replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  )
}
