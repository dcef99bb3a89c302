/** Prompts and word lists are normalised alike: lower case, no accents. So `Hafen`, `hafen` and `Câfé` match. */
export type Prompt = { words: readonly string[]; text: string }

const SPACELESS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u
/** In Arabic and Hebrew, "the", "in" and "and" are prefixes of the word. */
const PREFIXED = /^(?:ال|بال|وال|ה|ב|בה|ו|וה|ל)/u

export function fold(text: string): Prompt {
  const folded = text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036F]/g, '')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('ß', 'ss')
  const words = folded.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return {
    words: [...words, ...words.map((word) => word.replace(PREFIXED, '')).filter((word, index) => word !== words[index])],
    text: folded,
  }
}

/**
 * The position of the first match in the prompt (0 to 1, or undefined), the length of the matched word, and the
 * number of matches.
 */
export type Match = { at: number; length: number; count: number }

export function find(prompt: Prompt, list: string): Match | undefined {
  const { exact, starts, ends, parts } = compiled(list)
  let at: number | undefined
  let length = 0
  let count = 0
  for (const [index, word] of prompt.words.entries()) {
    if (
      !exact.has(word) &&
      !starts.some((start) => word.startsWith(start)) &&
      !ends.some((end) => word.length > end.length + 2 && word.endsWith(end))
    )
      continue
    if (at === undefined) [at, length] = [index / prompt.words.length, word.length]
    count++
  }
  for (const part of parts) {
    const position = prompt.text.indexOf(part)
    if (position < 0) continue
    const place = position / prompt.text.length
    // Without spaces, a short word may be the start of another one: 夜 is night, 夜明け is dawn.
    if (at === undefined || place < at || (place === at && part.length > length)) [at, length] = [place, part.length]
    count++
  }
  return at === undefined ? undefined : { at, length, count }
}

type Compiled = { exact: ReadonlySet<string>; starts: readonly string[]; ends: readonly string[]; parts: readonly string[] }
const lists = new Map<string, Compiled>()

function compiled(list: string): Compiled {
  const known = lists.get(list)
  if (known) return known
  const words = list.split(' ').map((word) => fold(word).text.trim())
  const made = {
    exact: new Set(words.filter((word) => !word.includes('*') && !word.includes('-'))),
    starts: words.filter((word) => word.endsWith('*')).map((word) => word.slice(0, -1)),
    // German and related languages write compounds such as `Sommergarten` as one word.
    ends: words.filter((word) => word.startsWith('*')).map((word) => word.slice(1)),
    // In the lists, a hyphen joins two words of a prompt that belong together.
    parts: words.flatMap((word) =>
      SPACELESS.test(word)
        ? [word]
        : word.includes('-')
          ? [word.replace('*', ''), word.replace('*', '').replaceAll('-', ' ')]
          : [],
    ),
  }
  lists.set(list, made)
  return made
}
