import { rgbToLab, shift, toLch, toRgb, type Rgb } from '../colour/oklch.ts'
import type { Picture } from '../drawing/picture.ts'
import { blurPlane } from '../raster/blur.ts'
import { clamp01, createPlane, step, type Canvas, type Plane } from '../raster/canvas.ts'
import { createTile, grain, sample } from '../raster/noise.ts'
import type { Random } from '../random.ts'
import { paintPlainly } from './gouache.ts'
import type { Style } from './style.ts'

const LEAD: Rgb = [0.075, 0.075, 0.09]

/** A stained-glass window: pieces of coloured glass along the shapes, in lead, with daylight behind them. */
export const glass: Style = {
  words: 'a stained-glass window',
  hand: (light) => ({
    angular: true,
    flat: true,
    water: 'mirror',
    sky: 'air',
    pigment: (colour) => shift(colour, light.time === 'night' ? 0.12 : 0, 1.25),
  }),
  paint: async (picture) => {
    const regions = new Uint8Array(picture.frame.pixelWidth * picture.frame.pixelHeight)
    const canvas = await paintPlainly(picture, regions)
    soften(regions, canvas.width, canvas.height, picture.plates.length + 1, 3.2 * picture.frame.scale)
    const pieces = cutPieces(canvas, picture, regions)
    glaze(canvas, picture, pieces)
    return canvas
  },
}

/** Glass cannot be cut as finely as paper, so narrow slivers join the plate around them. */
function soften(regions: Uint8Array, width: number, height: number, count: number, radius: number): void {
  const small = { width: Math.ceil(width / 2), height: Math.ceil(height / 2) }
  const most = new Float32Array(small.width * small.height)
  const ruling = new Uint8Array(small.width * small.height)
  for (let region = 0; region < count; region++) {
    const share = createPlane(small.width, small.height)
    let used = false
    for (let y = 0; y < small.height; y++) {
      for (let x = 0; x < small.width; x++) {
        if (regions[y * 2 * width + x * 2] !== region) continue
        share.data[y * small.width + x] = 1
        used = true
      }
    }
    if (!used) continue
    const soft = blurPlane(share, radius)
    for (let at = 0; at < most.length; at++) {
      if ((soft.data[at] ?? 0) <= (most[at] ?? 0)) continue
      most[at] = soft.data[at] ?? 0
      ruling[at] = region
    }
  }
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) regions[y * width + x] = ruling[(y >> 1) * small.width + (x >> 1)] ?? 0
  }
}

type Seeds = { columns: number; rows: number; size: number; x: Float32Array; y: Float32Array }

function scatter(random: Random, width: number, height: number, size: number): Seeds {
  const columns = Math.ceil(width / size) + 2
  const rows = Math.ceil(height / size) + 2
  const x = Float32Array.from({ length: columns * rows }, (_, index) => ((index % columns) - 0.5 + random.around(0, 0.46)) * size)
  const y = Float32Array.from(
    { length: columns * rows },
    (_, index) => (Math.floor(index / columns) - 0.5 + random.around(0, 0.46)) * size,
  )
  return { columns, rows, size, x, y }
}

/** The piece of each pixel: the nearest of scattered points within the visible plate. */
function cutPieces(canvas: Canvas, { frame, random, horizon, body }: Picture, regions: Uint8Array): Int32Array {
  const { width, height } = canvas
  const seeds = scatter(random.fork('pieces'), width, height, 66 * frame.scale)
  const pieces = new Int32Array(width * height)
  for (let y = 0; y < height; y++) {
    // Horizontal pieces suit water and sky; upright ones would look like a wall.
    const flat = y / frame.scale > horizon ? 2.1 : 1.45
    for (let x = 0; x < width; x++) {
      const region = regions[y * width + x] ?? 0
      const column = Math.floor(x / seeds.size) + 1
      const row = Math.floor(y / seeds.size) + 1
      let best = 0
      let least = Infinity
      for (let near = 0; near < 9; near++) {
        const at =
          Math.min(seeds.rows - 1, Math.max(0, row + Math.floor(near / 3) - 1)) * seeds.columns +
          Math.min(seeds.columns - 1, Math.max(0, column + (near % 3) - 1))
        const dx = (seeds.x[at] ?? 0) - x
        const dy = ((seeds.y[at] ?? 0) - y) * flat
        const away = dx * dx + dy * dy
        if (away < least) [best, least] = [at, away]
      }
      const ring = region === 0 ? Math.floor(Math.hypot(x / frame.scale - body.x, y / frame.scale - body.y) / 105) : 0
      pieces[y * width + x] = (best * 64 + region) * 16 + Math.min(15, ring)
    }
  }
  return pieces
}

