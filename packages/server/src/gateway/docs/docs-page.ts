import { ARCH_MARK } from '@atrium/web/share/arch'
import { escapeHtml } from '@atrium/web/share/escape-html'
import type { DocsChapter } from './read-docs.ts'

export const stylePath = '/docs/assets/docs.css'

/** Nothing but files of this origin; our pages have no script, no form and no frame. */
export const docsPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

interface DocsPageParts {
  path: string
  title: string
  /** Of our own making, or rendered: goes in as it is. */
  body: string
  /** Elements of the head, likewise. */
  head?: string
}

/** A page of the documentation: the way around, and what it is about. */
export function docsPage(parts: DocsPageParts, chapters: readonly DocsChapter[]): string {
  const { path, body } = parts
  return shell(parts, chapters, `<main id="content" class="prose" tabindex="-1">${body}${nextPages(path, chapters)}</main>`)
}

/** The same around something that takes the width and is the page's main part by itself. */
export function widePage(parts: DocsPageParts & { below: string }, chapters: readonly DocsChapter[]): string {
  const about = `<section id="content" class="prose" tabindex="-1" aria-label="About">${parts.body}</section>`
  return shell({ ...parts, wide: true }, chapters, about + parts.below)
}

interface ShellParts extends Omit<DocsPageParts, 'body'> {
  wide?: boolean
}

function shell({ path, title, head = '', wide = false }: ShellParts, chapters: readonly DocsChapter[], content: string): string {
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">',
    `<title>${escapeHtml(title === 'Atrium' ? title : `${title} · Atrium`)}</title><link rel="icon" href="/favicon.ico">`,
    `${head}<link rel="stylesheet" href="${stylePath}"></head><body${wide ? ' class="wide"' : ''}>`,
    '<a class="skip" href="#content">Skip to the content</a>',
    `<header><a class="brand" href="/">${ARCH_MARK}Atrium</a></header>`,
    `<nav aria-label="Documentation">${navigation(path, chapters)}</nav>`,
    `${content}</body></html>`,
  ].join('')
}

const reference = {
  title: 'Reference',
  pages: [
    { path: '/docs', title: 'Operations' },
    { path: '/docs/full', title: 'All operations' },
    { path: '/docs/errors', title: 'Error codes' },
    { path: '/downloads', title: 'Downloads' },
  ],
}

function navigation(path: string, chapters: readonly DocsChapter[]): string {
  return [...chapters.slice(0, 1), reference, ...chapters.slice(1)]
    .map(({ title, pages }) => {
      const links = pages.map(
        (page) =>
          `<li><a href="${page.path}"${page.path === path ? ' aria-current="page"' : ''}>${escapeHtml(page.title)}</a></li>`,
      )
      return `<h2>${title}</h2><ul>${links.join('')}</ul>`
    })
    .join('')
}

/** From one guide to its neighbours. */
function nextPages(path: string, chapters: readonly DocsChapter[]): string {
  const pages = chapters.flatMap((chapter) => chapter.pages)
  const at = pages.findIndex((page) => page.path === path)
  if (at < 0) return ''
  const link = (page: { path: string; title: string } | undefined, rel: string) =>
    page ? `<a rel="${rel}" href="${page.path}">${escapeHtml(page.title)}</a>` : '<span></span>'
  return `<footer>${link(pages[at - 1], 'prev')}${link(pages[at + 1], 'next')}</footer>`
}
