/** Determines the language of a text from its letters, as far as possible. */

const SCRIPTS: ReadonlyArray<readonly [RegExp, string]> = [
  // Kana come before Han, because Japanese mixes them, and the fonts for the shared characters differ.
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/u, 'ja'],
  [/\p{Script=Hangul}/u, 'ko'],
  [/\p{Script=Han}/u, 'zh'],
  [/\p{Script=Hebrew}/u, 'he'],
  [/\p{Script=Thai}/u, 'th'],
  [/\p{Script=Greek}/u, 'el'],
  [/\p{Script=Armenian}/u, 'hy'],
  [/\p{Script=Georgian}/u, 'ka'],
  // Many languages share these scripts, so the language remains unknown.
  [/\p{Script=Arabic}/u, 'und-Arab'],
  [/\p{Script=Cyrillic}/u, 'und-Cyrl'],
  [/\p{Script=Devanagari}/u, 'und-Deva'],
]

const LATIN = /\p{Script=Latin}/gu
const LETTERS = /\p{L}/gu
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}\p{Script=Samaritan}\p{Script=Mandaic}]/u

/**
 * Returns a BCP 47 tag, or '' (HTML's "unknown") for Latin letters and mixtures that begin with them. A screen reader
 * then keeps the listener's own voice instead of reading French as English.
 */
export function languageOf(text: string): string {
  const letters = text.match(LETTERS)?.length ?? 0
  const latin = text.match(LATIN)?.length ?? 0
  if (letters === 0 || latin * 2 > letters) return ''
  return SCRIPTS.find(([script]) => script.test(text))?.[1] ?? ''
}

/** The direction of the first letter that has one, as `dir="auto"` determines it. */
export function directionOf(text: string): 'ltr' | 'rtl' {
  const first = /\p{L}/u.exec(text)?.[0]
  return first !== undefined && RIGHT_TO_LEFT.test(first) ? 'rtl' : 'ltr'
}
