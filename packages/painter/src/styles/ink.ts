import type { Lch, Rgb } from '../colour/oklch.ts'
import type { Picture, Plate } from '../drawing/picture.ts'
import { clamp01, createCanvas, step, type Canvas, type Plane } from '../raster/canvas.ts'
import { paintFall } from '../raster/fall.ts'
import { rasterise, release, type Layer } from '../raster/layer.ts'
import { createTile, grain, sample } from '../raster/noise.ts'
import type { Style } from './style.ts'
import { stampSeal } from './woodblock.ts'

const PAPER: Rgb = [0.955, 0.938, 0.895]
const INK: Rgb = [0.085, 0.09, 0.115]
const RED: Lch = [0.58, 0.17, 32]
const SUN: Rgb = [0.78, 0.27, 0.2]
const BARE: Rgb = [0.985, 0.975, 0.94]

type Brush = { wash: Plane; fibre: Plane; dry: Plane }

/** Black ink on soft paper: dark along the upper edges, fading into mist below. Warm, bright areas get some red. */
export const ink: Style = {
  words: 'an ink wash painting',
  hand: () => ({
    angular: false,
    flat: true,
    water: 'strokes',
    sky: 'wash',
    pigment: (colour) => (isWarm(colour) ? RED : [colour[0], 0, 0]),
  }),
  paint: async (picture) => {
    const { frame, random } = picture
    const canvas = createCanvas(frame, PAPER)
    const brush = {
      wash: createTile(random.fork('wash'), 8, 6),
      fibre: createTile(random.fork('fibre'), 128, 3),
      dry: createTile(random.fork('dry'), 64, 3),
    }
    washSky(canvas, picture, brush)
    for (const plate of picture.plates) {
      if (plate.kind === 'shapes') await layPlate(canvas, plate, picture, brush)
      if (plate.kind === 'fall' && plate.what === 'snow') paintFall(canvas, picture, 'snow')
      if (plate.kind === 'fall' && plate.what === 'rain') paintFall(canvas, picture, 'rain')
    }
    showPaper(canvas, brush)
    stampSeal(canvas, frame.scale, 26 * frame.scale, picture.body.x > frame.width / 2)
    return canvas
  },
}

function isWarm([lightness, chroma, hue]: Lch): boolean {
  return chroma > 0.115 && lightness > 0.42 && (hue < 98 || hue > 345)
}

/** Night is a dark wash around a bare moon. Day is a light grey at the top. */
function washSky(canvas: Canvas, { frame, light, horizon, body }: Picture, { wash }: Brush): void {
  const strength = { night: 0.74, dusk: 0.3, dawn: 0.15, day: 0.1 }[light.time] + light.clouds * 0.09
  for (let y = 0; y < canvas.height; y++) {
    const v = y / frame.scale
    const fade = 1 - step(0, 1.02, v / horizon)
    for (let x = 0; x < canvas.width; x++) {
      const u = x / frame.scale
      const cloud = sample(wash, u * 0.36, v * 0.85)
      const halo = step(body.radius * 0.9, body.radius * 5, Math.hypot(u - body.x, v - body.y))
      soak(
        canvas,
        (y * canvas.width + x) * 3,
        strength * (0.25 + 0.75 * halo) * (fade * 0.8 + 0.1) * (0.5 + 0.9 * step(0.22, 0.8, cloud)),
      )
    }
  }
}

async function layPlate(canvas: Canvas, plate: Plate & { kind: 'shapes' }, picture: Picture, brush: Brush): Promise<void> {
  const layer = await rasterise(plate.body, picture.frame)
  layInk(canvas, layer, plate, picture, brush)
  release(layer)
}

