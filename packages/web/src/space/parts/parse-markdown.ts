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
const FENCE = /^ {0,3}(`{3,}|~{3,})/
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]|$)/
const ITEM = /^( *)([-*+]|\d{1,9}[.)])(?: |$)/
const QUOTE = /^ {0,3}> ?/
const UNDERLINE = /^ {0,3}(?:=+|-+) *$/
const DELIMITERS = /^[ |:-]+$/

/**
 * The part of Markdown that agents write: headings, paragraphs, lists, quotes, code, tables, rules. Everything else,
 * HTML above all, is text. It reads each line at most MAX_DEPTH times.
 */
export function parseMarkdown(text: string, depth = 0): readonly Block[] {
  return new BlockParser(text.replaceAll('\r\n', '\n').replaceAll('\t', '    ').split('\n'), depth).parse()
}

/** What is left without the marks, to be read out. */
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
      const line = this.#lines[this.#at]!
      const block = line.trim() === '' ? this.#skipBlank() : this.#readBlock(line)
      if (block === 'blank') continue
      if (block) this.#blocks.push(block)
      else this.#open.push(this.#lines[this.#at++]!)
    }
    this.#endParagraph()
    return this.#blocks
  }

  #skipBlank(): 'blank' {
    this.#endParagraph()
    this.#at++
    return 'blank'
  }

  /** undefined: the line belongs to a paragraph. */
  #readBlock(line: string): Block | undefined {
    if (this.#open.length > 0 && UNDERLINE.test(line)) return this.#endHeading(line)
    const fence = FENCE.exec(line)
    const info = fence && line.slice(fence[0].length)
    if (fence && !info!.includes('`')) return this.#readCode(fence[1]!, info!)
    const heading = HEADING.exec(line)
    if (heading) return this.#readHeading(heading[1]!.length, line)
    if (isRule(line)) return this.#step({ kind: 'rule' })
    if (this.#depth < MAX_DEPTH) {
      if (QUOTE.test(line)) return this.#readQuote()
      const item = ITEM.exec(line)
      // A number in the middle of a paragraph is the end of a sentence, unless it is 1.
      if (item && (this.#open.length === 0 || !/\d/.test(item[2]!) || Number.parseInt(item[2]!, 10) === 1))
        return this.#readList(item)
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
      const line = this.#lines[this.#at]!
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
    for (; this.#at < this.#lines.length && QUOTE.test(this.#lines[this.#at]!); this.#at++)
      lines.push(this.#lines[this.#at]!.replace(QUOTE, ''))
    return { kind: 'quote', blocks: new BlockParser(lines, this.#depth + 1).parse() }
  }

  #readList(first: RegExpExecArray): Block {
    this.#endParagraph()
    const kindOf = (marker: string) => marker.slice(-1)
    const indent = first[1]!.length
    const items: (readonly Block[])[] = []
    for (;;) {
      const item = ITEM.exec(this.#lines[this.#at] ?? '')
      const isNext = item && Math.abs(item[1]!.length - indent) < 2 && kindOf(item[2]!) === kindOf(first[2]!)
      if (!isNext || isRule(this.#lines[this.#at]!)) break
      items.push(new BlockParser(this.#takeItem(item), this.#depth + 1).parse())
    }
    const start = Number.parseInt(first[2]!, 10)
    return { kind: 'list', start: Number.isNaN(start) ? undefined : start, items }
  }

  /** The lines of one item, without their indent. */
  #takeItem(item: RegExpExecArray): string[] {
    const inset = item[1]!.length + item[2]!.length + 1
    const lines = [this.#lines[this.#at]!.slice(inset)]
    for (this.#at++; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at]!
      const isBlank = line.trim() === ''
      const indent = line.length - line.trimStart().length
      const belongs = isBlank ? this.#goesOnAfterBlank(inset) : indent > item[1]!.length + 1 || this.#isLazy(line, lines)
      if (!belongs) break
      lines.push(line.slice(Math.min(indent, inset)))
    }
    return lines
  }

  /** Whether the next line with something in it is of the same item, or the next item of the list. */
  #goesOnAfterBlank(inset: number): boolean {
    const next = this.#lines[this.#at + 1] ?? ''
    if (next.trim() === '') return false
    return next.length - next.trimStart().length >= Math.min(inset, 2) || ITEM.test(next)
  }

  /** A paragraph goes on in the next line, also where that is not indented. */
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
      const cells = cellsOf(this.#lines[this.#at]!)
      rows.push(head.map((_, i) => parseInlines(cells[i] ?? '')))
    }
    return { kind: 'table', head: head.map(parseInlines), rows }
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
