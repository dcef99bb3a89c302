/** Colours by lightness 0–1, chroma 0–0.37 and hue in degrees, in Björn Ottosson's OKLab: equal steps look equal. */
export type Lch = readonly [lightness: number, chroma: number, hue: number]
export type Lab = readonly [lightness: number, a: number, b: number]
/** sRGB as a screen takes it, 0–1 a channel. */
export type Rgb = readonly [red: number, green: number, blue: number]

export function toRgb(colour: Lch): Rgb {
  const lightness = Math.min(1, Math.max(0, colour[0]))
  let chroma = Math.max(0, colour[1])
  // Outside the colours of a screen, chroma is reduced, and hue and lightness are kept.
  for (let step = 0; step < 24; step++) {
    const linear = labToLinear(toLab([lightness, chroma, colour[2]]))
    if (linear.every((part) => part > -0.0005 && part < 1.0005)) return encode(linear)
    chroma *= 0.93
  }
  return encode(labToLinear([lightness, 0, 0]))
}

export function toHex(colour: Lch): string {
  return rgbToHex(toRgb(colour))
}

function rgbToHex(colour: Rgb): string {
  return `#${colour
    .map((part) =>
      Math.round(part * 255)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`
}

export function toLab([lightness, chroma, hue]: Lch): Lab {
  const angle = (hue * Math.PI) / 180
  return [lightness, chroma * Math.cos(angle), chroma * Math.sin(angle)]
}

export function toLch([lightness, a, b]: Lab): Lch {
  return [lightness, Math.hypot(a, b), ((Math.atan2(b, a) * 180) / Math.PI + 360) % 360]
}

/**
 * Mixes `share` (0–1) of `b` into `a`, in a straight line through OKLab: opposite hues mix to grey, not to the hues
 * between them.
 */
export function mix(a: Lch, b: Lch, share: number): Lch {
  const [from, to] = [toLab(a), toLab(b)]
  const part = (index: 0 | 1 | 2): number => from[index] + (to[index] - from[index]) * share
  return toLch([part(0), part(1), part(2)])
}

/** The colour at a position between the stops: 0 is the first, 1 the last. */
export function mixStops(stops: readonly Lch[], at: number): Lch {
  const from = Math.min(stops.length - 2, Math.floor(at))
  const [lower, upper] = [stops[from], stops[from + 1]]
  if (!lower || !upper) throw new RangeError(`there are no stops around ${at}`)
  return mix(lower, upper, at - from)
}

/** Shifts a colour: lightness and hue are added, chroma is multiplied. */
export function shift(colour: Lch, lightness: number, chroma = 1, hue = 0): Lch {
  return [Math.min(0.99, Math.max(0.02, colour[0] + lightness)), colour[1] * chroma, (colour[2] + hue + 360) % 360]
}

export function rgbToLab([red, green, blue]: Rgb): Lab {
  const [r, g, b] = [decode(red), decode(green), decode(blue)]
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ]
}

function labToLinear([lightness, a, b]: Lab): Rgb {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ]
}

function encode(linear: Rgb): Rgb {
  const part = (value: number): number => {
    const kept = Math.min(1, Math.max(0, value))
    return kept <= 0.0031308 ? kept * 12.92 : 1.055 * kept ** (1 / 2.4) - 0.055
  }
  return [part(linear[0]), part(linear[1]), part(linear[2])]
}

function decode(value: number): number {
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
}
