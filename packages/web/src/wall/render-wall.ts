import { englishText, type PageText } from '../page-text/page-text.ts'
import { archDrawing } from '../share/arch.ts'
import { escapeHtml } from '../share/escape-html.ts'
import { previewOf, readHero, type HeroInput } from '../share/hero.ts'
import { description, footer, meta, pageDirection, schemeTags, SITE_NAME, textAttributes } from '../share/page-parts.ts'
import type { RenderedPage, Sha256Base64 } from '../share/render-share-page.ts'
import { readSharePage, type SharePage } from '../share/share-page.ts'
import { itemElement, type Element, type WallPicture } from './item-element.ts'
import type { WallLayout } from './layout.ts'
import { readWallItem, type OpenItem, type WallItem } from './wall-item.ts'
import { scriptText } from './script-text.ts'
import { wallScript } from './wall-script.ts'
import { wallStyle } from './wall-style.ts'

/** All that the page of a wall is made from. */
export interface WallInput {
  id: string
  /** Opaque JSON of the tenant; see readSharePage. */
  metadata: unknown
  state: 'open' | 'ready' | 'closed'
  layout: WallLayout
  /** Whether the address names the layout. Links to other pages then name it too. */
  layoutAsked: boolean
  /** In the order of the page. */
  items: readonly OpenItem[]
  /** The published, open pictures that the items name. Others are not shown. */
  pictures: ReadonlyMap<string, WallPicture>
  /** The published card or hero of the collection, for link previews. */
  preview?: HeroInput | undefined
  /** The cursor of the requested page; undefined for the newest page. */
  cursor: string | undefined
  /** The cursor of the following page. */
  nextCursor: string | undefined
  /** The position from which the stream continues after this page. */
  streamCursor: string
  publicUrl: string
  /** Absolute address of the newest page, without a query. */
  pageUrl: string
  oembedUrl: string
}

/**
 * Renders the public page of a collection's open items: a list that is complete without JavaScript and that the
 * page's one script keeps up to date. Compute the ETag from `etagOf`, which stays the same as long as the page shows
 * the same items.
 */
export function renderWall(
  input: WallInput,
  sha256Base64: Sha256Base64,
  text: PageText = englishText,
): RenderedPage & { etagOf: string } {
  const { id, metadata, state, publicUrl, pageUrl, oembedUrl } = input
  const page = readSharePage({ id, metadata, state, publicUrl, pageUrl, oembedUrl }, text)
  const title = page.title
  const items = input.items.flatMap((item) => readWallItem(item, text.wall) ?? [])
  const style = wallStyle(page.theme)
  const html = (streamCursor: string) =>
    [
      '<!doctype html>',
      `<html lang="${text.language}" dir="${pageDirection(title, text)}">`,
      '<head>',
      '<meta charset="utf-8">',
      `<title>${escapeHtml(`${title} · ${SITE_NAME}`)}</title>`,
      '<meta name="viewport" content="width=device-width,initial-scale=1,viewport-fit=cover">',
      '<meta name="robots" content="noindex,nofollow,noarchive">',
      '<meta name="referrer" content="no-referrer">',
      ...schemeTags(page.theme),
      ...linkTags(input, page),
      `<style>${style}</style>`,
      '</head>',
      `<body class="${input.layout}" data-state="${state}" data-stream="/v1/collections/${input.id}/wall/stream" data-cursor="${streamCursor}" data-text="${escapeHtml(JSON.stringify(scriptText(text)))}">`,
      header(page, state, text),
      '<main>',
      `<ol class="items" id="items" role="list" aria-label="${text.wall.messages}">${items.map((item) => itemHtml(item, input, text)).join('\n')}</ol>`,
      emptyNotice(input, items.length > 0, text),
      pages(input, text),
      '</main>',
      footer(publicUrl, text),
      `<script type="module">${wallScript}</script>`,
      '</body>',
      '</html>',
      '',
    ].join('\n')
  return { html: html(input.streamCursor), etagOf: html(''), csp: wallPolicy(sha256Base64(style), sha256Base64(wallScript)) }
}

/**
 * Allows one style and one script by their hashes, and pictures and the stream from the page's own origin. Anyone may
 * frame it: it has no form, and the only target of a stolen click is the pause button. Text never becomes markup,
 * because no Trusted Types policy may be created.
 */
