import { englishText, type PageText } from '../page-text/page-text.ts'
import { archDrawing } from './arch.ts'
import { escapeHtml } from './escape-html.ts'
import { previewOf, type Hero } from './hero.ts'
import { description, footer, meta, pageDirection, schemeTags, SITE_NAME, textAttributes } from './page-parts.ts'
import { readSharePage, type SharePage, type SharePageInput } from './share-page.ts'
import { sharePolicy } from './share-policy.ts'
import { isTall, shareStyle } from './share-style.ts'
import { readTheme, type Theme } from './theme.ts'

/**
 * SHA-256 of the text's UTF-8 bytes in base64 (not base64url), the form in which a Content-Security-Policy names a
 * style.
 */
export type Sha256Base64 = (text: string) => string

/** A document and the Content-Security-Policy header to send with it. */
export type RenderedPage = { html: string; csp: string }

const NOTICES = { open: 'gathering', ready: 'awaited', closed: 'closed' } as const

/**
 * Renders the public page of a collection. It is complete without JavaScript. The same input gives the same bytes, so
 * a hash of `html` is an ETag. Serve it as `text/html; charset=utf-8` with `csp`, without X-Frame-Options.
 */
export function renderSharePage(input: SharePageInput, sha256Base64: Sha256Base64, text: PageText = englishText): RenderedPage {
  const page = readSharePage(input, text)
  return renderDocument(
    {
      title: `${page.title} · ${SITE_NAME}`,
      language: text.language,
      direction: pageDirection(page.title, text),
      theme: page.theme,
      head: [...linkTags(input, page), ...previewTags(input, page)],
      body: [
        `<main>\n<article class="${articleClass(page.hero)}">`,
        page.hero ? heroFigure(page.hero, page.title) : emptyFigure(input, text),
        label(page, input.state, text),
        '</article>\n</main>',
        footer(input.publicUrl, text),
      ],
      hero: page.hero,
    },
    sha256Base64,
  )
}

/**
 * The page for an unknown id or address. It gives no reason, so that a deleted collection looks like one that never
 * existed. `hint` is English.
 */
export function renderShareNotFound(sha256Base64: Sha256Base64, text: PageText = englishText, hint?: string): RenderedPage {
  const { missing, missingHeading, missingTitle } = text.share
  const hints = hint === undefined ? [] : [`<span lang="en" dir="ltr">${escapeHtml(hint)}</span>`]
  return renderNotice({ title: missingTitle, heading: missingHeading, paragraphs: [missing, ...hints] }, sha256Base64, text)
}

/** The page for an address that cannot be shown now. Its link loads the same address. */
export function renderShareBusy(sha256Base64: Sha256Base64, text: PageText = englishText): RenderedPage {
  const { busyHeading, busy, tryAgain } = text.share
  const paragraphs = [busy, `<a href="">${tryAgain}</a>`]
  return renderNotice({ title: busyHeading, heading: busyHeading, paragraphs }, sha256Base64, text)
}

/**
 * The page for an address with a wrong query, such as an old cursor. Its link leads to the address without the query.
 */
export function renderShareMistake(page: string, sha256Base64: Sha256Base64, text: PageText = englishText): RenderedPage {
  const { missing, missingHeading, missingTitle, openPage } = text.share
  const paragraphs = [missing, `<a href="${escapeHtml(page)}">${openPage}</a>`]
  return renderNotice({ title: missingTitle, heading: missingHeading, paragraphs }, sha256Base64, text)
}

interface Notice {
  title: string
  heading: string
  /** HTML. */
  paragraphs: string[]
}

function renderNotice({ title, heading, paragraphs }: Notice, sha256Base64: Sha256Base64, text: PageText): RenderedPage {
  return renderDocument(
    {
      title: `${title} · ${SITE_NAME}`,
      language: text.language,
      direction: text.direction,
      theme: readTheme(undefined),
      head: [],
      body: [
        '<main>\n<article class="piece empty missing">',
        `<figure><div class="frame">${archDrawing('', 'none')}</div></figure>`,
        `<div class="label"><div class="words"><h1>${heading}</h1>`,
        `<div class="description">${paragraphs.map((words) => `<p>${words}</p>`).join('')}</div></div></div>`,
        '</article>\n</main>',
      ],
    },
    sha256Base64,
  )
}

type Document = {
  title: string
  language: string
  direction: 'ltr' | 'rtl'
  theme: Theme
  head: string[]
  body: string[]
  hero?: Hero | undefined
}