function glaze(canvas: Canvas, { frame, random }: Picture, pieces: Int32Array): void {
  const { width, height, data } = canvas
  const means = averageColours(canvas, pieces)
  const noPane = { mean: [0, 0, 0], pane: LEAD }
  const panes = new Map([...means].map(([piece, mean]) => [piece, { mean, pane: paneColour(mean, piece) }]))
  const lead = blurPlane(edgesOf(pieces, width, height), 1.25 * frame.scale)
  const seed = createTile(random.fork('seed'), 32, 4)
  const streak = createTile(random.fork('streak'), 16, 5)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const pixel = y * width + x
      const at = pixel * 3
      const piece = pieces[pixel] ?? 0
      const { mean, pane } = panes.get(piece) ?? noPane
      const own = spread(piece)
      const shine =
        1.02 + (sample(streak, x * 0.5 + own * 400, y * 0.16 + own * 900) - 0.5) * 0.5 + (grain(seed, x, y) - 0.5) * 0.09
      const amount = lead.data[pixel] ?? 0
      const dark = step(0.1, 0.2, amount)
      const slope = (lead.data[Math.min(height - 1, y + 2) * width + x] ?? 0) - (lead.data[Math.max(0, y - 2) * width + x] ?? 0)
      for (let part = 0; part < 3; part++) {
        // Within a pane, the painted picture appears as lighter and darker glass.
        const painted = Math.min(1.7, Math.max(0.45, ((data[at + part] ?? 0) + 0.04) / ((mean[part] ?? 0) + 0.04))) ** 0.75
        const value = clamp01((pane[part] ?? 0) * painted * shine)
        const glow = value * (1 - 0.5 * step(0, 0.18, amount))
        const metal = (LEAD[part] ?? 0) + Math.max(0, slope) * 0.8
        data[at + part] = glow + (metal - glow) * dark
      }
    }
  }
}

/** A number of its own for each piece, 0 to 1. */
function spread(piece: number): number {
  return (Math.imul(piece, 2654435761) >>> 0) / 4294967296
}

/** Glass has deeper colours than paint, and no two panes have the same one. */
function paneColour(mean: readonly number[], piece: number): Rgb {
  const [lightness, chroma, hue] = toLch(rgbToLab([mean[0] ?? 0, mean[1] ?? 0, mean[2] ?? 0]))
  const own = spread(piece)
  const other = spread(piece * 31 + 7)
  return toRgb([
    0.1 + Math.min(0.93, lightness) * 0.77 + (own - 0.5) * 0.09,
    Math.min(0.19, chroma * 1.65 + 0.028),
    hue + (other - 0.5) * 22,
  ])
}

function averageColours(canvas: Canvas, pieces: Int32Array): Map<number, number[]> {
  const sums = new Map<number, number[]>()
  for (const [pixel, piece] of pieces.entries()) {
    let sum = sums.get(piece)
    if (!sum) sums.set(piece, (sum = [0, 0, 0, 0]))
    for (let part = 0; part < 3; part++) sum[part] = (sum[part] ?? 0) + (canvas.data[pixel * 3 + part] ?? 0)
    sum[3] = (sum[3] ?? 0) + 1
  }
  for (const sum of sums.values()) for (let part = 0; part < 3; part++) sum[part] = (sum[part] ?? 0) / (sum[3] ?? 0)
  return sums
}

function edgesOf(pieces: Int32Array, width: number, height: number): Plane {
  const edges = createPlane(width, height)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = y * width + x
      const right = x + 1 < width && pieces[at] !== pieces[at + 1]
      const under = y + 1 < height && pieces[at] !== pieces[at + width]
      const border = x < 3 || y < 3 || x > width - 4 || y > height - 4
      // The lead between two objects is wider than within an object.
      const seam =
        (right && regionOf(pieces[at]) !== regionOf(pieces[at + 1])) ||
        (under && regionOf(pieces[at]) !== regionOf(pieces[at + width]))
      edges.data[at] = seam || border ? 1 : right || under ? 0.55 : 0
    }
  }
  return edges
}

function regionOf(piece: number | undefined): number {
  return ((piece ?? 0) >> 4) & 63
}
