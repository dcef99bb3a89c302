import type { Reading } from '../reading/reading.ts'
import type { Pen } from './pen.ts'
import type { Body, Glow, Plate } from './picture.ts'

/** A picture being composed: where its parts belong, and the plates so far. */
export type Stage = {
  pen: Pen
  reading: Reading
  /** A third, or two, of the height. */
  horizon: number
  /** Where the eye should come to rest, a third in from one side; the light stands near the other. */
  focus: number
  body: Body
  plates: Plate[]
  /** What was drawn, in words: the picture's description is made of it. */
  words: string[]
}

export function addShapes(stage: Stage, depth: number, body: string, glows: readonly Glow[] = [], accent = false): void {
  const { outline } = stage.pen.hand
  // Shapes far off have thinner outlines, as a carver would cut them.
  const stroke = outline
    ? `stroke="${outline.colour}" stroke-width="${(outline.width * (0.45 + depth * 0.7)).toFixed(2)}" stroke-linejoin="round"`
    : ''
  stage.plates.push({ kind: 'shapes', depth, body: outline ? `<g ${stroke}>${body}</g>` : body, glows, accent })
}
