/** What the public pages of a collection have in common. */
import { ARCH_MARK } from './arch.ts'
import { toHex } from './colour.ts'
import { escapeHtml } from './escape-html.ts'
import type { Theme } from './theme.ts'
import { languageOf } from './writing-system.ts'

export const SITE_NAME = 'Atrium'

export function schemeTags(theme: Theme): string[] {
  if ('palette' in theme) {
    return [meta('name', 'color-scheme', theme.palette.scheme), meta('name', 'theme-color', toHex(theme.palette.background))]
  }
  const themeColour = (scheme: 'light' | 'dark'): string =>
    `<meta name="theme-color" media="(prefers-color-scheme:${scheme})" content="${toHex(theme[scheme].background)}">`
  return [meta('name', 'color-scheme', 'light dark'), themeColour('light'), themeColour('dark')]
}

export function meta(key: 'name' | 'property', name: string, content: string): string {
  return `<meta ${key}="${name}" content="${escapeHtml(content)}">`
}

export function description(paragraphs: string[][]): string {
  if (paragraphs.length === 0) return ''
  const lines = paragraphs.map((paragraph) => {
    return `<p ${textAttributes(paragraph.join(' '))}>${paragraph.map(escapeHtml).join('<br>')}</p>`
  })
  return `<div class="description">${lines.join('\n')}</div>`
}

/** A tenant's words carry their own language and direction, whatever the page around them has. */
export function textAttributes(text: string): string {
  return `lang="${languageOf(text)}" dir="auto"`
}

export function footer(publicUrl: string): string {
  const href = escapeHtml(new URL('/', publicUrl).href)
  // A new tab, since the page may be standing in someone's frame.
  return `<footer><a href="${href}" target="_blank" rel="noopener noreferrer" dir="ltr">${ARCH_MARK}Shared with ${SITE_NAME}</a></footer>`
}
