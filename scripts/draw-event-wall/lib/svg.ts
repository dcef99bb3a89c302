/** Writes SVG as text: elements, and a sheet with its own definitions. */
type Value = string | number
export type Attributes = Readonly<Record<string, Value | undefined>>
export type Point = readonly [x: number, y: number]
export type Stop = readonly [offset: number, colour: string, opacity?: number]

const text = (value: Value): string => (typeof value === 'number' ? String(Math.round(value * 100) / 100) : value)

export function el(name: string, attributes: Attributes, ...children: readonly string[]): string {
  let open = `<${name}`
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) open += ` ${key}="${text(value)}"`
  }
  return children.length === 0 ? `${open}/>` : `${open}>${children.join('')}</${name}>`
}

export const group = (attributes: Attributes, ...children: readonly string[]): string => el('g', attributes, ...children, '')

export const path = (d: string, attributes: Attributes): string => el('path', { d, ...attributes })

export const rect = (x: number, y: number, width: number, height: number, more: Attributes): string =>
  el('rect', { x, y, width: Math.max(0, width), height: Math.max(0, height), ...more })

export const ellipse = (cx: number, cy: number, rx: number, ry: number, more: Attributes): string =>
  el('ellipse', { cx, cy, rx, ry, ...more })

/** `d` for straight lines: the joined points, closed unless it is an open line. */
export function run(points: readonly Point[], closed = true): string {
  const joined = points.map(([x, y]) => `${text(x)} ${text(y)}`).join('L')
  return `M${joined}${closed ? 'Z' : ''}`
}

/** `d` from a template: d`M${x} ${y}`, with every number shortened. */
export function d(parts: TemplateStringsArray, ...values: readonly number[]): string {
  return parts.reduce((whole, part, index) => whole + text(values[index - 1] ?? 0) + part)
}

/** Drawn beyond the sheet on every side and cut off, so that filters meet no hard edge. */
export const margin = 48

export class Sheet {
  readonly width: number
  readonly height: number
  #definitions = ''
  #count = 0
  readonly #known = new Map<string, string>()

  constructor(width: number, height: number) {
    this.width = width
    this.height = height
  }

  /** Stores a definition and returns its id. */
  define(make: (id: string) => string): string {
    const content = make('')
    const known = this.#known.get(content)
    if (known !== undefined) return known
    const id = `d${++this.#count}`
    this.#known.set(content, id)
    this.#definitions += make(id)
    return id
  }

  #stops(stops: readonly Stop[]): string {
    return stops
      .map(([offset, colour, opacity]) => el('stop', { offset, 'stop-color': colour, 'stop-opacity': opacity }))
      .join('')
  }

  /** A gradient along a line in the box of the filled shape (from top to bottom by default). */
  linear(stops: readonly Stop[], [x1, y1, x2, y2]: readonly number[] = [0, 0, 0, 1]): string {
    const inside = this.#stops(stops)
    return `url(#${this.define((id) => el('linearGradient', { id, x1, y1, x2, y2 }, inside))})`
  }

  radial(stops: readonly Stop[], cx = 0.5, cy = 0.5, r = 0.5): string {
    const inside = this.#stops(stops)
    return `url(#${this.define((id) => el('radialGradient', { id, cx, cy, r }, inside))})`
  }

  /** A filter over the whole sheet, with a margin. */
  filter(...steps: readonly string[]): string {
    const box = {
      filterUnits: 'userSpaceOnUse',
      x: -60,
      y: -60,
      width: this.width + 120,
      height: this.height + 120,
      'color-interpolation-filters': 'sRGB',
    }
    return `url(#${this.define((id) => el('filter', { id, ...box }, ...steps))})`
  }

  mask(...content: readonly string[]): string {
    const box = { maskUnits: 'userSpaceOnUse', x: -60, y: -60, width: this.width + 120, height: this.height + 120 }
    return `url(#${this.define((id) => el('mask', { id, ...box }, ...content))})`
  }

  clip(...content: readonly string[]): string {
    return `url(#${this.define((id) => el('clipPath', { id }, ...content))})`
  }

  all(attributes: Attributes): string {
    return rect(-60, -60, this.width + 120, this.height + 120, attributes)
  }

  finish(...body: readonly string[]): string {
    const { width, height } = this
    return el(
      'svg',
      {
        xmlns: 'http://www.w3.org/2000/svg',
        width: width + margin * 2,
        height: height + margin * 2,
        viewBox: `${-margin} ${-margin} ${width + margin * 2} ${height + margin * 2}`,
      },
      el('defs', {}, this.#definitions),
      ...body,
    )
  }
}
