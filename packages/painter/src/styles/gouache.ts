import type { Plate, Picture } from '../drawing/picture.ts'
import { createCanvas, type Canvas, type Plane } from '../raster/canvas.ts'
import { paintGlow, paintMist } from '../raster/air.ts'
import { paintFall } from '../raster/fall.ts'
import { finish } from '../raster/finish.ts'
import { lay, rasterise, release, type Layer } from '../raster/layer.ts'
import { createTile } from '../raster/noise.ts'
import { paintSky } from '../raster/sky.ts'
import { paintWater } from '../raster/water.ts'
import type { Style } from './style.ts'

export const gouache: Style = {
  words: 'a gouache painting',
  hand: () => ({ angular: false, flat: false, water: 'mirror', sky: 'air', pigment: (colour) => colour }),
  paint: async (picture) => {
    const canvas = await paintPlainly(picture)
    finish(canvas, picture.frame, picture.random.fork('finish'), { brush: 0.13, grain: 0.055, vignette: 0.6 })
    return canvas
  },
}

/**
 * Paints air, plates, water and lamps, without paper or print effects. Several styles start from this. `regions`, if
 * given, receives the plate that each pixel shows.
 */
export async function paintPlainly(picture: Picture, regions?: Uint8Array): Promise<Canvas> {
  const canvas = createCanvas(picture.frame)
  const clouds = createTile(picture.random.fork('clouds'), 4, 6)
  const ripples = createTile(picture.random.fork('ripples'), 16, 4)
  paintSky(canvas, picture, clouds)
  for (const [index, plate] of picture.plates.entries()) {
    await paintPlate(canvas, picture, plate, { clouds, ripples }, (covered) => regions && markRegion(regions, covered, index + 1))
    if (plate.kind === 'water')
      regions?.fill(
        index + 1,
        Math.round(plate.top * picture.frame.scale) * canvas.width,
        Math.round(plate.bottom * picture.frame.scale) * canvas.width,
      )
  }
  return canvas
}

type Tiles = { clouds: Plane; ripples: Plane }

async function paintPlate(
  canvas: Canvas,
  picture: Picture,
  plate: Plate,
  tiles: Tiles,
  laid: (layer: Layer) => void,
): Promise<void> {
  if (plate.kind === 'mist') return paintMist(canvas, picture.frame, plate, picture.light.haze, tiles.clouds)
  if (plate.kind === 'water') return paintWater(canvas, picture, plate.top, plate.bottom, tiles.ripples)
  if (plate.kind === 'fall') return paintFall(canvas, picture, plate.what)
  const layer = await rasterise(plate.body, picture.frame)
  lay(canvas, layer)
  if (!plate.flat) laid(layer)
  release(layer)
  for (const glow of plate.glows ?? []) paintGlow(canvas, picture.frame, glow)
}

function markRegion(regions: Uint8Array, layer: Layer, region: number): void {
  for (let pixel = layer.top * layer.width; pixel < layer.bottom * layer.width; pixel++) {
    if ((layer.data[pixel * 4 + 3] ?? 0) > 127) regions[pixel] = region
  }
}
