import { escapeHtml } from '@atrium/web/share/escape-html'
import { Marked, type Renderer, type Token, type Tokens } from 'marked'
import { codeBlock } from './highlight.ts'

export interface RenderedMarkdown {
  /** HTML in the file is shown as text and never becomes markup. */
  html: string
  /** The headings of the second level, each with the text under it. */
  headings: { id: string; title: string; text: string }[]
}

/**
 * Maps the address of a link in the file. undefined: no served page has that address, and only the text of the link
 * stays.
 */
export type ResolveLink = (href: string) => string | undefined

/** Renders a page of docs/ (CommonMark with GFM tables) as HTML for the documentation's style sheet. */
export function renderMarkdown(text: string, resolveLink: ResolveLink): RenderedMarkdown {
  const marked = new Marked({ async: false, gfm: true, renderer: rendererFor(resolveLink) })
  return { html: marked.parse(text, { async: false }).trim(), headings: headingsOf(marked.lexer(text)) }
}

/** Text of the first heading. */
export function titleOf(text: string): string {
  return (/^# (.*)$/m.exec(text)?.[1] ?? '').replaceAll(/[`*]/g, '')
}

function headingsOf(tokens: readonly Token[]): RenderedMarkdown['headings'] {
  const headings: RenderedMarkdown['headings'] = []
  for (const token of tokens) {
    if (token.type === 'heading' && (token as Tokens.Heading).depth === 2) {
      const { text } = token as Tokens.Heading
      headings.push({ id: slugOf(text), title: text.replaceAll(/[`*]/g, ''), text: '' })
    } else if (token.type === 'paragraph') {
      const last = headings.at(-1)
      // recheck: the guides of this repository.
      if (last) last.text += ` ${(token as Tokens.Paragraph).text.replaceAll(/[`*]|\]\([^)]*\)|\[/g, '')}`
    }
  }
  return headings
}

function rendererFor(resolveLink: ResolveLink) {
  return {
    heading(this: Renderer, { tokens, depth, text }: Tokens.Heading) {
      return `<h${depth} id="${escapeHtml(slugOf(text))}">${this.parser.parseInline(tokens)}</h${depth}>\n`
    },
    code({ text, lang = '' }: Tokens.Code) {
      return `${codeBlock(text, /^\w*/.exec(lang)?.[0] ?? '')}\n`
    },
    codespan: ({ text }: Tokens.Codespan) => `<code>${escapeHtml(text)}</code>`,
    table(this: Renderer, { header, rows }: Tokens.Table) {
      const cell = ({ tokens }: Tokens.TableCell, tag: string) => {
        const inner = this.parser.parseInline(tokens)
        // An empty heading cell would be announced by a screen reader without a text.
        const shown = inner === '' ? 'td' : tag
        return `<${shown}>${inner}</${shown}>`
      }
      const row = (cells: Tokens.TableCell[], tag: string) => `<tr>${cells.map((one) => cell(one, tag)).join('')}</tr>`
      const body = rows.map((cells) => row(cells, 'td')).join('')
      return `<div class="table" tabindex="0"><table><thead>${row(header, 'th')}</thead><tbody>${body}</tbody></table></div>\n`
    },
    link(this: Renderer, { href, tokens }: Tokens.Link) {
      const target = resolveLink(href)
      const inner = this.parser.parseInline(tokens)
      // Only http and https addresses are allowed, because a link of another scheme could run code.
      return target !== undefined && /^(?:https?:\/\/|\/|#)/.test(target) ? `<a href="${escapeHtml(target)}">${inner}</a>` : inner
    },
    image: ({ text }: Tokens.Image) => escapeHtml(text),
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
  }
}

function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-+|(?<!-)-+$/g, '')
}
