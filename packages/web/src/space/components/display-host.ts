/** Scripts in everyday use (UAX #31, table 5). Labels in other scripts are shown in ASCII: xn--… */
const SCRIPTS = (
  'Latin Cyrillic Greek Han Hiragana Katakana Hangul Bopomofo Arabic Armenian Bengali Devanagari Ethiopic Georgian Gujarati Gurmukhi ' +
  'Hebrew Kannada Khmer Lao Malayalam Myanmar Oriya Sinhala Tamil Telugu Thaana Thai Tibetan'
)
  .split(' ')
  // recheck: a single character class with the name of a script.
  .map((name) => [name, new RegExp(`^\\p{Script=${name}}$`, 'u')] as const)

/** UTS #39, Highly Restrictive: one script, or one of these combinations. */
const TOGETHER = [
  ['Latin', 'Han', 'Hiragana', 'Katakana'],
  ['Latin', 'Han', 'Bopomofo'],
  ['Latin', 'Han', 'Hangul'],
].map((scripts) => new Set(scripts))

/**
 * Letters of other scripts that look like Latin ones, as in Chromium. A label that consists only of these looks like
 * a Latin word.
 */
const LOOKALIKES = [
  /^[аысԁеԍһіюјӏорԗԛѕԝхуъьҽпгѵѡ0-9-]+$/u,
  /^[αικνρυωηοτγ0-9-]+$/u,
  /^[ագզէլհյոսւօ0-9-]+$/u,
  /^[იოყძხჽჿ0-9-]+$/u,
  /^[דוחיןסװײ0-9-]+$/u,
]
/** Characters that look like a slash or a dash. Beside Latin letters, they seem to end a host. */
const STROKES = /[ンソゾノ丶乀乁丿ー一〳〴〵・]/u
/** Latin letters that look like other Latin letters but are not accented forms of them. */
const LATIN_TWINS = /[ıȷɑɡɩɪʀʟɢʏɴʜꜱɾʋʏƅɛɔƽƨ]/u

/**
 * Returns the form in which to show the host of a link. `typed` is the host in the text, and `real` is the ASCII host
 * that the browser requests. A host in the letters of one language stays as typed. A host that mixes scripts, or
 * looks like another one, is shown as `real`.
 */
export function displayHost(typed: string, real: string): string {
  const host = typed.toLowerCase()
  if (host === real) return real
  return host === host.normalize('NFKC') && host.split('.').every(isPlainLabel) ? host : real
}

function isPlainLabel(label: string): boolean {
  if (/^[a-z0-9-]*$/.test(label)) return true
  // Letters and their marks, and only ASCII digits, because digits of other scripts can look like different ones.
  if (!/^[\p{L}\p{M}0-9-]+$/u.test(label) || /\p{Lm}/u.test(label.replace('ー', ''))) return false
  const characters = [...label].filter((character) => !/[0-9-]/.test(character))
  const scripts = new Set(characters.map(scriptOf).filter((script) => script !== 'Inherited'))
  if (scripts.has(undefined) || !areTogether([...scripts])) return false
  // A letter with a mark that has no composed form may have been combined to resemble another character.
  const isEuropean = ['Latin', 'Cyrillic', 'Greek'].some((script) => scripts.has(script))
  if (isEuropean && /\p{M}/u.test(label)) return false
  if (scripts.has('Latin') && (STROKES.test(label) || LATIN_TWINS.test(label))) return false
  return !LOOKALIKES.some((letters) => letters.test(label))
}

function scriptOf(character: string): string | undefined {
  if (character === 'ー') return 'Katakana'
  if (/^\p{Script=Inherited}$/u.test(character)) return 'Inherited'
  return SCRIPTS.find(([, pattern]) => pattern.test(character))?.[0]
}

function areTogether(scripts: readonly (string | undefined)[]): boolean {
  if (scripts.length === 1) return true
  return TOGETHER.some((allowed) => scripts.every((script) => script !== undefined && allowed.has(script)))
}