function wallPolicy(styleHash: string, scriptHash: string): string {
  return [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    `script-src 'sha256-${scriptHash}'`,
    "connect-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    'frame-ancestors *',
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

function linkTags({ pageUrl, oembedUrl, publicUrl, preview }: WallInput, { title, summary }: SharePage): string[] {
  const picture = readHero(preview, publicUrl)
  const image = picture?.element === 'img' ? previewOf(picture).url : undefined
  return [
    `<link rel="canonical" href="${escapeHtml(pageUrl)}">`,
    `<link rel="alternate" type="application/json+oembed" href="${escapeHtml(oembedUrl)}" title="${escapeHtml(title)}">`,
    meta('property', 'og:type', 'website'),
    meta('property', 'og:site_name', SITE_NAME),
    meta('property', 'og:title', title),
    meta('property', 'og:url', pageUrl),
    ...(summary ? [meta('name', 'description', summary), meta('property', 'og:description', summary)] : []),
    ...(image ? [meta('property', 'og:image', image)] : []),
    meta('name', 'twitter:card', image ? 'summary_large_image' : 'summary'),
  ]
}

/** The script shows the controls, because they work only with it. */
function header({ title, paragraphs }: SharePage, state: WallInput['state'], text: PageText): string {
  return [
    '<header>',
    `<div class="words"><h1 ${textAttributes(title)}>${escapeHtml(title)}</h1>${description(paragraphs)}</div>`,
    `<div class="side" dir="${text.direction}">`,
    // The script shows and hides both when the state changes.
    `<p class="state" id="state"${state === 'closed' ? '' : ' hidden'}>${text.share.closedMark}</p>`,
    '<div class="controls" id="controls" hidden>',
    // What the owner changes in another state still appears, but nobody writes in the collection.
    `<p class="live" id="live"${state === 'open' ? '' : ' hidden'}><span id="connection">${text.wall.connecting}</span></p>`,
    `<button type="button" id="pause">${text.wall.pause}</button></div>`,
    '</div>',
    '</header>',
    `<p class="fresh" dir="${text.direction}"><button type="button" id="fresh" hidden></button></p>`,
    '<p class="heard" role="status" id="said"></p>',
  ].join('\n')
}

function itemHtml(item: WallItem, { pictures }: WallInput, { language }: PageText): string {
  return toHtml(
    itemElement(item, { picture: item.artifactId === undefined ? undefined : pictures.get(item.artifactId), language }),
  )
}

const withoutEnd = new Set(['br', 'img'])

function toHtml({ tag, attributes, children }: Element): string {
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${escapeHtml(value)}"`)
  const inside = children.map((child) => (typeof child === 'string' ? escapeHtml(child) : toHtml(child))).join('')
  return `<${tag}${written.join('')}>${withoutEnd.has(tag) ? '' : `${inside}</${tag}>`}`
}

function emptyNotice({ id, state, cursor }: WallInput, hasItems: boolean, text: PageText): string {
  const { wall, share } = text
  const ofState = { open: wall.empty, ready: wall.emptyForNow, closed: share.closed }
  const words = cursor === undefined ? ofState[state] : wall.nothingOlder
  const drawing = archDrawing(id, state === 'open' ? 'waiting' : state === 'ready' ? 'still' : 'none')
  return `<div class="empty" id="empty" dir="${text.direction}"${hasItems ? ' hidden' : ''}><div class="frame">${drawing}</div><p>${words}</p></div>`
}

function pages({ cursor, nextCursor, layout, layoutAsked }: WallInput, { wall, direction }: PageText): string {
  const address = (to: string | undefined) => {
    const query = new URLSearchParams({ ...(layoutAsked ? { layout } : {}), ...(to === undefined ? {} : { cursor: to }) })
    return escapeHtml(query.size > 0 ? `wall?${query}` : 'wall')
  }
  const links = [
    ...(cursor === undefined ? [] : [`<a rel="first" href="${address(undefined)}">${wall.newest}</a>`]),
    ...(nextCursor === undefined ? [] : [`<a rel="next" href="${address(nextCursor)}">${wall.older}</a>`]),
  ]
  return `<nav id="pages" aria-label="${wall.pages}" dir="${direction}"${links.length === 0 ? ' hidden' : ''}>${links.join('')}</nav>`
}
