import type { Colour } from './colour.ts'
import { COLOUR_NAMES } from './colour-names.ts'

/** A colour as written. Alpha (0–1) is kept apart, because the result depends on the background. */
type ParsedColour = { colour: Colour; alpha: number }

type Term = { value: number; unit: string }

// Long enough for any reasonable notation, and short enough that no pattern below can be slow.
const MAX_LENGTH = 64
const HEX = /^#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/
const FUNCTION = /^(rgb|hsl|oklch)(a?)\(([^()]*)\)$/
const TERM = /^([+-]?(?:\d+|\d*\.\d+)(?:e[+-]?\d+)?)(%|deg|rad|grad|turn|)$/
const DEGREES: Record<string, number> = { '': 1, deg: 1, grad: 0.9, rad: 180 / Math.PI, turn: 360 }

/**
 * Reads a CSS colour: hex, a named colour, rgb(), hsl() (with or without commas) or oklch(). Returns undefined for
 * anything else (variables, calc(), currentcolor, url(), several declarations). Channels out of range are clamped, as
 * in browsers.
 */
export function parseColour(value: unknown): ParsedColour | undefined {
  if (typeof value !== 'string' || value.length > MAX_LENGTH) return undefined
  const text = value.trim().toLowerCase()
  if (HEX.test(text)) return parseHex(text.slice(1))
  const named = COLOUR_NAMES.get(text)
  if (named !== undefined) return parseHex(named)
  const [, name, a, inside] = FUNCTION.exec(text) ?? []
  if (name === undefined || inside === undefined || (a && name === 'oklch')) return undefined
  const terms = parseTerms(inside, name !== 'oklch')
  const colour = terms && CONVERT[name as keyof typeof CONVERT](terms[0], terms[1], terms[2])
  const alpha = terms && fraction(terms[3], 1)
  return colour && alpha !== undefined ? { colour, alpha: clamp(alpha, 1) } : undefined
}

function parseHex(digits: string): ParsedColour {
  const full = digits.length <= 4 ? digits.replace(/./g, '$&$&') : digits
  const channel = (at: number): number => Number.parseInt(full.slice(at, at + 2), 16)
  return { colour: [channel(0), channel(2), channel(4)], alpha: full.length === 8 ? channel(6) / 255 : 1 }
}

function parseTerms(inside: string, commasAllowed: boolean): [Term, Term, Term, Term] | undefined {
  const words = inside.includes(',') && commasAllowed ? inside.split(',') : splitModern(inside)
  if (words === undefined || words.length < 3 || words.length > 4) return undefined
  const [first, second, third, alpha] = words.map((word) => parseTerm(word.trim()))
  if (!first || !second || !third || (words.length === 4 && !alpha)) return undefined
  return [first, second, third, alpha ?? { value: 1, unit: '' }]
}

/** `a b c` or `a b c / d`. */
function splitModern(inside: string): string[] | undefined {
  const [channels, alpha, ...more] = inside.split('/')
  const words = channels?.trim().split(/\s+/)
  if (words?.length !== 3 || more.length > 0) return undefined
  return alpha === undefined ? words : [...words, alpha]
}

function parseTerm(word: string): Term | undefined {
  if (word === 'none') return { value: 0, unit: '' }
  const [, digits, unit] = TERM.exec(word) ?? []
  const value = Number(digits)
  return unit !== undefined && Number.isFinite(value) ? { value, unit } : undefined
}

/** A plain number, or a percentage of `whole`; undefined for an angle. */
function fraction({ value, unit }: Term, whole: number): number | undefined {
  if (unit === '') return value
  return unit === '%' ? (value / 100) * whole : undefined
}

function degrees({ value, unit }: Term): number | undefined {
  const factor = DEGREES[unit]
  return factor === undefined ? undefined : (((value * factor) % 360) + 360) % 360
}

function clamp(value: number, max: number): number {
  return Math.min(max, Math.max(0, value))
}

const CONVERT = {
  rgb(red: Term, green: Term, blue: Term): Colour | undefined {
    const channels = [red, green, blue].map((term) => fraction(term, 255))
    return channels.includes(undefined) ? undefined : toColour(channels as number[], 1)
  },

  // https://www.w3.org/TR/css-color-4/#hsl-to-rgb
  hsl(hueTerm: Term, saturationTerm: Term, lightnessTerm: Term): Colour | undefined {
    const hue = degrees(hueTerm)
    const saturation = fraction(saturationTerm, 100)
    const lightness = fraction(lightnessTerm, 100)
    if (hue === undefined || saturation === undefined || lightness === undefined) return undefined
    const s = clamp(saturation / 100, 1)
    const l = clamp(lightness / 100, 1)
    const channel = (n: number): number => {
      const k = (n + hue / 30) % 12
      return l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1))
    }
    return toColour([channel(0), channel(8), channel(4)], 255)
  },

  // The matrices of https://www.w3.org/TR/css-color-4/#color-conversion-code from OKLab to linear sRGB, multiplied.
  // Colours outside sRGB are clipped, as browsers do.
  oklch(lightnessTerm: Term, chromaTerm: Term, hueTerm: Term): Colour | undefined {
    const lightness = fraction(lightnessTerm, 1)
    const chroma = fraction(chromaTerm, 0.4)
    const hue = degrees(hueTerm)
    if (lightness === undefined || chroma === undefined || hue === undefined) return undefined
    const angle = (hue * Math.PI) / 180
    const L = clamp(lightness, 1)
    const a = Math.max(0, chroma) * Math.cos(angle)
    const b = Math.max(0, chroma) * Math.sin(angle)
    const long = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3
    const medium = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3
    const short = (L - 0.0894841775 * a - 1.291485548 * b) ** 3
    const channels = [
      4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
      -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
      -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
    ]
    return toColour(channels.map(gammaEncode), 255)
  },
}

function gammaEncode(value: number): number {
  return value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055
}

function toColour(channels: number[], scale: number): Colour {
  const [red = 0, green = 0, blue = 0] = channels.map((channel) => Math.round(clamp(channel * scale, 255)))
  return [red, green, blue]
}
