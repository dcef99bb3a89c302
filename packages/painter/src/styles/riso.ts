import { shift, toRgb, type Lch, type Rgb } from '../colour/oklch.ts'
import type { Picture } from '../drawing/picture.ts'
import { clamp01, createPlane, step, type Canvas, type Plane } from '../raster/canvas.ts'
import { createTile, grain, sample } from '../raster/noise.ts'
import { paintPlainly } from './gouache.ts'
import type { Style } from './style.ts'

type Ink = { colour: Lch; angle: number; dx: number; dy: number }
/** Where an ink is printed, and how much of it. */
type Plate = { ink: Ink; plane: Plane }

const PAPER: Rgb = [0.972, 0.957, 0.92]
const BLUE: Lch = [0.38, 0.13, 268]
const TEAL: Lch = [0.42, 0.085, 195]
const PLUM: Lch = [0.36, 0.11, 330]
const GREEN: Lch = [0.46, 0.11, 155]
const RED: Lch = [0.64, 0.21, 26]
const PINK: Lch = [0.7, 0.2, 5]
const ORANGE: Lch = [0.74, 0.17, 55]
const YELLOW: Lch = [0.89, 0.16, 96]
const MINT: Lch = [0.8, 0.11, 175]
const SKY: Lch = [0.74, 0.12, 232]

/** Real risograph inks, from dark to bright, in sets whose overlaps give further colours. */
const SETS: ReadonlyArray<readonly Lch[]> = [
  [BLUE, PINK, YELLOW],
  [BLUE, RED, YELLOW],
  [BLUE, ORANGE, MINT],
  [TEAL, RED, YELLOW],
  [TEAL, PINK, YELLOW],
  [PLUM, ORANGE, SKY],
  [PLUM, RED, YELLOW],
  [GREEN, RED, YELLOW],
  [GREEN, PINK, SKY],
  [BLUE, GREEN, ORANGE],
  [BLUE, PINK, SKY],
  [TEAL, ORANGE, PINK],
]

/** A risograph print: two or three bright inks, each with a screen of its own and slightly out of register. */
export const riso: Style = {
  words: 'a risograph print in three inks',
  hand: () => ({ angular: false, flat: false, water: 'mirror', sky: 'air', pigment: (colour) => shift(colour, 0, 1.15) }),
  paint: async (picture) => {
    const canvas = await paintPlainly(picture)
    const random = picture.random.fork('riso')
    if (picture.light.time === 'night') lift(canvas)
    const colours = random.pick(bestSets(canvas).slice(0, 2))
    const angles = [75, 15, 45]
    const inks = colours.map((colour, index): Ink => ({
      colour,
      angle: angles[index] ?? 0,
      dx: random.around(0, 2.6),
      dy: random.around(0, 2.6),
    }))
    print(canvas, picture, separate(canvas, inks))
    return canvas
  },
}

/** Three inks on top of each other would be darker than night looks on a screen. */
function lift(canvas: Canvas): void {
  const { data } = canvas
  for (let at = 0; at < data.length; at++) data[at] = clamp01(data[at] ?? 0) ** 0.8
}

/** The sets, ordered by how close they come to the painted picture. */
function bestSets(canvas: Canvas): ReadonlyArray<readonly Lch[]> {
  const targets: number[][] = []
  const stride = Math.max(1, Math.floor(canvas.data.length / 3 / 700))
  for (let pixel = 0; pixel < canvas.data.length / 3; pixel += stride) {
    targets.push([0, 1, 2].map((part) => density(canvas.data[pixel * 3 + part] ?? 0)))
  }
  const rated = SETS.map((set) => {
    const taken = set.map((colour) => absorbed(toRgb(colour)))
    const amounts = set.map(() => 0)
    let error = 0
    for (const target of targets) {
      solve(amounts, taken, target)
      for (let part = 0; part < 3; part++) {
        const made = taken.reduce((sum, ink, index) => sum + (amounts[index] ?? 0) * (ink[part] ?? 0), 0)
        error += (Math.exp(-made) - Math.exp(-(target[part] ?? 0))) ** 2
      }
    }
    return { set, error }
  })
  return rated.sort((a, b) => a.error - b.error).map(({ set }) => set)
}

/**
 * The light that the ink must absorb. It is slightly more than painted, because thin ink looks paler than a screen.
 */
function density(value: number): number {
  return -Math.log(0.02 + 0.98 * clamp01(0.47 + (value - 0.5) * 1.1))
}

