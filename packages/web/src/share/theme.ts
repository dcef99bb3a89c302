import { BLACK, WHITE, contrast, mix, type Colour } from './colour.ts'
import { HOUSE_COLOURS } from './house-style.ts'
import { parseColour } from './parse-colour.ts'

export type Palette = {
  scheme: 'light' | 'dark'
  background: Colour
  /** Shown behind a picture that is loading, and in frames. Text may be on it. */
  surface: Colour
  text: Colour
  muted: Colour
  /** Marks and focus rings, never running text. */
  accent: Colour
}

/** house: as the pages that belong to no tenant. */
export type Look = 'house' | 'plain' | 'paper' | 'neon'

/** One palette, or two, of which the visitor's preference selects one. */
export type Theme = { look: Look } & ({ palette: Palette } | { light: Palette; dark: Palette })

/** WCAG 2.2: 1.4.3 for text, 1.4.11 for marks and focus rings. */
export const MIN_TEXT_CONTRAST = 4.5
export const MIN_MARK_CONTRAST = 3

const LIGHT: Palette = {
  scheme: 'light',
  background: [255, 255, 255],
  surface: [246, 247, 249],
  text: [17, 20, 28],
  muted: [86, 94, 110],
  accent: [79, 70, 229],
}

const DARK: Palette = {
  scheme: 'dark',
  background: [11, 12, 15],
  surface: [22, 24, 29],
  text: [241, 243, 246],
  muted: [155, 162, 175],
  accent: [139, 147, 255],
}

const PAPER: Palette = {
  scheme: 'light',
  background: [247, 242, 232],
  surface: [237, 229, 213],
  text: [43, 36, 27],
  muted: [104, 91, 72],
  accent: [158, 61, 30],
}

const NEON: Palette = {
  scheme: 'dark',
  background: [10, 5, 22],
  surface: [23, 12, 45],
  text: [246, 240, 255],
  muted: [182, 166, 220],
  accent: [255, 79, 216],
}

const NAMED: ReadonlyMap<unknown, Theme> = new Map<unknown, Theme>([
  ['light', { look: 'plain', palette: LIGHT }],
  ['dark', { look: 'plain', palette: DARK }],
  ['paper', { look: 'paper', palette: PAPER }],
  ['neon', { look: 'neon', palette: NEON }],
])

const HOUSE = { light: housePalette('light'), dark: housePalette('dark') }

const SYSTEM: Theme = { look: 'house', ...HOUSE }

type ThemeColours = Partial<Record<'background' | 'surface' | 'text' | 'muted' | 'accent', Colour>>

/**
 * Reads the theme of a collection's metadata: a name, or an object of CSS colours under `background`, `surface`,
 * `text`, `muted` and `accent`. Missing colours are derived, invalid ones are ignored, and colours with too little
 * contrast are replaced. If the theme has neither a background nor a text colour, the page follows the visitor's
 * light or dark preference.
 */
export function readTheme(value: unknown): Theme {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return NAMED.get(value) ?? SYSTEM
  const asked = readThemeColours(value)
  if (!asked.background && !asked.text && !asked.surface) {
    return { look: 'house', light: paletteFrom(HOUSE.light, asked), dark: paletteFrom(HOUSE.dark, asked) }
  }
  const backdrop = asked.background ?? (asked.text ? opposite(asked.text) : asked.surface)
  const base = backdrop && isDark(backdrop) ? DARK : LIGHT
  return { look: 'plain', palette: paletteFrom(base, asked) }
}

const themeKeys = ['background', 'surface', 'text', 'muted', 'accent']

/** Lists what `readTheme` ignores of a theme. `key` is the key of a colour; absent for the theme itself. */
export function themeFaults(value: unknown): { key?: string; message: string }[] {
  if (value === undefined || NAMED.has(value)) return []
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const names = [...NAMED.keys()].join(', ')
    return [{ message: `there is no such theme, so the page has its default; use ${names} or an object of CSS colours` }]
  }
  return Object.entries(value).flatMap(([key, colour]: [string, unknown]) => {
    if (!themeKeys.includes(key)) return [{ key, message: `the page does not read this key; use ${themeKeys.join(', ')}` }]
    return parseColour(colour) ? [] : [{ key, message: 'this is not a CSS colour that the page can read, such as #1b6e5a' }]
  })
}

function housePalette(scheme: 'light' | 'dark'): Palette {
  const colour = (name: string): Colour => {
    const parsed = parseColour(HOUSE_COLOURS[name]?.[scheme])
    if (!parsed) throw new Error(`the house style has no colour ${name}`)
    return parsed.colour
  }
  return {
    scheme,
    background: colour('background'),
    surface: colour('surface'),
    text: colour('text'),
    muted: colour('muted'),
    accent: colour('accent'),
  }
}

function readThemeColours(theme: object): ThemeColours {
  const read = (key: string, behind: Colour): Colour | undefined => {
    const parsed = Object.hasOwn(theme, key) ? parseColour((theme as Record<string, unknown>)[key]) : undefined
    return parsed && mix(behind, parsed.colour, parsed.alpha)
  }
  // Replaces translucent colours by the resulting opaque ones, so that contrast is computed from the visible colour.
  const background = read('background', WHITE)
  const behind = background ?? WHITE
  const asked = {
    background,
    ...Object.fromEntries(themeKeys.slice(1).map((key) => [key, read(key, behind)])),
  }
  return Object.fromEntries(Object.entries(asked).filter(([, colour]) => colour !== undefined))
}

function paletteFrom(base: Palette, asked: ThemeColours): Palette {
  const background = asked.background ?? base.background
  const text = firstReadable([background], [asked.text, base.text, BLACK, WHITE])
  // The base's own greys fit its background only. On another background they are derived.
  const tuned = asked.background ? undefined : base
  const surfaces = [asked.surface, tuned?.surface, mix(background, text, 0.06)]
  const surface = surfaces.find((colour) => colour && readable(text, colour)) ?? background
  const softened = [0.38, 0.3, 0.22, 0.14, 0.07].map((share) => mix(text, background, share))
  const muted = firstReadable([background, surface], [asked.muted, tuned?.muted, ...softened, text])
  const accent = [asked.accent, base.accent].find((colour) => colour && contrast(colour, background) >= MIN_MARK_CONTRAST) ?? text
  return { scheme: isDark(background) ? 'dark' : 'light', background, surface, text, muted, accent }
}

/**
 * Black or white has enough contrast on any single background (at least 4.58), so a list that ends with both always
 * has a result.
 */
function firstReadable(backgrounds: Colour[], candidates: Array<Colour | undefined>): Colour {
  const found = candidates.find((colour) => colour && backgrounds.every((background) => readable(colour, background)))
  if (!found) throw new Error('no readable colour among the candidates')
  return found
}

function readable(text: Colour, background: Colour): boolean {
  return contrast(text, background) >= MIN_TEXT_CONTRAST
}

function isDark(background: Colour): boolean {
  return contrast(WHITE, background) > contrast(BLACK, background)
}

function opposite(text: Colour): Colour {
  return isDark(text) ? WHITE : BLACK
}
