import { escapeHtml } from '@atrium/web/share/escape-html'
import { renderInline, type ResolveLink } from './render-inline.ts'

export interface RenderedMarkdown {
  /** Text of the first heading. */
  title: string
  /** Escaped: what stands in the file as HTML is shown, not obeyed. */
  html: string
}

/** What our own pages use of CommonMark and GFM: headings, paragraphs, fenced code, lists, tables, and what renderInline knows. */
export function renderMarkdown(text: string, resolveLink: ResolveLink): RenderedMarkdown {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  const title = /^# (.*)$/m.exec(text)?.[1] ?? ''
  return { title: title.replaceAll(/[`*]/g, ''), html: renderBlocks(lines, resolveLink) }
}

const fenceLine = /^```(\w*)/
const headingLine = /^(#{1,4}) (.*)$/
const tableRule = /^\|(\s*:?-+:?\s*\|)+\s*$/
const listLine = /^(-|\d+\.) +/

function renderBlocks(lines: readonly string[], resolveLink: ResolveLink): string {
  const inline = (text: string) => renderInline(text, resolveLink)
  const blocks: string[] = []
  for (let at = 0; at < lines.length;) {
    const line = lines[at]!
    const heading = headingLine.exec(line)
    const end = endOfBlock(lines, at)
    const block = lines.slice(at, end)
    if (line.trim() === '') {
      // Between blocks.
    } else if (heading) blocks.push(renderHeading(heading[1]!.length, heading[2]!, inline))
    else if (fenceLine.test(line)) blocks.push(renderCode(fenceLine.exec(line)![1]!, block))
    else if (isTable(lines, at)) blocks.push(renderTable(block, inline))
    else if (listLine.test(line)) blocks.push(renderList(block, resolveLink))
    else blocks.push(`<p>${inline(block.join(' '))}</p>`)
    at = end
  }
  return blocks.join('\n')
}

function isTable(lines: readonly string[], at: number): boolean {
  return lines[at]!.startsWith('|') && tableRule.test(lines[at + 1] ?? '')
}

/** Index of the first line that is not of the block that begins here. */
function endOfBlock(lines: readonly string[], at: number): number {
  const line = lines[at]!
  if (line.trim() === '' || headingLine.test(line)) return at + 1
  const rest = lines.slice(at + 1)
  const length = (ends: (line: string, i: number) => boolean) => {
    const found = rest.findIndex(ends)
    return found < 0 ? rest.length : found
  }
  if (fenceLine.test(line)) return Math.min(at + 1 + length((next) => next.startsWith('```')) + 1, lines.length)
  if (isTable(lines, at)) return at + 1 + length((next) => !next.startsWith('|'))
  if (listLine.test(line)) {
    const goesOn = (next: string) => listLine.test(next) || /^\s+\S/.test(next)
    return at + 1 + length((next, i) => (next.trim() === '' ? !goesOn(rest[i + 1] ?? '') : !goesOn(next)))
  }
  return at + 1 + length((next) => next.trim() === '' || fenceLine.test(next) || headingLine.test(next) || listLine.test(next))
}

function renderHeading(level: number, text: string, inline: (text: string) => string): string {
  const id = text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-+|(?<!-)-+$/g, '')
  return `<h${level} id="${escapeHtml(id)}">${inline(text)}</h${level}>`
}

/** It can be scrolled sideways, with the keyboard too. Comments stand back. */
function renderCode(language: string, block: readonly string[]): string {
  const comment = language === 'ts' ? /^\s*\/\// : /^\s*#/
  const code = block
    .slice(1, block.at(-1)!.startsWith('```') ? -1 : undefined)
    .map((line) => (comment.test(line) ? `<span class="comment">${escapeHtml(line)}</span>` : escapeHtml(line)))
  return `<pre tabindex="0" data-language="${escapeHtml(language)}"><code>${code.join('\n')}</code></pre>`
}

function renderTable([head = '', , ...rows]: readonly string[], inline: (text: string) => string): string {
  const cells = (row: string) => row.replace(/^\||\|\s*$/g, '').split(/(?<!\\)\|/)
  const render = (row: string, tag: string) =>
    `<tr>${cells(row)
      .map((cell) => `<${tag}>${inline(cell.trim().replaceAll('\\|', '|'))}</${tag}>`)
      .join('')}</tr>`
  // A heading cell without words says nothing to a screen reader.
  const header = render(head, 'th').replaceAll('<th></th>', '<td></td>')
  const body = rows.map((row) => render(row, 'td')).join('')
  return `<div class="table" tabindex="0"><table><thead>${header}</thead><tbody>${body}</tbody></table></div>`
}

function renderList(block: readonly string[], resolveLink: ResolveLink): string {
  const items: string[][] = []
  for (const line of block) {
    const marker = listLine.exec(line)
    if (marker) items.push([line.slice(marker[0].length)])
    else items.at(-1)!.push(line)
  }
  const isLoose = block.some((line) => line.trim() === '')
  const html = items.map((item) => {
    const depth = Math.min(...item.slice(1).flatMap((line) => (line.trim() ? [line.search(/\S/)] : [])))
    const inner = renderBlocks([item[0]!, ...item.slice(1).map((line) => line.slice(Math.min(depth, line.length)))], resolveLink)
    return `<li>${isLoose ? inner : inner.replace(/^<p>([\s\S]*?)<\/p>/, '$1')}</li>`
  })
  const tag = block[0]!.startsWith('-') ? 'ul' : 'ol'
  return `<${tag}>${html.join('')}</${tag}>`
}
