import { displayHost } from './display-host.ts'

export interface TextPart {
  /** As it was written. */
  readonly text: string
  readonly href?: string
  /** Present if the host of a link is misleading: the address with the real host. */
  readonly shown?: string
}

// Excludes quotes, angle brackets, invisible characters and direction marks, so that the shown link is the real target.
const CANDIDATE = /https?:\/\/[^\s<>"'`\\\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]+/gi
const ENDS_SENTENCE = /[.,;:!?…»”’*_~)\]]/
/** No address that someone meant is longer. */
const MAX_LENGTH = 2_048

/**
 * Splits text at its links. Only http and https addresses without a user become links:
 * `https://bank.example@elsewhere` does not.
 */
export function linkify(text: string): TextPart[] {
  const parts: TextPart[] = []
  let end = 0
  for (const match of text.matchAll(CANDIDATE)) {
    if (match[0].length > MAX_LENGTH) continue
    const shown = withoutTrailing(match[0])
    const href = safeHref(shown)
    if (href === undefined) continue
    if (match.index > end) parts.push({ text: text.slice(end, match.index) })
    parts.push({ text: shown, href, ...withRealHost(shown, href) })
    end = match.index + shown.length
  }
  if (end < text.length) parts.push({ text: text.slice(end) })
  return parts
}

/**
 * A full stop at the end belongs to the sentence and not to the address. So does a closing bracket that was not
 * opened within the address.
 */
function withoutTrailing(url: string): string {
  let end = url.length
  let unopened = count(url, ')') - count(url, '(')
  for (; end > 0; end--) {
    const last = url.charAt(end - 1)
    const isOpened = last === ')' && unopened-- <= 0
    if (isOpened || !ENDS_SENTENCE.test(last)) break
  }
  return url.slice(0, end)
}

function withRealHost(text: string, href: string): { shown?: string } {
  const { hostname } = new URL(href)
  const [, start, authority, rest] = /^(https?:)\/*([^/?#]*)(.*)$/is.exec(text) ?? []
  const [port = ''] = /:\d*$/.exec(authority ?? '') ?? []
  const typed = (authority ?? '').slice(0, (authority ?? '').length - port.length)
  const host = displayHost(typed, hostname)
  const shown = `${start}//${host}${port}${rest}`
  return shown.toLowerCase() === text.toLowerCase() ? {} : { shown }
}

function count(text: string, character: string): number {
  return text.split(character).length - 1
}

function safeHref(text: string): string | undefined {
  const url = URL.parse(text)
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:'
  return isWeb && !url.username && !url.password && url.hostname ? url.href : undefined
}
