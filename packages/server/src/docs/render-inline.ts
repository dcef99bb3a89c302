import { escapeHtml } from '@atrium/web/share/escape-html'

/** The address behind a link as it stands in the file; undefined: it leads nowhere from here, and its words stay. */
export type ResolveLink = (href: string) => string | undefined

// recheck: reads the paragraphs of our own documents alone.
const marks =
  /(`+)(.+?)\1|\*\*(.+?)\*\*|(?<![\w*])\*([^\s*](?:[^*]*[^\s*])?)\*(?!\w)|\[([^\]]+)\]\(([^()\s]+)\)|<(https?:\/\/[^<>\s]+)>/gs

/** Code spans, strong and stressed words, links. All else is text, also what looks like HTML. */
export function renderInline(text: string, resolveLink: ResolveLink): string {
  let html = ''
  let done = 0
  for (const match of text.matchAll(marks)) {
    html += escapeHtml(text.slice(done, match.index)) + renderMark(match, resolveLink)
    done = match.index + match[0].length
  }
  return html + escapeHtml(text.slice(done))
}

function renderMark([, , code, strong, stressed, words, href, address]: RegExpExecArray, resolveLink: ResolveLink): string {
  if (code !== undefined) return `<code>${escapeHtml(code)}</code>`
  if (strong !== undefined) return `<strong>${renderInline(strong, resolveLink)}</strong>`
  if (stressed !== undefined) return `<em>${renderInline(stressed, resolveLink)}</em>`
  if (address !== undefined) return `<a href="${escapeHtml(address)}">${escapeHtml(address)}</a>`
  const target = resolveLink(href!)
  const inner = renderInline(words!, resolveLink)
  // Never another scheme than the web's: what a file says must not run.
  return target !== undefined && /^(?:https?:\/\/|\/|#)/.test(target) ? `<a href="${escapeHtml(target)}">${inner}</a>` : inner
}
