import { type Inline, parseInlines, textOf } from './parse-inlines.ts'

export type Block =
  | { readonly kind: 'paragraph'; readonly inlines: readonly Inline[] }
  | { readonly kind: 'heading'; readonly level: number; readonly inlines: readonly Inline[] }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'list'; readonly start: number | undefined; readonly items: readonly (readonly Block[])[] }
  | { readonly kind: 'quote'; readonly blocks: readonly Block[] }
  | { readonly kind: 'table'; readonly head: readonly Cell[]; readonly rows: readonly (readonly Cell[])[] }
  | { readonly kind: 'rule' }

export type Cell = readonly Inline[]

const MAX_DEPTH = 6
const MAX_COLUMNS = 20
const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)/s
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]|$)/
const ITEM = /^( *)([-*+]|\d{1,9}[.)])(?: |$)/
const QUOTE = /^ {0,3}> ?/
const UNDERLINE = /^ {0,3}(?:=+|-+) *$/
const DELIMITERS = /^[ |:-]+$/

/**
 * Parses the part of Markdown that agents write: headings, paragraphs, lists, quotes, code, tables, rules. Everything
 * else, HTML above all, stays text. It reads each line at most MAX_DEPTH times.
 */
export function parseMarkdown(text: string, depth = 0): readonly Block[] {
  return new BlockParser(text.replaceAll('\r\n', '\n').replaceAll('\t', '    ').split('\n'), depth).parse()
}

/** The text without the marks, for screen readers. */
export function plainTextOf(blocks: readonly Block[]): string {
  return blocks.map(plainBlock).filter(Boolean).join('. ')
}

function plainBlock(block: Block): string {
  switch (block.kind) {
    case 'paragraph':
    case 'heading':
      return textOf(block.inlines)
    case 'code':
      return block.text
    case 'list':
      return block.items.map(plainTextOf).join('. ')
    case 'quote':
      return plainTextOf(block.blocks)
    case 'table':
      return [block.head, ...block.rows].map((row) => row.map(textOf).join(', ')).join('. ')
    default:
      return ''
  }
}

class BlockParser {
  readonly #lines: readonly string[]
  readonly #depth: number
  readonly #blocks: Block[] = []
  #at = 0
  /** Lines of a paragraph that goes on. */
  #open: string[] = []

  constructor(lines: readonly string[], depth: number) {
    this.#lines = lines
    this.#depth = depth
  }

  parse(): readonly Block[] {
    while (this.#at < this.#lines.length) {
      const line = this.#line
      const block = line.trim() === '' ? this.#skipBlank() : this.#readBlock(line)
      if (block === 'blank') continue
      if (block) {
        this.#blocks.push(block)
        continue
      }
      this.#open.push(line)
      this.#at++
    }
    this.#endParagraph()
    return this.#blocks
  }

