import { cleanLine } from './clean-text.ts'

/** The published artifact of the page. Its texts and its url are untrusted input of a tenant. */
export type HeroInput = {
  kind: 'image' | 'clip' | 'card'
  url: string
  title?: string | null
  alt?: string | null
  width?: number | null
  height?: number | null
  mime?: string | null
}

/** A validated hero. `size` is present only if both sides are known and plausible. */
export type Hero = {
  element: 'img' | 'video'
  url: string
  /**
   * The hero's origin, in the form of a Content-Security-Policy source. Absent for an own origin that only 'self' can
   * name, such as an IPv6 address.
   */
  origin?: string
  title?: string
  alt?: string
  mime?: string
  size?: { width: number; height: number }
  /** The same picture in smaller files, the narrowest first. Only of a still picture that this installation stores. */
  smaller?: SmallerPicture[]
}

export type SmallerPicture = { url: string; width: number; height: number }

const VIDEO_TYPES = new Set(['video/mp4', 'video/webm'])
const TYPES_BY_EXTENSION: Partial<Record<string, string>> = { mp4: 'video/mp4', m4v: 'video/mp4', webm: 'video/webm' }
const MIME = /^(?:image|video)\/[a-z0-9.+-]{1,60}$/
const MAX_SIDE = 20_000
const MAX_URL_LENGTH = 2_048
// The URL standard allows `;` `,` and quotes in a host. They would end a directive of the Content-Security-Policy and
// start another. DNS cannot resolve such hosts anyway.
const PLAIN_ORIGIN = /^https?:\/\/[a-z0-9._-]+(?::\d+)?$/

/** The widths of `GET /v1/media/{id}?w=` that a page uses. */
const SMALLER_WIDTHS = [640, 1_280, 1_920]
/** A WebP or a GIF may be an animation, of which a smaller picture is only the first frame. */
const STILL_TYPES = new Set(['image/png', 'image/jpeg', 'image/avif'])
/** Previews are at most about 1,200 pixels wide. */
const PREVIEW_WIDTH = 1_280
const STORED = /^\/v1\/media\/art_[0-9A-Za-z]+$/

/** Returns the hero as it may be shown, or undefined if its url is neither https nor of the platform's own origin. */
export function readHero(hero: HeroInput | undefined, publicUrl: string): Hero | undefined {
  const url = hero && readUrl(hero.url, publicUrl)
  if (!url) return undefined
  const mime = typeof hero.mime === 'string' ? (hero.mime.split(';')[0] ?? '').trim().toLowerCase() : typeByName(url)
  const title = cleanLine(hero.title, 200)
  const alt = cleanLine(hero.alt, 500)
  const size = isSide(hero.width) && isSide(hero.height) ? { width: hero.width, height: hero.height } : undefined
  const isStored = url.origin === new URL(publicUrl).origin && STORED.test(url.pathname) && STILL_TYPES.has(mime)
  return {
    element: hero.kind === 'clip' && VIDEO_TYPES.has(mime) ? 'video' : 'img',
    url: url.href,
    ...(PLAIN_ORIGIN.test(url.origin) && { origin: url.origin }),
    ...(title && { title }),
    ...(alt && { alt }),
    ...(MIME.test(mime) && { mime }),
    ...(size && { size }),
    ...(size && isStored && { smaller: smallerPictures(url.href, size) }),
  }
}

/**
 * The last is the picture at its own width or, if that is larger, at the largest of ours. The server makes a picture
 * narrower than the width that is asked for if it is more than twice as tall, so such a picture has none.
 */
function smallerPictures(url: string, { width, height }: { width: number; height: number }): SmallerPicture[] {
  if (height > 2 * width) return []
  const asked = SMALLER_WIDTHS.filter((_, index) => index === 0 || (SMALLER_WIDTHS[index - 1] ?? 0) < width)
  return asked.map((one) => {
    const shown = Math.min(one, width)
    return { url: `${url}?w=${one}`, width: shown, height: Math.round((height * shown) / width) }
  })
}

/**
 * The picture for link previews. Messengers show none that is larger than some 100 KB to 2 MB, and a painted PNG has
 * several.
 */
export function previewOf(hero: Hero): Hero {
  const picture = hero.smaller?.findLast(({ width }) => width <= PREVIEW_WIDTH)
  if (!picture) return hero
  return { ...hero, url: picture.url, mime: 'image/webp', size: { width: picture.width, height: picture.height } }
}

/** The type of an artifact that is hosted elsewhere is known only from its file name. */
function typeByName({ pathname }: URL): string {
  const extension = /\.([a-z0-9]{2,5})$/.exec(pathname.toLowerCase())?.[1]
  return (extension && TYPES_BY_EXTENSION[extension]) ?? ''
}

function readUrl(value: unknown, publicUrl: string): URL | undefined {
  if (typeof value !== 'string' || value.length > MAX_URL_LENGTH || !URL.canParse(value, publicUrl)) return undefined
  const url = new URL(value, publicUrl)
  const own = url.origin === new URL(publicUrl).origin
  if (url.protocol !== 'https:' && !(own && url.protocol === 'http:')) return undefined
  if (url.username || url.password || (!own && !PLAIN_ORIGIN.test(url.origin))) return undefined
  return url
}

function isSide(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MAX_SIDE
}
