import type { Reading } from '../reading/reading.ts'
import type { Pen } from './pen.ts'
import type { Body, Glow, Plate } from './picture.ts'

/** A picture during composition: the positions of its parts, and the plates so far. */
export type Stage = {
  pen: Pen
  reading: Reading
  /** A third, or two, of the height. */
  horizon: number
  /** The focus of the picture, a third from one side. The light is near the other side. */
  focus: number
  body: Body
  plates: Plate[]
  /** The names of the drawn objects, from which the picture's description is made. */
  words: string[]
}

export function addShapes(stage: Stage, depth: number, body: string, glows: readonly Glow[] = [], accent = false): void {
  const { outline } = stage.pen.hand
  // Distant shapes have thinner outlines.
  const stroke = outline
    ? `stroke="${outline.colour}" stroke-width="${(outline.width * (0.45 + depth * 0.7)).toFixed(2)}" stroke-linejoin="round"`
    : ''
  stage.plates.push({ kind: 'shapes', depth, body: outline ? `<g ${stroke}>${body}</g>` : body, glows, accent })
}
