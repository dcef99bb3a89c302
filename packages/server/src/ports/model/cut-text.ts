const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })
const sentences = new Intl.Segmenter('und', { granularity: 'sentence' })
const ellipsis = '…'
const ellipsisBytes = 3
/** Enough text after a position to find whether a grapheme continues there, without scanning all of a long text. */
const lookAhead = 64

/**
 * Returns the text if it has at most `maxBytes` bytes of UTF-8, else its beginning with an ellipsis, within that
 * limit. Cuts after a sentence if one ends in the second half, and never inside a grapheme. Lone surrogates become
 * U+FFFD.
 */
export function cutText(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text.toWellFormed()
  const fits = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes - ellipsisBytes)).read
  const start = graphemes.segment(text.slice(0, fits + lookAhead)).containing(fits)?.index ?? fits
  // A single grapheme may be longer than the limit: then it is cut between code points, where encodeInto stopped.
  const head = text.slice(0, start === 0 ? fits : start)
  return `${wholeSentences(head).trimEnd().toWellFormed()}${ellipsis}`
}

function wholeSentences(head: string): string {
  const last = sentences.segment(head).containing(head.length - 1)?.index ?? 0
  return last >= head.length / 2 ? head.slice(0, last) : head
}
