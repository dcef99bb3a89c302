import { toRgb, type Rgb } from '../colour/oklch.ts'
import type { Picture } from '../drawing/picture.ts'
import { brightness, clamp01, copyCanvas, step, type Canvas } from '../raster/canvas.ts'
import { createTile, grain, sample } from '../raster/noise.ts'
import { paintPlainly } from './gouache.ts'
import type { Style } from './style.ts'

const PAPER: Rgb = [0.955, 0.935, 0.885]

/**
 * White lines cut into a dark block over two flat tints. The lines are rings around the light in the sky and
 * horizontal on water.
 */
export const linocut: Style = {
  words: 'a linocut',
  hand: () => ({ angular: false, flat: false, water: 'mirror', sky: 'air', pigment: (colour) => colour }),
  paint: async (picture) => {
    const regions = new Uint8Array(picture.frame.pixelWidth * picture.frame.pixelHeight)
    const canvas = await paintPlainly(picture, regions)
    carve(canvas, picture, regions)
    return canvas
  },
}

function carve(canvas: Canvas, picture: Picture, regions: Uint8Array): void {
  const { frame, random, light } = picture
  const { width, height, data } = canvas
  const tone = copyCanvas(canvas)
  const range = toneRange(tone)
  const wobble = createTile(random.fork('wobble'), 16, 4)
  const press = createTile(random.fork('press'), 128, 3)
  const water = new Set(picture.plates.flatMap((plate, index) => (plate.kind === 'water' ? [index + 1] : [])))
  const dark = toRgb([light.time === 'night' ? 0.2 : 0.24, 0.055, light.dark[2]])
  const margin = Math.min(frame.width, frame.height) * 0.03
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const pixel = y * width + x
      const region = regions[pixel] ?? 0
      const u = x / frame.scale
      const v = y / frame.scale
      const bent = (sample(wobble, u * 0.7, v * 0.7) - 0.5) * 9
      const cut = lineAt(picture, region, water.has(region), u, v, bent)
      const bright = clamp01((brightness(tone, pixel) - range.low) / (range.high - range.low))
      const limit = 0.5 - 0.46 * Math.cos(cut * 6.2832) + (grain(press, x, y) - 0.5) * 0.12
      // Where the picture is brighter than the line's own slope, the block is cut.
      const carved = step(limit - 0.13, limit + 0.13, 0.03 + bright * 0.97)
      const rough = (sample(press, u, v) - 0.5) * 5
      const inside = step(-0.6, 0.6, Math.min(u, v, frame.width - u, frame.height - v) - margin + rough)
      const at = pixel * 3
      const level = brightness(tone, pixel)
      const flat = (Math.round(level * 4 + 0.4) / 4 + 0.06) / Math.max(0.05, level)
      for (let part = 0; part < 3; part++) {
        const bare = PAPER[part] ?? 0
        // The tint block has a few flat steps and is printed below the lines.
        const tint = bare + (clamp01((tone.data[at + part] ?? 0) * flat) - bare) * 0.6
        const inked = (dark[part] ?? 0) + 0.05 * grain(press, y, x)
        const printed = tint * carved + inked * (1 - carved)
        data[at + part] = bare + (printed - bare) * inside - 0.03 * (grain(press, x + 40, y) - 0.5)
      }
    }
  }
}

/** The position along the pattern of cuts: rings around the light in the sky, horizontal on water, slanted on land. */
function lineAt({ body }: Picture, region: number, isWater: boolean, u: number, v: number, bent: number): number {
  if (isWater) return (v + bent * 0.35) / 6.4
  if (region === 0) return (Math.hypot(u - body.x, v - body.y) + bent) / 8.6
  const angle = 0.5 + ((region * 137) % 100) / 70
  return (u * Math.cos(angle) + v * Math.sin(angle) + bent) / 6.2
}

function toneRange(canvas: Canvas): { low: number; high: number } {
  const counts = new Uint32Array(256)
  const pixels = canvas.width * canvas.height
  for (let pixel = 0; pixel < pixels; pixel += 3) {
    const level = Math.min(255, Math.max(0, Math.round(brightness(canvas, pixel) * 255)))
    counts[level] = (counts[level] ?? 0) + 1
  }
  const at = (share: number): number => {
    let sum = 0
    for (let level = 0; level < 256; level++) {
      sum += counts[level] ?? 0
      if (sum > (pixels / 3) * share) return level / 255
    }
    return 1
  }
  return { low: at(0.02), high: Math.max(at(0.02) + 0.2, at(0.97)) }
}
