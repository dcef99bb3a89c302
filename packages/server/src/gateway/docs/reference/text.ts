import { escapeHtml } from '@atrium/web/share/escape-html'

/** A line of the contract's text as HTML: `code` is marked, everything else is shown as it stands. */
export function inlineHtml(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}

/** The same for paragraphs, which an empty line separates. */
export function paragraphs(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((part) => `<p>${inlineHtml(part)}</p>`)
    .join('')
}

/** The address of a section of the reference: "Share page" is at /docs/api/share-page. */
export function tagPath(tag: string): string {
  return `/docs/api/${tag.toLowerCase().replaceAll(' ', '-')}`
}
