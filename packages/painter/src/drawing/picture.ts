import type { Lch } from '../colour/oklch.ts'
import type { Light } from '../colour/light.ts'
import type { Random } from '../random.ts'
import type { Frame } from './frame.ts'

/** The glow of a lamp or window in the air around it. */
export type Glow = { x: number; y: number; radius: number; colour: Lch; strength: number }

/** One sheet of the picture. Sheets are stacked from far to near. */
export type Plate =
  | { kind: 'shapes'; depth: number; body: string; glows?: readonly Glow[]; flat?: boolean; accent?: boolean }
  | { kind: 'mist'; y: number; height: number; strength: number }
  | { kind: 'water'; top: number; bottom: number }
  | { kind: 'fall'; what: 'rain' | 'snow' }

/** How a style cuts its shapes and mixes its colours. The drawing reads it, and the style then paints the drawing. */
export type Hand = {
  /** Uses few straight edges and true circles instead of many small curves. */
  angular: boolean
  /** No gradients inside a shape. */
  flat: boolean
  outline?: { colour: string; width: number }
  water: 'mirror' | 'strips' | 'waves' | 'strokes'
  sky: 'air' | 'rings' | 'bands' | 'rays' | 'bokashi' | 'wash'
  /** The colour this style would really use. */
  pigment: (colour: Lch) => Lch
}

export type Body = { x: number; y: number; radius: number; moon: boolean; shown: boolean }

export type Picture = {
  frame: Frame
  light: Light
  hand: Hand
  horizon: number
  /** Sun or moon. */
  body: Body
  plates: Plate[]
  random: Random
}
