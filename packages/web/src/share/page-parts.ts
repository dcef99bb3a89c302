/** The parts that the public pages of a collection share. */
import type { PageText } from '../page-text/page-text.ts'
import { ARCH_MARK } from './arch.ts'
import { toHex } from './colour.ts'
import { escapeHtml } from './escape-html.ts'
import type { Theme } from './theme.ts'
import { directionOf, languageOf } from './writing-system.ts'

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

/** A tenant's words have their own language and direction, whatever those of the page are. */
export function textAttributes(text: string): string {
  return `lang="${languageOf(text)}" dir="auto"`
}

/**
 * The direction of the page: right to left if its title or its reader's language is written so. Words of the page
 * itself carry `text.direction`.
 */
export function pageDirection(title: string, text: PageText): 'ltr' | 'rtl' {
  return text.direction === 'rtl' ? 'rtl' : directionOf(title)
}

export function footer(publicUrl: string, text: PageText): string {
  const href = escapeHtml(new URL('/', publicUrl).href)
  // Opens a new tab, because the page may be in a frame.
  return `<footer><a href="${href}" target="_blank" rel="noopener noreferrer" dir="${text.direction}">${ARCH_MARK}${text.share.sharedWith}</a></footer>`
}