function layInk(canvas: Canvas, layer: Layer, plate: Plate & { kind: 'shapes' }, picture: Picture, brush: Brush): void {
  const { frame } = picture
  const { width, height } = canvas
  const tops = upperEdge(layer)
  const far = 1 - plate.depth
  const reach = (36 + plate.depth * 190) * frame.scale
  const floor = plate.depth > 0.85 ? 0.75 : 0.05 + plate.depth * 0.22
  for (let y = layer.top; y < Math.min(height, layer.bottom + 3); y++) {
    for (let x = 0; x < width; x++) {
      // The edge is slightly irregular, as ink spreads in wet paper.
      const creep = (sample(brush.dry, x * 0.8, y * 0.8) - 0.5) * (2 + far * 7) * frame.scale
      const row = Math.min(height - 1, Math.max(0, Math.round(y + creep * 0.6)))
      const from = (row * width + Math.min(width - 1, Math.max(0, Math.round(x + creep)))) * 4
      const alpha = (layer.data[from + 3] ?? 0) / 255
      if (alpha < 0.02) continue
      const at = (y * width + x) * 3
      const red = layer.data[from] ?? 0
      const green = layer.data[from + 1] ?? 0
      const blue = layer.data[from + 2] ?? 0
      if (plate.accent) {
        touch(canvas, at, picture.body.moon ? BARE : SUN, alpha * (0.72 + 0.28 * sample(brush.wash, x * 0.9, y * 0.9)))
        continue
      }
      if (red - blue > 46) {
        touch(canvas, at, [red / 255, green / 255, blue / 255], alpha * (0.6 + 0.4 * sample(brush.wash, x * 0.9, y * 0.9)))
        continue
      }
      const dark = 1 - (red * 0.3 + green * 0.59 + blue * 0.11) / 255
      const below = Math.max(0, y - (tops[x] ?? 0))
      const run = plate.flat ? 1 : floor + (1 - floor) * Math.exp(-below / reach) + 0.2 * Math.exp(-below / (5 * frame.scale))
      const patch = 0.76 + 0.48 * sample(brush.wash, (x / frame.scale) * 0.8, (y / frame.scale) * 0.8)
      const stroke = plate.depth > 0.7 ? 0.78 + 0.44 * grain(brush.dry, Math.floor(x / 2), y) : 1
      const cover = alpha * (plate.flat ? 0 : clamp01(run * 1.5))
      touch(canvas, at, PAPER, cover * 0.92)
      soak(canvas, at, alpha * clamp01((0.05 + 1.15 * dark ** 1.45) * run * patch * stroke * (0.34 + 0.72 * plate.depth)))
    }
  }
}

/**
 * The top of the shape in each column, smoothed, so that the wash starts along the whole edge and does not form
 * stripes.
 */
function upperEdge({ width, top, bottom, data }: Layer): Float32Array {
  const edge = new Float32Array(width).fill(bottom)
  for (let x = 0; x < width; x++) {
    for (let y = top; y < bottom; y++) {
      if ((data[(y * width + x) * 4 + 3] ?? 0) < 128) continue
      edge[x] = y
      break
    }
  }
  const smooth = new Float32Array(width)
  const box = Math.round(width / 60)
  for (let x = 0; x < width; x++) {
    let sum = 0
    for (let near = -box; near <= box; near++) sum += edge[Math.min(width - 1, Math.max(0, x + near))] ?? 0
    smooth[x] = Math.min(edge[x] ?? 0, sum / (box * 2 + 1))
  }
  return smooth
}

function soak(canvas: Canvas, at: number, amount: number): void {
  for (let part = 0; part < 3; part++)
    canvas.data[at + part] = (canvas.data[at + part] ?? 0) * (1 - amount * (1 - (INK[part] ?? 0)))
}

function touch(canvas: Canvas, at: number, colour: Rgb, share: number): void {
  for (let part = 0; part < 3; part++) {
    const under = canvas.data[at + part] ?? 0
    canvas.data[at + part] = under + ((colour[part] ?? 0) - under) * share
  }
}

function showPaper(canvas: Canvas, { fibre, wash }: Brush): void {
  const { width, height, data } = canvas
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const rough = (grain(fibre, x, y) - 0.5) * 0.05 + (sample(wash, x * 0.2, y * 0.2) - 0.5) * 0.035
      const at = (y * width + x) * 3
      for (let part = 0; part < 3; part++) data[at + part] = (data[at + part] ?? 0) + rough * (0.5 + 0.5 * (data[at + part] ?? 0))
    }
  }
}
