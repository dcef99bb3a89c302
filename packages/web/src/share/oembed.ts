import { escapeHtml } from './escape-html.ts'
import type { Hero } from './hero.ts'
import { readSharePage, type SharePageInput } from './share-page.ts'

/** The limits that a consumer requests, in pixels. Absent: no limit. */
export type OembedLimits = { maxWidth?: number | undefined; maxHeight?: number | undefined }

const FRAME = { width: 640, height: 560 }

/**
 * The oEmbed 1.0 answer about a share page (https://oembed.com, JSON): `photo` for a picture of known size within the
 * limits, `rich` (a frame around the page) for any other hero, since a photo's url must be the picture at the very
 * size stated and we do not scale; `link`, with a published card as its thumbnail, when there is no hero.
 */
export function oembedFor(input: SharePageInput, limits: OembedLimits = {}): Record<string, string | number> {
  const { hero, preview, title } = readSharePage(input)
  const common = { version: '1.0', title, provider_name: 'Atrium', provider_url: new URL('/', input.publicUrl).href }
  if (!hero) return { type: 'link', ...common, ...(preview ? thumbnail(preview, limits) : {}) }
  const picture = sizedPicture(hero, limits)
  if (picture) return { type: 'photo', ...common, ...picture }
  const width = Math.min(FRAME.width, limits.maxWidth ?? Infinity)
  const height = Math.min(FRAME.height, limits.maxHeight ?? Infinity)
  const html =
    `<iframe src="${escapeHtml(input.pageUrl)}" title="${escapeHtml(title)}" width="${width}" height="${height}" ` +
    'sandbox="allow-popups allow-popups-to-escape-sandbox" loading="lazy" allowfullscreen style="border:0"></iframe>'
  return { type: 'rich', ...common, html, width, height }
}

function thumbnail(picture: Hero, limits: OembedLimits): Record<string, string | number> {
  const sized = sizedPicture(picture, limits)
  return sized ? { thumbnail_url: sized.url, thumbnail_width: sized.width, thumbnail_height: sized.height } : {}
}

function sizedPicture(
  { element, url, size }: Hero,
  limits: OembedLimits,
): { url: string; width: number; height: number } | undefined {
  if (element !== 'img' || !size) return undefined
  const fits = size.width <= (limits.maxWidth ?? Infinity) && size.height <= (limits.maxHeight ?? Infinity)
  return fits ? { url, ...size } : undefined
}
