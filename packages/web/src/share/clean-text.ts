/**
 * Makes untrusted text safe to show. It removes controls, bidi overrides and lone surrogates, and limits the length
 * in graphemes, so that no emoji or accented letter is cut.
 */

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

// One grapheme can have any length (a letter with a thousand accents), so code units are limited too. The longest
// emoji in use have 15 code units; real text has fewer than 3 on average.
const MAX_UNITS_PER_GRAPHEME = 4

const CONTROLS = /(?!\n)[\p{Cc}\ufeff\ufff9-\uffff]/gu
// Embeddings, overrides and isolates can make text look like different text, even beyond its own element (in a tab or
// a link preview). The plain marks (LRM, RLM, ALM) stay, because right-to-left text needs them.
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/gu
const STACKED_MARKS = /(\p{M}{6})\p{M}+/gu
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{White_Space}\p{C}\u2800]/gu

/**
 * Returns one line of text, or undefined if the value is not a string or shows nothing. `maxLength` counts graphemes.
 */
export function cleanLine(value: unknown, maxLength: number): string | undefined {
  const text = cleanCharacters(value, maxLength)
  return text && truncate(text.replace(/\s+/gu, ' ').trim(), maxLength)
}

/**
 * Splits text into paragraphs (at blank lines) of lines, with one limit for all. Empty if there is nothing to show.
 */
export function cleanParagraphs(value: unknown, maxLength: number): string[][] {
  const text = cleanCharacters(value, maxLength)
  if (!text) return []
  const lines = text.split('\n').map((line) => line.replace(/\s+/gu, ' ').trim())
  return truncate(
    lines
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim(),
    maxLength,
  )
    .split('\n\n')
    .map((paragraph) => paragraph.split('\n'))
}

/** At most `maxLength` graphemes; the last one is an ellipsis if something was cut. */
export function truncate(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const maxUnits = maxLength * MAX_UNITS_PER_GRAPHEME
  let endBeforeEllipsis = 0
  let count = 0
  for (const { index, segment } of segmenter.segment(text)) {
    if (index + segment.length > maxUnits || count === maxLength) return `${text.slice(0, endBeforeEllipsis).trimEnd()}…`
    count += 1
    if (count < maxLength) endBeforeEllipsis = index + segment.length
  }
  return text
}

function cleanCharacters(value: unknown, maxLength: number): string | undefined {
  if (typeof value !== 'string') return undefined
  // Cuts before it looks closely, so that a megabyte costs no more than a page. It cuts twice, because cleaning
  // shortens the text.
  const text = value
    .slice(0, maxLength * MAX_UNITS_PER_GRAPHEME * 2)
    .toWellFormed()
    .replace(/\r\n?|[\u0085\u2028\u2029]/gu, '\n')
    .replace(/\t/g, ' ')
    .replace(CONTROLS, '')
    .replace(BIDI_CONTROLS, '')
    .replace(STACKED_MARKS, '$1')
  return text.replace(INVISIBLE, '') === '' ? undefined : text
}
