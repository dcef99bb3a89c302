import { escapeHtml } from './escape-html.ts'
import type { Hero } from './hero.ts'
import { readSharePage, type SharePageInput } from './share-page.ts'

/** The limits that a consumer requests, in pixels. Absent: no limit. */
export type OembedLimits = { maxWidth?: number | undefined; maxHeight?: number | undefined }

const FRAME = { width: 640, height: 560 }
const WALL_FRAME = { width: 640, height: 720 }
const FRAME_SANDBOX = 'allow-popups allow-popups-to-escape-sandbox'

/**
 * Returns the oEmbed 1.0 answer about a share page (https://oembed.com, JSON).
 *
 * - `photo` for a picture of known size within the limits. The url of a photo must be the picture at exactly that
 *   size, and Atrium does not scale it.
 * - `rich` (a frame around the page) for any other hero.
 * - `link`, with a published card as its thumbnail, if there is no hero.
 */
export function oembedFor(input: SharePageInput, limits: OembedLimits = {}): Record<string, string | number> {
  const { hero, preview, title } = readSharePage(input)
  const common = { version: '1.0', title, provider_name: 'Atrium', provider_url: new URL('/', input.publicUrl).href }
  if (!hero) return { type: 'link', ...common, ...(preview ? thumbnail(preview, limits) : {}) }
  const picture = sizedPicture(hero, limits)
  if (picture) return { type: 'photo', ...common, ...picture }
  return { type: 'rich', ...common, ...frame(input.pageUrl, title, FRAME, FRAME_SANDBOX, limits) }
}

/**
 * Returns the oEmbed answer about a wall: a frame around the page, whose script reads the stream of its own origin.
 */
export function oembedForWall(
  input: SharePageInput,
  address: string,
  limits: OembedLimits = {},
): Record<string, string | number> {
  const { title } = readSharePage(input)
  const common = { version: '1.0', title, provider_name: 'Atrium', provider_url: new URL('/', input.publicUrl).href }
  const sandbox = `${FRAME_SANDBOX} allow-scripts allow-same-origin`
  return { type: 'rich', ...common, ...frame(address, title, WALL_FRAME, sandbox, limits) }
}

function frame(
  address: string,
  title: string,
  size: typeof FRAME,
  sandbox: string,
  limits: OembedLimits,
): { html: string; width: number; height: number } {
  const width = Math.min(size.width, limits.maxWidth ?? Infinity)
  const height = Math.min(size.height, limits.maxHeight ?? Infinity)
  const html =
    `<iframe src="${escapeHtml(address)}" title="${escapeHtml(title)}" width="${width}" height="${height}" ` +
    `sandbox="${sandbox}" loading="lazy" allowfullscreen style="border:0"></iframe>`
  return { html, width, height }
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
