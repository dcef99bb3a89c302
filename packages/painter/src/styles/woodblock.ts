import { mix, toLab, type Lch, type Rgb } from '../colour/oklch.ts'
import type { Picture } from '../drawing/picture.ts'
import { createCanvas, step, type Canvas } from '../raster/canvas.ts'
import { paintGlow } from '../raster/air.ts'
import { paintFall } from '../raster/fall.ts'
import { layAndRelease } from '../raster/layer.ts'
import { createTile, grain, sample } from '../raster/noise.ts'
import type { Style } from './style.ts'

const PAPER: Rgb = [0.945, 0.905, 0.815]
const SEAL: Rgb = [0.73, 0.2, 0.15]

/**
 * Pigments of the printers of Edo: indigo, Prussian blue, safflower, ochre, verdigris, bengala, ink and bare paper.
 */
const PIGMENTS: readonly Lch[] = [
  [0.93, 0.03, 88],
  [0.86, 0.055, 85],
  [0.8, 0.075, 75],
  [0.72, 0.1, 65],
  [0.62, 0.14, 38],
  [0.5, 0.15, 30],
  [0.78, 0.075, 20],
  [0.74, 0.05, 160],
  [0.6, 0.06, 155],
  [0.45, 0.055, 165],
  [0.3, 0.04, 190],
  [0.82, 0.035, 225],
  [0.66, 0.07, 240],
  [0.5, 0.09, 255],
  [0.37, 0.09, 262],
  [0.26, 0.07, 268],
  [0.55, 0.02, 80],
  [0.7, 0.015, 90],
  [0.4, 0.03, 60],
  [0.2, 0.02, 270],
  [0.74, 0.03, 262],
  [0.58, 0.045, 270],
  [0.46, 0.06, 276],
  [0.4, 0.07, 318],
  [0.56, 0.08, 330],
]

export const woodblock: Style = {
  words: 'a woodblock print',
  hand: () => ({
    angular: false,
    flat: true,
    outline: { colour: '#1c2130', width: 1.7 },
    water: 'waves',
    sky: 'bokashi',
    pigment: nearest,
  }),
  paint: async (picture) => {
    const { frame } = picture
    const canvas = createCanvas(frame, PAPER)
    for (const plate of picture.plates) {
      if (plate.kind === 'fall') paintFall(canvas, picture, plate.what)
      if (plate.kind !== 'shapes') continue
      await layAndRelease(canvas, plate.body, frame)
      for (const glow of plate.glows ?? [])
        paintGlow(canvas, frame, { ...glow, strength: glow.strength * 0.45, radius: glow.radius * 0.8 })
    }
    printOnPaper(canvas, picture)
    return canvas
  },
}

function nearest(colour: Lch): Lch {
  const wanted = toLab(colour)
  let best: Lch = colour
  let distance = Infinity
  for (const pigment of PIGMENTS) {
    const [l, a, b] = toLab(pigment)
    const away = (l - wanted[0]) ** 2 + ((a - wanted[1]) ** 2 + (b - wanted[2]) ** 2) * 3.5
    if (away < distance) [best, distance] = [pigment, away]
  }
  return mix(colour, best, 0.66)
}

/** Through thin colour, the grain of the block and the paper are visible. The print has a bare margin with a seal. */
function printOnPaper(canvas: Canvas, { frame, random, body }: Picture): void {
  const { width, height, data } = canvas
  const fibre = createTile(random.fork('fibre'), 64, 4)
  const wood = createTile(random.fork('wood'), 16, 4)
  const margin = Math.min(frame.width, frame.height) * 0.028 * frame.scale
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * 3
      const u = x / frame.scale
      const v = y / frame.scale
      const warp = sample(wood, u * 0.16, v * 0.5) * 26
      const rings = 0.5 + 0.5 * Math.sin((v * 0.34 + warp) * 2.1)
      const streak = grain(wood, Math.floor(x / 5), y * 3)
      const thin = 0.05 * rings + 0.07 * streak + 0.05 * grain(fibre, x, y)
      const edge =
        Math.min(x, y, width - 1 - x, height - 1 - y) - margin + (sample(fibre, x * 0.7, y * 0.7) - 0.5) * 3 * frame.scale
      const inside = step(-0.8, 0.8, edge)
      for (let part = 0; part < 3; part++) {
        const bare = (PAPER[part] ?? 0) - 0.05 * (grain(fibre, x, y) - 0.4)
        const ink = data[at + part] ?? 0
        data[at + part] = bare + (ink + (bare - ink) * thin - bare) * inside
      }
    }
  }
  stampSeal(canvas, frame.scale, margin, body.x > frame.width / 2)
}

/** A vermilion square with bare bars: a seal without a meaning. */
export function stampSeal(canvas: Canvas, scale: number, margin: number, left: boolean): void {
  const size = Math.round(30 * scale)
  const x0 = Math.round(left ? margin + 20 * scale : canvas.width - margin - 20 * scale - size)
  const y0 = Math.round(canvas.height - margin - 24 * scale - size)
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const u = x / size
      const v = y / size
      const frame = Math.min(u, v, 1 - u, 1 - v) < 0.1
      const bars =
        (v > 0.2 && v < 0.3 && u > 0.2 && u < 0.8) ||
        (u > 0.45 && u < 0.55 && v > 0.3 && v < 0.8) ||
        (v > 0.48 && v < 0.57 && u > 0.28 && u < 0.72) ||
        (v > 0.74 && v < 0.82 && u > 0.2 && u < 0.8)
      if (!frame && bars) continue
      const at = ((y0 + y) * canvas.width + x0 + x) * 3
      for (let part = 0; part < 3; part++)
        canvas.data[at + part] = (canvas.data[at + part] ?? 0) * 0.14 + (SEAL[part] ?? 0) * 0.86
    }
  }
}
