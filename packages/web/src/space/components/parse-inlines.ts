import { linkify } from './linkify.ts'

export type Inline =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'strong' | 'emphasis' | 'strike'; readonly children: readonly Inline[] }
  | MarkdownLink

export interface MarkdownLink {
  readonly kind: 'link'
  readonly href: string
  readonly children: readonly Inline[]
  /** The real host, if the text of the link is not its address. */
  readonly host?: string
}

/** The state of an open delimiter: the children since it, and its text in case it is never closed. */
interface Frame {
  readonly mark: string
  readonly children: Inline[]
}

const MAX_DEPTH = 16
const ESCAPABLE = /[!-/:-@[-`{-~]/
const SPECIAL = /[\\`*_~[\]<hH!]/g
const CANDIDATE = /https?:\/\/[^\s<>"'`\\]+/iy
const KINDS: Readonly<Record<string, 'strong' | 'emphasis' | 'strike'>> = {
  '**': 'strong',
  __: 'strong',
  '*': 'emphasis',
  _: 'emphasis',
  '~~': 'strike',
}

/**
 * Parses emphasis, code and links of one paragraph. There is no HTML and there are no images: they stay text or
 * become links. It is one pass, and a delimiter without an end is text.
 */
export function parseInlines(text: string): readonly Inline[] {
  return new InlineParser(text).parse()
}

class InlineParser {
  readonly #text: string
  /** What no delimiter is around. */
  readonly #root: Frame = { mark: '', children: [] }
  readonly #frames: Frame[] = []
  /**
   * Lengths of backtick runs for which no end was found. Each is searched for only once, so that many of them cost
   * one pass each.
   */
  readonly #unclosed = new Set<number>()
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  parse(): readonly Inline[] {
    while (this.#at < this.#text.length) {
      SPECIAL.lastIndex = this.#at
      const next = SPECIAL.exec(this.#text)?.index ?? this.#text.length
      this.#addText(this.#text.slice(this.#at, next))
      this.#at = next
      if (next < this.#text.length) this.#readSpecial()
    }
    while (this.#frames.length > 0) this.#flatten()
    return this.#root.children
  }

  get #top(): Frame {
    return this.#frames.at(-1) ?? this.#root
  }

  #readSpecial(): void {
    const character = this.#text.charAt(this.#at)
    const isRead =
      (character === '\\' && this.#readEscape()) ||
      (character === '`' && this.#readCode()) ||
      ('*_~'.includes(character) && this.#readDelimiters(character)) ||
      (character === '!' && this.#readImage()) ||
      (character === '[' && this.#open('[', 1)) ||
      (character === ']' && this.#readLinkEnd()) ||
      (character === '<' && this.#readAngled()) ||
      ('hH'.includes(character) && this.#readAddress())
    if (!isRead) this.#take(1)
  }

  #readEscape(): boolean {
    const escaped = this.#text.charAt(this.#at + 1)
    if (!ESCAPABLE.test(escaped)) return false
    this.#addText(escaped)
    this.#at += 2
    return true
  }

  #readCode(): boolean {
    const length = runLength(this.#text, this.#at, '`')
    const start = this.#at + length
    const end = this.#unclosed.has(length) ? -1 : findRun(this.#text, start, length)
    if (end < 0) {
      this.#unclosed.add(length)
      return this.#take(length)
    }
    const content = this.#text.slice(start, end).replaceAll('\n', ' ')
    const isPadded = content.startsWith(' ') && content.endsWith(' ') && content.trim() !== ''
    this.#top.children.push({ kind: 'code', text: isPadded ? content.slice(1, -1) : content })
    this.#at = end + length
    return true
  }

  /** A run of them may close some and open others. */
  #readDelimiters(character: string): boolean {
    const length = runLength(this.#text, this.#at, character)
    const [before, after] = [this.#text.charAt(this.#at - 1), this.#text.charAt(this.#at + length)]
    const isInWord = character === '_' && isWordCharacter(before) && isWordCharacter(after)
    const canOpen = !isInWord && after.trim() !== ''
    const canClose = !isInWord && before.trim() !== ''
    for (let left = length; left > 0;) {
      const mark = this.#markOf(character, left, canClose)
      if (KINDS[mark] === undefined) return this.#take(left)
      if (canClose && this.#close(mark)) this.#at += mark.length
      else if (canOpen) this.#open(mark, mark.length)
      else this.#take(mark.length)
      left -= mark.length
    }
    return true
  }

  /** Closes two marks at once, unless the innermost open mark is single. */
  #markOf(character: string, left: number, canClose: boolean): string {
    const closesSingle = canClose && this.#top.mark === character
    return character.repeat(left > 1 && !closesSingle ? 2 : 1)
  }

  #close(mark: string): boolean {
    const kind = KINDS[mark]
    const children = kind && this.#takeFrame(mark)
    if (!children) return false
    this.#top.children.push({ kind, children })
    return true
  }

  /** Returns the children of the innermost open frame of this mark. Frames opened since then become text. */
  #takeFrame(mark: string): Inline[] | undefined {
    const index = this.#frames.findLastIndex((frame) => frame.mark === mark)
    const frame = this.#frames[index]
    if (!frame || (frame.children.length === 0 && index === this.#frames.length - 1)) return undefined
    while (this.#frames.length > index + 1) this.#flatten()
    this.#frames.pop()
    return frame.children
  }

  #readImage(): boolean {
    if (this.#text.charAt(this.#at + 1) !== '[') return false
    this.#at += 1
    return this.#open('[', 1)
  }

  #readLinkEnd(): boolean {
    const target = this.#text.charAt(this.#at + 1) === '(' ? this.#readTarget(this.#at + 2) : undefined
    const link = target && addressOf(target.address)
    if (!link) return false
    const children = this.#takeFrame('[')
    if (!children) return false
    this.#top.children.push(linkWith(link, withoutLinks(children)))
    this.#at = target.end
    return true
  }

  /** An address without spaces and with paired brackets, and an optional title, which is dropped. */
  #readTarget(start: number): { address: string; end: number } | undefined {
    let depth = 0
    for (let i = start; i < Math.min(this.#text.length, start + 2_200); i++) {
      const character = this.#text.charAt(i)
      if (character === '(') depth++
      if (character === ')' && depth-- === 0) {
        const [address = ''] = this.#text.slice(start, i).trim().split(/\s/, 1)
        return { address: address.replace(/^<|>$/g, ''), end: i + 1 }
      }
    }
    return undefined
  }

  #readAngled(): boolean {
    const end = this.#text.indexOf('>', this.#at)
    const link = end > 0 && end - this.#at < 2_200 ? addressOf(this.#text.slice(this.#at + 1, end)) : undefined
    if (!link) return false
    this.#top.children.push(linkWith(link, []))
    this.#at = end + 1
    return true
  }

  #readAddress(): boolean {
    if (isWordCharacter(this.#text.charAt(this.#at - 1))) return false
    CANDIDATE.lastIndex = this.#at
    const found = CANDIDATE.exec(this.#text)?.[0] ?? ''
    const isInLink = this.#frames.some(({ mark }) => mark === '[')
    const [first] = linkify(isInLink ? (found.split(']', 1)[0] ?? '') : found)
    if (first?.href === undefined) return false
    this.#top.children.push(linkWith({ href: first.href, shown: first.shown ?? first.text }, []))
    this.#at += first.text.length
    return true
  }

  #open(mark: string, length: number): boolean {
    if (this.#frames.length >= MAX_DEPTH) return this.#take(length)
    this.#frames.push({ mark, children: [] })
    this.#at += length
    return true
  }

  /** The innermost frame was not closed, so its delimiter is text. */
  #flatten(): void {
    const frame = this.#frames.pop()
    if (!frame) return
    this.#addText(frame.mark)
    for (const child of frame.children) {
      if (child.kind === 'text') this.#addText(child.text)
      else this.#top.children.push(child)
    }
  }

  #take(length: number): true {
    this.#addText(this.#text.slice(this.#at, this.#at + length))
    this.#at += length
    return true
  }

  #addText(text: string): void {
    if (text === '') return
    const { children } = this.#top
    const last = children.at(-1)
    if (last?.kind === 'text') children[children.length - 1] = { kind: 'text', text: last.text + text }
    else children.push({ kind: 'text', text })
  }
}

interface Address {
  readonly href: string
  readonly shown: string
}

/** Applies the rules for links in plain text: only http and https, no user, the real host. */
function addressOf(text: string): Address | undefined {
  const [part, ...more] = linkify(text)
  return part?.href !== undefined && part.text === text && more.length === 0
    ? { href: part.href, shown: part.shown ?? part.text }
    : undefined
}

/** The text of a link must not look like an address other than its target. */
function linkWith({ href, shown }: Address, children: readonly Inline[]): MarkdownLink {
  const words = textOf(children).trim()
  const address: Inline = { kind: 'text', text: shown }
  if (words === '' || words === shown || looksLikeAddress(words)) return { kind: 'link', href, children: [address] }
  return { kind: 'link', href, children, host: /^https?:\/\/([^/?#]*)/i.exec(shown)?.[1] ?? shown }
}

function looksLikeAddress(words: string): boolean {
  return words.includes('://') || /[\p{L}\p{N}][.\u3002\uff0e\uff61][\p{L}\p{N}]/u.test(words)
}

/** A link within a link has only its words. */
function withoutLinks(inlines: readonly Inline[]): readonly Inline[] {
  return inlines.flatMap((inline): readonly Inline[] => {
    if (inline.kind === 'text' || inline.kind === 'code') return [inline]
    const children = withoutLinks(inline.children)
    return inline.kind === 'link' ? children : [{ kind: inline.kind, children }]
  })
}

export function textOf(inlines: readonly Inline[]): string {
  return inlines.map((inline) => ('text' in inline ? inline.text : textOf(inline.children))).join('')
}

function runLength(text: string, start: number, character: string): number {
  let end = start
  while (text.charAt(end) === character) end++
  return end - start
}

/** The start of a run of exactly this many backticks, or -1. */
function findRun(text: string, from: number, length: number): number {
  for (let at = text.indexOf('`', from); at >= 0;) {
    const found = runLength(text, at, '`')
    if (found === length) return at
    at = text.indexOf('`', at + found)
  }
  return -1
}

function isWordCharacter(character: string): boolean {
  return /[\p{L}\p{N}_]/u.test(character)
}
