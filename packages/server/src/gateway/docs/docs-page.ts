import { hash } from 'node:crypto'
import { ARCH_MARK } from '@atrium/web/share/arch'
import { escapeHtml } from '@atrium/web/share/escape-html'
import { assetPaths, docsStyle, previewPicture } from './docs-assets.ts'

/**
 * Only files of this origin are loaded, and only this style is allowed. Requests from the reference also go to this
 * origin.
 */
export const docsPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'sha256-${hash('sha256', docsStyle, 'base64')}'`,
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

interface Link {
  path: string
  title: string
}

export interface NavigationSection {
  title: string
  pages: (Link & { parts?: Link[] })[]
}

export interface DocsPageParts extends Link {
  /** Trusted HTML: it is inserted unchanged. */
  body: string
  /** prose: text and the list of its headings. wide: text beside code. landing: without navigation. */
  layout: 'prose' | 'wide' | 'landing'
  navigation: readonly NavigationSection[]
  /** The headings of the page, for the list beside it. */
  headings?: readonly { id: string; title: string }[]
  previous?: Link | undefined
  next?: Link | undefined
  /** The origin of the installation. Without it, the preview of a link has no picture. */
  publicUrl?: string
  /** Whether the publishable key in the examples works: it is that of a development server. */
  developmentKey?: string | undefined
}

/** Renders a page of the documentation. The page works without its script. */
export function docsPage(parts: DocsPageParts): string {
  const { title, layout, body, headings = [], developmentKey } = parts
  const key = developmentKey ? ` data-key="${escapeHtml(developmentKey)}"` : ''
  const navigation = layout === 'landing' ? undefined : parts.navigation
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">',
    `<title>${escapeHtml(title === 'Atrium' ? title : `${title} · Atrium`)}</title>`,
    // The address without the query that a link or a search adds.
    parts.path === '' ? '' : `<link rel="canonical" href="${escapeHtml(parts.path)}">`,
    previewTags(title, body),
    parts.publicUrl === undefined ? '' : pictureTags(parts.publicUrl),
    `<link rel="icon" href="/favicon.ico" type="image/svg+xml">`,
    `<style>${docsStyle}</style><link rel="modulepreload" href="${assetPaths.searchScript}">`,
    `<script type="module" src="${assetPaths.script}"></script></head>`,
    `<body class="${layout}"${key}><a class="skip" href="#content">Skip to the content</a>`,
    header(parts),
    navigation ? `<nav id="menu" aria-label="Pages">${menu(parts.path, navigation)}</nav>` : '',
    `<main id="content" tabindex="-1">${body}${neighbours(parts)}</main>`,
    headings.length > 1 ? `<aside aria-label="On this page">${onThisPage(headings)}</aside>` : '',
    '</body></html>',
  ].join('')
}

const places = [
  {
    path: '/docs/guides',
    title: 'Guides',
    // The pages for operators are in the same menu.
    owns: /^\/docs\/(?!api\/|errors(?:\/|$))/,
  },
  { path: '/docs', title: 'API reference', owns: /^\/docs(?:\/api\/.*)?$/ },
  { path: '/docs/errors', title: 'Errors', owns: /^\/docs\/errors/ },
  { path: '/downloads', title: 'Downloads', owns: /^\/downloads$/ },
]

/** What a search or the preview of a link shows. */
function previewTags(title: string, body: string): string {
  const description = openingOf(body)
  const named = description
    ? `<meta name="description" content="${description}"><meta property="og:description" content="${description}">`
    : ''
  return `${named}<meta property="og:title" content="${escapeHtml(title)}"><meta property="og:type" content="website"><meta property="og:site_name" content="Atrium">`
}

/** The address of the picture is absolute: programs that show previews do not resolve it against the page. */
function pictureTags(publicUrl: string): string {
  const { path, type, width, height, alt } = previewPicture
  const tags = { image: publicUrl + path, 'image:type': type, 'image:width': width, 'image:height': height, 'image:alt': alt }
  return Object.entries(tags)
    .map(([name, value]) => `<meta property="og:${name}" content="${escapeHtml(String(value))}">`)
    .join('')
}

const descriptionLength = 200

/** The text with which the page begins, as HTML. It is cut between words, so that no character reference is cut. */
function openingOf(body: string): string {
  // What follows the last paragraph has none.
  const paragraphs = body
    .split('</p>')
    .slice(0, -1)
    .map((before) => before.slice(before.search(/<p[ >]/)))
  const text = paragraphs
    .slice(0, 2)
    .join(' ')
    .replaceAll(/<[^<>]*>/g, '')
    .replaceAll('"', '&quot;')
    .replaceAll(/\s+/g, ' ')
    .trim()
  if (text.length <= descriptionLength) return text
  const cut = text.slice(0, descriptionLength)
  return `${cut.slice(0, cut.lastIndexOf(' '))} …`
}

function header({ path, layout }: DocsPageParts): string {
  return (
    `<header><a class="brand" href="/">${ARCH_MARK}<span>Atrium</span></a><nav class="places" aria-label="Documentation">${placeLinks(path)}</nav>` +
    `<button type="button" class="search" hidden>Search <kbd>/</kbd></button>${layout === 'landing' ? '' : '<a class="menu" href="#menu">Menu</a>'}</header>`
  )
}

function placeLinks(path: string): string {
  return places
    .map(({ path: to, title, owns }) => `<a href="${to}"${owns.test(path) ? ' aria-current="true"' : ''}>${title}</a>`)
    .join('')
}

function menu(path: string, navigation: readonly NavigationSection[]): string {
  const sections = navigation.map(({ title, pages }) => {
    const links = pages.map((page) => {
      const parts = page.parts?.map((part) => `<li><a href="${part.path}">${escapeHtml(part.title)}</a></li>`).join('')
      const here = page.path === path ? ' aria-current="page"' : ''
      return `<li><a href="${page.path}"${here}>${escapeHtml(page.title)}</a>${parts ? `<ul>${parts}</ul>` : ''}</li>`
    })
    return `<h2>${escapeHtml(title)}</h2><ul>${links.join('')}</ul>`
  })
  return `<div class="phone"><a class="close" href="#content">Close</a>${placeLinks(path)}</div>${sections.join('')}`
}

function onThisPage(headings: readonly { id: string; title: string }[]): string {
  const links = headings.map(({ id, title }) => `<li><a href="#${escapeHtml(id)}">${escapeHtml(title)}</a></li>`)
  return `<h2>On this page</h2><ul>${links.join('')}</ul>`
}

/** Links to the previous and the next guide. */
function neighbours({ previous, next }: DocsPageParts): string {
  if (!previous && !next) return ''
  const link = (page: Link | undefined, rel: string) =>
    page ? `<a rel="${rel}" href="${page.path}">${escapeHtml(page.title)}</a>` : '<span></span>'
  return `<footer>${link(previous, 'prev')}${link(next, 'next')}</footer>`
}
