import { shift, toRgb, type Rgb } from '../colour/oklch.ts'
import type { Picture } from '../drawing/picture.ts'
import { blurPlane } from '../raster/blur.ts'
import { createCanvas, createPlane, type Canvas, type Plane } from '../raster/canvas.ts'
import { paintGlow } from '../raster/air.ts'
import { paintFall } from '../raster/fall.ts'
import { lay, rasterise, release, type Layer } from '../raster/layer.ts'
import { createTile, grain, sample } from '../raster/noise.ts'
import type { Style } from './style.ts'

/** Stacked sheets of coloured paper. Each casts a soft shadow on the sheets behind it and has a lit edge. */
export const paper: Style = {
  words: 'a layered paper cut-out',
  hand: (light) => ({
    angular: false,
    flat: true,
    water: 'strips',
    sky: 'rings',
    pigment: (colour) => shift(colour, light.time === 'night' ? 0.035 : 0.01, 1.16),
  }),
  paint: async (picture) => {
    const { frame, light } = picture
    const canvas = createCanvas(frame, toRgb(picture.hand.pigment(light.glow)))
    const fibre = createTile(picture.random.fork('fibre'), 128, 3)
    const sheet = createTile(picture.random.fork('sheet'), 32, 4)
    for (const plate of picture.plates) {
      if (plate.kind === 'fall') paintFall(canvas, picture, plate.what)
      if (plate.kind !== 'shapes') continue
      const layer = await rasterise(plate.body, frame)
      if (!plate.flat) castShadow(canvas, layer, picture, plate.depth)
      lay(canvas, layer)
      if (!plate.flat) catchLight(canvas, layer, picture)
      release(layer)
      for (const glow of plate.glows ?? []) paintGlow(canvas, frame, { ...glow, strength: glow.strength * 0.7 })
    }
    texture(canvas, fibre, sheet)
    return canvas
  },
}

const COARSE = 4

/** A soft shadow has no fine detail, so it is computed at a quarter of the size. */
function castShadow(canvas: Canvas, layer: Layer, { frame, light }: Picture, depth: number): void {
  const dark = toRgb(shift(light.dark, 0.02, 1.3))
  const alpha = coarse(layer)
  const shadow = createPlane(alpha.width, alpha.height)
  const reachMost = 14 + depth * 22
  for (const [reach, strength] of [
    [4 + depth * 5, 0.3],
    [reachMost, 0.34],
  ] as const) {
    const soft = blurPlane(alpha, (reach * 0.8 * frame.scale) / COARSE)
    const dx = (-light.side * reach * 0.42 * frame.scale) / COARSE
    const dy = (reach * 0.55 * frame.scale) / COARSE
    for (let y = 0; y < shadow.height; y++) {
      for (let x = 0; x < shadow.width; x++) {
        const at = y * shadow.width + x
        const share = between(soft, x - dx, y - dy) * strength
        shadow.data[at] = 1 - (1 - (shadow.data[at] ?? 0)) * (1 - share)
      }
    }
  }
  darken(canvas, layer, shadow, dark, Math.ceil(reachMost * 2.5 * frame.scale))
}

function coarse({ width, height, data, top, bottom }: Layer): Plane {
  const plane = createPlane(Math.ceil(width / COARSE), Math.ceil(height / COARSE))
  for (let y = Math.floor(top / COARSE); y < Math.min(plane.height, Math.ceil(bottom / COARSE)); y++) {
    const upper = Math.min(height - 1, y * COARSE + 1) * width
    const lower = Math.min(height - 1, y * COARSE + 3) * width
    for (let x = 0; x < plane.width; x++) {
      const left = x * COARSE
      const right = Math.min(width - 1, left + 2)
      const sum =
        (data[(upper + left) * 4 + 3] ?? 0) +
        (data[(upper + right) * 4 + 3] ?? 0) +
        (data[(lower + left) * 4 + 3] ?? 0) +
        (data[(lower + right) * 4 + 3] ?? 0)
      plane.data[y * plane.width + x] = sum / 1020
    }
  }
  return plane
}

function between({ width, height, data }: Plane, x: number, y: number): number {
  const kx = Math.min(width - 1.001, Math.max(0, x))
  const ky = Math.min(height - 1.001, Math.max(0, y))
  const [x0, y0] = [Math.floor(kx), Math.floor(ky)]
  const [u, v] = [kx - x0, ky - y0]
  const at = y0 * width + x0
  const high = (data[at] ?? 0) * (1 - u) + (data[at + 1] ?? 0) * u
  const low = (data[at + width] ?? 0) * (1 - u) + (data[at + width + 1] ?? 0) * u
  return high * (1 - v) + low * v
}

function darken(canvas: Canvas, layer: Layer, shadow: Plane, dark: Rgb, reach: number): void {
  const { width, height, data } = canvas
  const row = new Float32Array(shadow.width + 1)
  for (let y = Math.max(0, layer.top - reach); y < Math.min(height, layer.bottom + reach); y++) {
    for (let x = 0; x <= shadow.width; x++) row[x] = between(shadow, x, (y - 1.5) / COARSE)
    for (let x = 0; x < width; x++) {
      const pixel = y * width + x
      // What the sheet covers need not be darkened.
      if (layer.data[pixel * 4 + 3] === 255) continue
      const from = x >> 2
      const share = (row[from] ?? 0) + ((row[from + 1] ?? 0) - (row[from] ?? 0)) * ((x & 3) / COARSE)
      if (share < 0.004) continue
      const at = pixel * 3
      data[at] = (data[at] ?? 0) * (1 - share * (1 - dark[0]))
      data[at + 1] = (data[at + 1] ?? 0) * (1 - share * (1 - dark[1]))
      data[at + 2] = (data[at + 2] ?? 0) * (1 - share * (1 - dark[2]))
    }
  }
}

/** The cut edge towards the light is a thin bright line, and the opposite one a thin dark line. */
function catchLight(canvas: Canvas, layer: Layer, { frame, light }: Picture): void {
  const { width, height, data } = canvas
  const reach = Math.max(1, Math.round(1.5 * frame.scale))
  const alpha = layer.data
  for (let y = Math.max(reach, layer.top); y < Math.min(height - reach, layer.bottom); y++) {
    for (let x = reach; x < width - reach; x++) {
      const here = alpha[(y * width + x) * 4 + 3] ?? 0
      if (here === 0) continue
      const towards = alpha[((y - reach) * width + x + light.side * reach) * 4 + 3] ?? 0
      const away = alpha[((y + reach) * width + x - light.side * reach) * 4 + 3] ?? 0
      const edge = ((here - towards) * 0.3 - (here - away) * 0.16) / 255
      if (edge > -0.01 && edge < 0.01) continue
      const at = (y * width + x) * 3
      for (let part = 0; part < 3; part++) {
        const value = data[at + part] ?? 0
        data[at + part] = value + (edge > 0 ? (1 - value) * edge : value * edge)
      }
    }
  }
}

function texture(canvas: Canvas, fibre: Plane, sheet: Plane): void {
  const { width, height, data } = canvas
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const rough =
        (grain(fibre, x, y) - 0.5) * 0.075 +
        (grain(fibre, x + 1, y + 1) - grain(fibre, x, y)) * 0.2 +
        (sample(sheet, x * 0.4, y * 0.4) - 0.5) * 0.04
      const at = (y * width + x) * 3
      for (let part = 0; part < 3; part++) {
        const value = data[at + part] ?? 0
        data[at + part] = value + rough * (0.35 + value * 0.65)
      }
    }
  }
}