  /** Empty behind the last. */
  get #line(): string {
    return this.#lines[this.#at] ?? ''
  }

  #skipBlank(): 'blank' {
    this.#endParagraph()
    this.#at++
    return 'blank'
  }

  /** undefined: the line belongs to a paragraph. */
  #readBlock(line: string): Block | undefined {
    if (this.#open.length > 0 && UNDERLINE.test(line)) return this.#endHeading(line)
    const [, fence, info = ''] = FENCE.exec(line) ?? []
    if (fence !== undefined && !info.includes('`')) return this.#readCode(fence, info)
    const [, marks] = HEADING.exec(line) ?? []
    if (marks !== undefined) return this.#readHeading(marks.length, line)
    if (isRule(line)) return this.#step({ kind: 'rule' })
    if (this.#depth < MAX_DEPTH) {
      if (QUOTE.test(line)) return this.#readQuote()
      const item = itemOf(line)
      // A number within a paragraph usually ends a sentence, so a list can interrupt a paragraph only with 1.
      if (item && (this.#open.length === 0 || item.number === undefined || item.number === 1)) return this.#readList(item)
    }
    return this.#readTable(line)
  }

  #step(block: Block): Block {
    this.#endParagraph()
    this.#at++
    return block
  }

  #endParagraph(): void {
    const inlines = this.#takeOpen()
    if (inlines) this.#blocks.push({ kind: 'paragraph', inlines })
  }

  #endHeading(line: string): Block {
    this.#at++
    return { kind: 'heading', level: line.includes('=') ? 1 : 2, inlines: this.#takeOpen() ?? [] }
  }

  #takeOpen(): readonly Inline[] | undefined {
    if (this.#open.length === 0) return undefined
    const lines = this.#open.map((line) => line.trim().replace(/\\$/, ''))
    this.#open = []
    return parseInlines(lines.join('\n'))
  }

  #readHeading(level: number, line: string): Block {
    let words = line.trim().slice(level).trim()
    const bare = withoutTrailing(words, '#')
    if (bare === '' || bare.endsWith(' ')) words = bare.trim()
    return this.#step({ kind: 'heading', level, inlines: parseInlines(words) })
  }

  #readCode(fence: string, info: string): Block {
    this.#endParagraph()
    const lines: string[] = []
    for (this.#at++; this.#at < this.#lines.length; this.#at++) {
      const line = this.#line
      const words = line.trim()
      if (words.length >= fence.length && withoutTrailing(words, fence.charAt(0)) === '') {
        this.#at++
        break
      }
      lines.push(line)
    }
    return { kind: 'code', language: info.trim().split(' ', 1)[0] ?? '', text: lines.join('\n') }
  }

  #readQuote(): Block {
    this.#endParagraph()
    const lines: string[] = []
    for (; this.#at < this.#lines.length && QUOTE.test(this.#line); this.#at++) lines.push(this.#line.replace(QUOTE, ''))
    return { kind: 'quote', blocks: new BlockParser(lines, this.#depth + 1).parse() }
  }

  #readList(first: Item): Block {
    this.#endParagraph()
    const items: (readonly Block[])[] = []
    for (;;) {
      const item = itemOf(this.#line)
      const isNext = item && Math.abs(item.indent - first.indent) < 2 && item.mark === first.mark
      if (!isNext || isRule(this.#line)) break
      items.push(new BlockParser(this.#takeItem(item), this.#depth + 1).parse())
    }
    return { kind: 'list', start: first.number, items }
  }

  /** The lines of one item, without their indent. */
  #takeItem({ indent: markIndent, inset }: Item): string[] {
    const lines = [this.#line.slice(inset)]
    for (this.#at++; this.#at < this.#lines.length; this.#at++) {
      const line = this.#line
      const isBlank = line.trim() === ''
      const indent = line.length - line.trimStart().length
      const belongs = isBlank ? this.#goesOnAfterBlank(inset) : indent > markIndent + 1 || this.#isLazy(line, lines)
      if (!belongs) break
      lines.push(line.slice(Math.min(indent, inset)))
    }
    return lines
  }

  /** Whether the next non-empty line belongs to the same item or starts the next item of the list. */
  #goesOnAfterBlank(inset: number): boolean {
    const next = this.#lines[this.#at + 1] ?? ''
    if (next.trim() === '') return false
    return next.length - next.trimStart().length >= Math.min(inset, 2) || ITEM.test(next)
  }

  /** A paragraph continues in the next line even if that line is not indented. */
  #isLazy(line: string, before: readonly string[]): boolean {
    const startsBlock = FENCE.test(line) || HEADING.test(line) || ITEM.test(line) || QUOTE.test(line) || isRule(line)
    return !startsBlock && before.at(-1)?.trim() !== ''
  }

  #readTable(line: string): Block | undefined {
    const delimiters = this.#lines[this.#at + 1] ?? ''
    if (!line.includes('|') || !delimiters.includes('|') || !delimiters.includes('-') || !DELIMITERS.test(delimiters))
      return undefined
    const head = cellsOf(line)
    if (head.length > MAX_COLUMNS || cellsOf(delimiters).length !== head.length) return undefined
    this.#endParagraph()
    const rows: (readonly Cell[])[] = []
    for (this.#at += 2; this.#lines[this.#at]?.includes('|'); this.#at++) {
      const cells = cellsOf(this.#line)
      rows.push(head.map((_, i) => parseInlines(cells[i] ?? '')))
    }
    return { kind: 'table', head: head.map(parseInlines), rows }
  }
}

/** How an item of a list begins. */
interface Item {
  readonly indent: number
  /** Where its text begins. */
  readonly inset: number
  /** The mark that the items of one list share: the bullet, or the character after the number. */
  readonly mark: string
  readonly number: number | undefined
}

function itemOf(line: string): Item | undefined {
  const [, spaces = '', marker] = ITEM.exec(line) ?? []
  if (marker === undefined) return undefined
  const number = Number.parseInt(marker, 10)
  return {
    indent: spaces.length,
    inset: spaces.length + marker.length + 1,
    mark: marker.slice(-1),
    number: Number.isNaN(number) ? undefined : number,
  }
}

/** Cut at the bars; `\|` is one in a cell. */
function cellsOf(line: string): string[] {
  const cells = line.trim().split(/(?<!\\)\|/)
  if (cells[0]?.trim() === '') cells.shift()
  if (cells.at(-1)?.trim() === '') cells.pop()
  return cells.map((cell) => cell.trim().replaceAll('\\|', '|'))
}

function isRule(line: string): boolean {
  const marks = line.replaceAll(' ', '')
  return marks.length >= 3 && '-*_'.includes(marks.charAt(0)) && withoutTrailing(marks, marks.charAt(0)) === ''
}

function withoutTrailing(text: string, character: string): string {
  let end = text.length
  while (end > 0 && text.charAt(end - 1) === character) end--
  return text.slice(0, end)
}
