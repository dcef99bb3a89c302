/** Opaque sRGB colours (0–255 per channel) and the arithmetic of WCAG 2.2 on them. */
export type Colour = readonly [red: number, green: number, blue: number]

export const BLACK: Colour = [0, 0, 0]
export const WHITE: Colour = [255, 255, 255]

/** `#rrggbb`. Colours reach a style sheet only in this form, so that no character of a tenant does. */
export function toHex(colour: Colour): string {
  return `#${colour.map((channel) => Math.round(channel).toString(16).padStart(2, '0')).join('')}`
}

/** Mixes `share` (0–1) of `b` into `a`, channel by channel. This is also how a translucent `b` looks over `a`. */
export function mix(a: Colour, b: Colour, share: number): Colour {
  const channel = (from: number, to: number): number => Math.round(from + (to - from) * share)
  return [channel(a[0], b[0]), channel(a[1], b[1]), channel(a[2], b[2])]
}

/** WCAG contrast ratio, 1–21. */
export function contrast(a: Colour, b: Colour): number {
  const [one, other] = [luminance(a), luminance(b)]
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
}

function luminance([red, green, blue]: Colour): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

function linear(channel: number): number {
  const value = channel / 255
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
}
