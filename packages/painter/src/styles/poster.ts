import type { Lch } from '../colour/oklch.ts'
import type { Picture } from '../drawing/picture.ts'
import { createCanvas, type Canvas } from '../raster/canvas.ts'
import { layAndRelease } from '../raster/layer.ts'
import { createTile, grain } from '../raster/noise.ts'
import type { Style } from './style.ts'

/** A travel poster of the 1930s: few flat colours, straight cuts, a broad margin. */
export const poster: Style = {
  words: 'a geometric poster',
  hand: (light, random) => ({
    angular: true,
    flat: true,
    water: 'strips',
    sky: random.chance(0.5) ? 'bands' : 'rays',
    pigment: (colour) => bold(colour, light.time === 'night'),
  }),
  paint: async (picture) => {
    const { frame } = picture
    const canvas = createCanvas(frame)
    for (const plate of picture.plates) if (plate.kind === 'shapes') await layAndRelease(canvas, plate.body, frame)
    for (const plate of picture.plates)
      if (plate.kind === 'fall') await (plate.what === 'snow' ? dotSnow : ruleRain)(canvas, picture)
    await frameIt(canvas, picture)
    printGrain(canvas, picture)
    return canvas
  },
}

/** Fewer and stronger colours: lightness and hue in steps. */
function bold([lightness, chroma, hue]: Lch, dark: boolean): Lch {
  const steps = dark ? 0.075 : 0.085
  const pivot = dark ? 0.3 : 0.55
  const contrast = pivot + (lightness - pivot) * 1.14
  const stepped = Math.round(contrast / steps) * steps
  return [
    Math.min(0.97, Math.max(0.13, stepped)),
    chroma < 0.02 ? chroma : Math.min(0.2, chroma * 1.3 + 0.012),
    Math.round(hue / 12) * 12,
  ]
}

async function dotSnow(canvas: Canvas, { frame, random }: Picture): Promise<void> {
  const chance = random.fork('dots')
  const dots = Array.from(
    { length: 90 },
    () =>
      `<circle cx="${chance.between(0, frame.width).toFixed(1)}" cy="${chance.between(0, frame.height).toFixed(1)}" r="${chance.between(2, 7).toFixed(1)}"/>`,
  )
  await layAndRelease(canvas, `<g fill="#fbf8f0">${dots.join('')}</g>`, frame)
}

/** Straight parallel strokes, each ending in a point. */
async function ruleRain(canvas: Canvas, { frame, random }: Picture): Promise<void> {
  const chance = random.fork('strokes')
  const short = (length: number) => length.toFixed(1)
  const strokes = Array.from({ length: 110 }, () => {
    const [x, y] = [chance.between(0, frame.width * 1.1), chance.between(-60, frame.height)]
    const [length, width] = [chance.between(30, 90), chance.between(1.6, 3.4)]
    return `M${short(x)} ${short(y)}l${short(-length * 0.2)} ${short(length)}l${short(width)} 0Z`
  })
  await layAndRelease(canvas, `<path fill="#dfe8ee" fill-opacity="0.7" d="${strokes.join('')}"/>`, frame)
}

async function frameIt(canvas: Canvas, { frame }: Picture): Promise<void> {
  const { width, height } = frame
  const margin = Math.min(width, height) * 0.035
  const hole = `M0 0H${width}V${height}H0ZM${margin} ${margin}V${height - margin}H${width - margin}V${margin}Z`
  await layAndRelease(canvas, `<path fill="#f6efdf" fill-rule="evenodd" d="${hole}"/>`, frame)
}

function printGrain(canvas: Canvas, { random }: Picture): void {
  const speck = createTile(random.fork('speck'), 256, 2)
  const { width, height, data } = canvas
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * 3
      const noise = (grain(speck, x, y) - 0.5) * 0.05
      for (let part = 0; part < 3; part++) data[at + part] = (data[at + part] ?? 0) + noise
    }
  }
}