function renderDocument(document: Document, sha256Base64: Sha256Base64): RenderedPage {
  const style = shareStyle(document.theme, document.hero?.size)
  const html = [
    '<!doctype html>',
    `<html lang="${document.language}" dir="${document.direction}">`,
    '<head>',
    '<meta charset="utf-8">',
    `<title>${escapeHtml(document.title)}</title>`,
    '<meta name="viewport" content="width=device-width,initial-scale=1,viewport-fit=cover">',
    // Anyone who has the address can see the page, so it is kept from search engines and from the hero's host.
    '<meta name="robots" content="noindex,nofollow,noarchive">',
    '<meta name="referrer" content="no-referrer">',
    ...schemeTags(document.theme),
    ...document.head,
    `<style>${style}</style>`,
    '</head>',
    '<body>',
    ...document.body,
    '</body>',
    '</html>',
    '',
  ].join('\n')
  return { html, csp: sharePolicy(sha256Base64(style), document.hero?.origin) }
}

function linkTags(input: SharePageInput, page: SharePage): string[] {
  return [
    `<link rel="canonical" href="${escapeHtml(input.pageUrl)}">`,
    `<link rel="alternate" type="application/json+oembed" href="${escapeHtml(input.oembedUrl)}" title="${escapeHtml(page.title)}">`,
  ]
}

/** Open Graph and Twitter card: the preview of the link in chats and feeds. */
function previewTags(input: SharePageInput, page: SharePage): string[] {
  const { hero, title, summary } = page
  const preview = page.preview && previewOf(page.preview)
  const properties: Array<[string, string | number | undefined]> = [
    ['og:type', 'website'],
    ['og:site_name', SITE_NAME],
    ['og:title', title],
    ['og:description', summary],
    ['og:url', input.pageUrl],
    ...(preview ? mediaProperties(preview, title) : []),
    ...(hero?.element === 'video' ? mediaProperties(hero, title) : []),
  ]
  const names: Array<[string, string | undefined]> = [
    ['description', summary],
    ['twitter:card', preview ? 'summary_large_image' : 'summary'],
    ['twitter:title', title],
    ['twitter:description', summary],
    ['twitter:image', preview?.url],
    ['twitter:image:alt', preview && altOf(preview, title)],
  ]
  return [
    ...properties.flatMap(([name, content]) => (content === undefined ? [] : [meta('property', name, String(content))])),
    ...names.flatMap(([name, content]) => (content === undefined ? [] : [meta('name', name, content)])),
  ]
}

function mediaProperties(hero: Hero, title: string): Array<[string, string | number | undefined]> {
  const kind = hero.element === 'img' ? 'og:image' : 'og:video'
  return [
    [kind, hero.url],
    [`${kind}:type`, hero.mime],
    [`${kind}:width`, hero.size?.width],
    [`${kind}:height`, hero.size?.height],
    ...(hero.element === 'img' ? [['og:image:alt', altOf(hero, title)] satisfies [string, string]] : []),
  ]
}

function heroFigure(hero: Hero, title: string): string {
  const size = hero.size ? ` width="${hero.size.width}" height="${hero.size.height}"` : ''
  const src = escapeHtml(hero.url)
  const words = escapeHtml(altOf(hero, title))
  const element =
    hero.element === 'img'
      ? `<img class="hero" src="${src}" alt="${words}"${size}${sourceSet(hero)} decoding="async" fetchpriority="high" referrerpolicy="no-referrer">`
      : `<video class="hero" src="${src}" aria-label="${words}"${size} controls playsinline muted loop preload="metadata"></video>`
  const caption =
    hero.title && hero.title !== title ? `<figcaption ${textAttributes(hero.title)}>${escapeHtml(hero.title)}</figcaption>` : ''
  return `<figure>${element}${caption}</figure>`
}

/** The widths that the browser chooses from, and that of the picture on the page: see heroSize. */
function sourceSet({ smaller = [], size }: Hero): string {
  if (!size || smaller.length === 0) return ''
  const sources = smaller.map(({ url, width }) => `${url} ${width}w`).join(', ')
  return ` srcset="${escapeHtml(sources)}" sizes="min(100vw,${size.width}px,66vh*${size.width}/${size.height})"`
}

function altOf(hero: Hero, title: string): string {
  return hero.alt ?? hero.title ?? title
}

function emptyFigure({ id, state }: SharePageInput, text: PageText): string {
  const drawing = archDrawing(id, state === 'open' ? 'waiting' : state === 'ready' ? 'still' : 'none')
  return `<figure><div class="frame">${drawing}</div><figcaption><bdi dir="${text.direction}">${text.share[NOTICES[state]]}</bdi></figcaption></figure>`
}

function label({ title, paragraphs, hero }: SharePage, state: SharePageInput['state'], text: PageText): string {
  // "Closed" means that nothing more will be added. If there is no picture, the notice in its place already says
  // this.
  const closed = hero && state === 'closed' ? `<p class="state" dir="${text.direction}">${text.share.closedMark}</p>` : ''
  const heading = `<div class="heading">${closed}<h1 ${textAttributes(title)}>${escapeHtml(title)}</h1></div>`
  return `<div class="label"><div class="words">${heading}${description(paragraphs)}</div></div>`
}

function articleClass(hero: Hero | undefined): string {
  if (!hero) return 'piece empty'
  return hero.size && isTall(hero.size) ? 'piece tall' : 'piece'
}
