import { inLight, type Light } from '../colour/light.ts'
import { toHex, type Lch } from '../colour/oklch.ts'
import type { Random } from '../random.ts'
import type { Frame } from './frame.ts'
import type { Hand } from './picture.ts'
import { el } from './svg.ts'

/** The input of every drawing function: the frame, the light, the style's hand and a random stream. */
export type Pen = {
  frame: Frame
  light: Light
  hand: Hand
  random: Random
  /** An object's own colour as it looks at this depth. */
  tint: (own: Lch, depth: number) => string
  /** A colour that emits light, or that is used without change. */
  pure: (colour: Lch) => string
  /** A name nothing else in the sheet has. */
  name: () => string
}

export function createPen(frame: Frame, light: Light, hand: Hand, random: Random): Pen {
  let names = 0
  return {
    frame,
    light,
    hand,
    random,
    tint: (own, depth) => toHex(hand.pigment(inLight(light, own, depth))),
    pure: (colour) => toHex(hand.pigment(colour)),
    name: () => `n${names++}`,
  }
}

/** The same pen with another random stream, so that a change of one part does not shift the others. */
export function withChance(pen: Pen, name: string): Pen {
  return { ...pen, random: pen.random.fork(name) }
}

export type Stop = readonly [offset: number, colour: string, opacity?: number]

/**
 * A vertical gradient from `y0` to `y1`. A flat style gets the middle colour instead. Returns the defs and the fill.
 */
export function shade(pen: Pen, y0: number, y1: number, stops: readonly Stop[]): { defs: string; fill: string } {
  const middle = stops[Math.floor(stops.length / 2)]
  if (pen.hand.flat && middle) return { defs: '', fill: middle[1] }
  return gradient(pen, { x1: 0, y1: y0, x2: 0, y2: y1 }, stops)
}

export function gradient(
  pen: Pen,
  along: { x1: number; y1: number; x2: number; y2: number },
  stops: readonly Stop[],
): { defs: string; fill: string } {
  const id = pen.name()
  const written = stops.map(([offset, colour, opacity]) => el('stop', { offset, 'stop-color': colour, 'stop-opacity': opacity }))
  return { defs: el('linearGradient', { id, gradientUnits: 'userSpaceOnUse', ...along }, ...written), fill: `url(#${id})` }
}
