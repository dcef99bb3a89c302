/** SVG as strings. They contain only numbers and words of this code, and nothing of a prompt. */
export type Point = readonly [x: number, y: number]
export type Attributes = Record<string, string | number | undefined>

export function el(name: string, attributes: Attributes, ...children: string[]): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${typeof value === 'number' ? short(value) : value}"`)
    .join('')
  return children.length > 0 ? `<${name}${written}>${children.join('')}</${name}>` : `<${name}${written}/>`
}

export function group(attributes: Attributes, ...children: string[]): string {
  return el('g', attributes, children.join(''))
}

export const path = (d: string, fill: string, more: Attributes = {}): string => el('path', { d, fill, ...more })

export const line = (d: string, stroke: string, width: number, more: Attributes = {}): string =>
  el('path', { d, fill: 'none', stroke, 'stroke-width': width, 'stroke-linecap': 'round', 'stroke-linejoin': 'round', ...more })

export const circle = (cx: number, cy: number, r: number, fill: string, more: Attributes = {}): string =>
  el('circle', { cx, cy, r, fill, ...more })

export const ellipse = (cx: number, cy: number, rx: number, ry: number, fill: string, more: Attributes = {}): string =>
  el('ellipse', { cx, cy, rx, ry, fill, ...more })

export const rect = (x: number, y: number, width: number, height: number, fill: string, more: Attributes = {}): string =>
  el('rect', { x, y, width, height, fill, ...more })

/** Straight from point to point. */
export function straight(points: readonly Point[], closed = true): string {
  return `M${points.map(([x, y]) => `${short(x)} ${short(y)}`).join('L')}${closed ? 'Z' : ''}`
}

/** A smooth curve through all points: Catmull–Rom, written as Béziers. */
export function smooth(points: readonly Point[], closed = false): string {
  const at = (index: number): Point => {
    const last = points.length - 1
    const wrapped = closed ? (index + points.length) % points.length : Math.min(last, Math.max(0, index))
    return points[wrapped] ?? [0, 0]
  }
  const count = closed ? points.length : points.length - 1
  const start = at(0)
  let d = `M${short(start[0])} ${short(start[1])}`
  for (let index = 0; index < count; index++) {
    const [before, from, to, after] = [at(index - 1), at(index), at(index + 1), at(index + 2)]
    d += `C${short(from[0] + (to[0] - before[0]) / 6)} ${short(from[1] + (to[1] - before[1]) / 6)} `
    d += `${short(to[0] - (after[0] - from[0]) / 6)} ${short(to[1] - (after[1] - from[1]) / 6)} ${short(to[0])} ${short(to[1])}`
  }
  return closed ? `${d}Z` : d
}

export function short(value: number): string {
  const hundredths = Math.round(value * 100)
  const size = Math.abs(hundredths)
  if (!(size < 2 ** 30)) return String(hundredths / 100)
  // Far faster than writing a number that is no integer.
  const whole = Math.trunc(size / 100)
  const rest = size - whole * 100
  const sign = hundredths < 0 ? '-' : ''
  if (rest === 0) return `${sign}${whole}`
  return `${sign}${whole}.${rest % 10 === 0 ? rest / 10 : rest < 10 ? `0${rest}` : rest}`
}