const STEPS = 36

/** The amount of each ink for a pixel: least squares over the absorbed light, without negative amounts. */
function separate(canvas: Canvas, inks: readonly Ink[]): Plate[] {
  const recipes = mixTable(inks)
  const plates = inks.map((ink) => ({ ink, plane: createPlane(canvas.width, canvas.height) }))
  const { data } = canvas
  const level = (at: number): number => Math.round(clamp01(data[at] ?? 0) * (STEPS - 1))
  for (let pixel = 0; pixel < canvas.width * canvas.height; pixel++) {
    const entry = ((level(pixel * 3) * STEPS + level(pixel * 3 + 1)) * STEPS + level(pixel * 3 + 2)) * inks.length
    for (const [index, { plane }] of plates.entries()) plane.data[pixel] = recipes[entry + index] ?? 0
  }
  return plates
}

/** Solved once for a grid of colours, because a picture has a thousand times more pixels than the grid has colours. */
function mixTable(inks: readonly Ink[]): Float32Array {
  const table = new Float32Array(STEPS ** 3 * inks.length)
  const taken = inks.map(({ colour }) => absorbed(toRgb(colour)))
  const amounts = inks.map(() => 0)
  const wanted = Array.from({ length: STEPS }, (_, index) => density(index / (STEPS - 1)))
  for (let entry = 0; entry < STEPS ** 3; entry++) {
    const levels = [Math.floor(entry / STEPS / STEPS), Math.floor(entry / STEPS) % STEPS, entry % STEPS]
    const target = levels.map((level) => wanted[level] ?? 0)
    solve(amounts, taken, target)
    for (const [index, amount] of amounts.entries()) table[entry * inks.length + index] = amount
  }
  return table
}

function solve(amounts: number[], taken: ReadonlyArray<readonly number[]>, target: readonly number[]): void {
  amounts.fill(0.3)
  for (let round = 0; round < 5; round++) {
    for (const [index, own] of taken.entries()) {
      let wanted = 0
      let square = 0
      for (let part = 0; part < 3; part++) {
        let left = target[part] ?? 0
        for (const [other, ink] of taken.entries()) if (other !== index) left -= (amounts[other] ?? 0) * (ink[part] ?? 0)
        wanted += left * (own[part] ?? 0)
        square += (own[part] ?? 0) ** 2
      }
      amounts[index] = clamp01(wanted / square)
    }
  }
}

function absorbed(colour: Rgb): number[] {
  return colour.map((part, index) => -Math.log(Math.max(0.03, part / (PAPER[index] ?? 1))))
}

function print(canvas: Canvas, picture: Picture, plates: readonly Plate[]): void {
  const { width, height, data } = canvas
  const { scale } = picture.frame
  const speckle = createTile(picture.random.fork('speckle'), 256, 2)
  const drum = createTile(picture.random.fork('drum'), 8, 4)
  const pitch = 4.3 * scale
  const screens = plates.map(({ ink: { colour, angle, dx, dy }, plane }) => ({
    plane,
    rgb: toRgb(colour),
    dx: dx * scale,
    dy: dy * scale,
    cos: Math.cos((angle * Math.PI) / 180) / pitch,
    sin: Math.sin((angle * Math.PI) / 180) / pitch,
  }))
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * 3
      for (let part = 0; part < 3; part++) data[at + part] = (PAPER[part] ?? 0) - 0.03 * grain(speckle, x, y)
      for (const [index, { plane, rgb, dx, dy, cos, sin }] of screens.entries()) {
        const row = Math.min(height - 1, Math.max(0, Math.round(y + dy)))
        const column = Math.min(width - 1, Math.max(0, Math.round(x + dx)))
        const amount = (plane.data[row * width + column] ?? 0) * (0.93 + 0.14 * sample(drum, x / scale, y / scale))
        const dots = 0.5 + 0.25 * (Math.cos(6.283 * (x * cos + y * sin)) + Math.cos(6.283 * (y * cos - x * sin)))
        const limit = 0.03 + 0.8 * dots + 0.2 * (grain(speckle, x + index * 91, y + index * 37) - 0.5)
        const cover = step(limit - 0.16, limit + 0.16, amount) * (0.9 + 0.1 * grain(speckle, y + index * 13, x))
        for (let part = 0; part < 3; part++) {
          const value = data[at + part] ?? 0
          data[at + part] = value * (1 - cover * (1 - (rgb[part] ?? 0)))
        }
      }
    }
  }
}
