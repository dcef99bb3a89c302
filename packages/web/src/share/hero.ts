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
}

const VIDEO_TYPES = new Set(['video/mp4', 'video/webm'])
const TYPES_BY_EXTENSION: Partial<Record<string, string>> = { mp4: 'video/mp4', m4v: 'video/mp4', webm: 'video/webm' }
const MIME = /^(?:image|video)\/[a-z0-9.+-]{1,60}$/
const MAX_SIDE = 20_000
const MAX_URL_LENGTH = 2_048
// The URL standard allows `;` `,` and quotes in a host. They would end a directive of the Content-Security-Policy and
// start another. DNS cannot resolve such hosts anyway.
const PLAIN_ORIGIN = /^https?:\/\/[a-z0-9._-]+(?::\d+)?$/

/** Returns the hero as it may be shown, or undefined if its url is neither https nor of the platform's own origin. */
export function readHero(hero: HeroInput | undefined, publicUrl: string): Hero | undefined {
  const url = hero && readUrl(hero.url, publicUrl)
  if (!url) return undefined
  const mime = typeof hero.mime === 'string' ? (hero.mime.split(';')[0] ?? '').trim().toLowerCase() : typeByName(url)
  const title = cleanLine(hero.title, 200)
  const alt = cleanLine(hero.alt, 500)
  return {
    element: hero.kind === 'clip' && VIDEO_TYPES.has(mime) ? 'video' : 'img',
    url: url.href,
    ...(PLAIN_ORIGIN.test(url.origin) && { origin: url.origin }),
    ...(title && { title }),
    ...(alt && { alt }),
    ...(MIME.test(mime) && { mime }),
    ...(isSide(hero.width) && isSide(hero.height) && { size: { width: hero.width, height: hero.height } }),
  }
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
