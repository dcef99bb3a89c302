import { escapeHtml } from '@atrium/web/share/escape-html'
import { Marked, type Renderer, type Tokens } from 'marked'

export interface RenderedMarkdown {
  /** Text of the first heading. */
  title: string
  /** HTML in the file is shown as text and never becomes markup. */
  html: string
}

/** The address behind a link as the file has it; undefined: no served page is behind it, and only its text stays. */
export type ResolveLink = (href: string) => string | undefined

/** Renders a page of docs/ (CommonMark with GFM tables) as HTML for the documentation's style sheet. */
export function renderMarkdown(text: string, resolveLink: ResolveLink): RenderedMarkdown {
  const title = /^# (.*)$/m.exec(text)?.[1] ?? ''
  const marked = new Marked({ async: false, gfm: true, renderer: rendererFor(resolveLink) })
  return { title: title.replaceAll(/[`*]/g, ''), html: marked.parse(text, { async: false }).trim() }
}

function rendererFor(resolveLink: ResolveLink) {
  return {
    heading(this: Renderer, { tokens, depth, text }: Tokens.Heading) {
      return `<h${depth} id="${escapeHtml(slugOf(text))}">${this.parser.parseInline(tokens)}</h${depth}>\n`
    },
    // The block scrolls sideways, with the keyboard too.
    code({ text, lang = '' }: Tokens.Code) {
      const language = /^\w*/.exec(lang)?.[0]
      const comment = language === 'ts' ? /^\s*\/\// : /^\s*#/
      const lines = text
        .split('\n')
        .map((line) => (comment.test(line) ? `<span class="comment">${escapeHtml(line)}</span>` : escapeHtml(line)))
      return `<pre tabindex="0" data-language="${language}"><code>${lines.join('\n')}</code></pre>\n`
    },
    codespan: ({ text }: Tokens.Codespan) => `<code>${escapeHtml(text)}</code>`,
    table(this: Renderer, { header, rows }: Tokens.Table) {
      const cell = ({ tokens }: Tokens.TableCell, tag: string) => {
        const inner = this.parser.parseInline(tokens)
        // An empty heading cell means nothing to a screen reader.
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
      // Only addresses of the web: a link of another scheme could run code.
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
