import { escapeHtml } from '@atrium/web/share/escape-html'

/** A line of the contract's text as HTML. `code` is marked; everything else is escaped. */
export function inlineHtml(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}

/**
 * The same for paragraphs, which an empty line separates, and lists: lines that begin with `- ` or `1. `. An indented
 * line continues its entry.
 */
export function paragraphs(text: string): string {
  return text
    .split(/\n{2,}/)
    .map(blockHtml)
    .join('')
}

const bullet = /^(?:(- )|\d{1,3}\. )/

function blockHtml(block: string): string {
  const parts: { list?: 'ul' | 'ol'; lines: string[] }[] = []
  for (const line of block.split('\n')) {
    const marked = bullet.exec(line)
    const list = marked ? (marked[1] ? 'ul' : 'ol') : undefined
    const open = parts.at(-1)
    if (list && open?.list === list) open.lines.push(line.slice(marked?.[0].length))
    else if (list) parts.push({ list, lines: [line.slice(marked?.[0].length)] })
    else if (open && (!open.list || /^\s/.test(line))) open.lines.push(`${open.lines.pop() ?? ''}\n${line.trim()}`)
    else parts.push({ lines: [line] })
  }
  return parts
    .map(({ list, lines }) => {
      if (!list) return `<p>${inlineHtml(lines.join('\n').trim())}</p>`
      return `<${list}>${lines.map((line) => `<li>${inlineHtml(line)}</li>`).join('')}</${list}>`
    })
    .join('')
}

/** The address of a section of the reference: "Share page" is at /docs/api/share-page. */
export function tagPath(tag: string): string {
  return `/docs/api/${tag.toLowerCase().replaceAll(' ', '-')}`
}
