import { mixStops, toRgb, type Lch, type Rgb } from '../colour/oklch.ts'
import type { Picture } from '../drawing/picture.ts'
import { step, type Canvas, type Plane } from './canvas.ts'
import { sample } from './noise.ts'

/** The colours of the time of day down to the horizon, the glow of the light, and clouds lit from its side. */
export function paintSky(canvas: Canvas, picture: Picture, clouds: Plane): void {
  const { frame, light, horizon } = picture
  const colours = ramp(light.sky, 600)
  for (let y = 0; y < canvas.height; y++) {
    // Slightly below the horizon too, because it shows at the edges of mist and water.
    const t = Math.min(1, y / frame.scale / horizon)
    const colour = colours[Math.floor(t * 599)] ?? colours[0]
    for (let x = 0; x < canvas.width; x++) canvas.data.set(colour ?? [0, 0, 0], (y * canvas.width + x) * 3)
  }
  if (light.clouds > 0) paintClouds(canvas, picture, clouds)
  paintHalo(canvas, picture)
}

/** Colours in equal steps from the first stop to the last. */
function ramp(stops: readonly Lch[], count: number): Rgb[] {
  return Array.from({ length: count }, (_, index) => {
    return toRgb(mixStops(stops, (index / (count - 1)) * (stops.length - 1)))
  })
}

function paintHalo(canvas: Canvas, { frame, light, body }: Picture): void {
  const glow = toRgb(light.glow)
  const reach = Math.max(frame.width, frame.height) * frame.scale * (body.moon ? 0.3 : 0.5)
  const centreX = body.x * frame.scale
  const centreY = body.y * frame.scale
  for (let y = 0; y < canvas.height; y++) {
    for (let x = 0; x < canvas.width; x++) {
      const far = Math.hypot((x - centreX) * 0.86, y - centreY) / reach
      const share = light.glowStrength * (0.62 * Math.exp(-far * 3.1) + 0.38 * Math.exp(-far * far * 42))
      if (share < 0.003) continue
      const at = (y * canvas.width + x) * 3
      for (let part = 0; part < 3; part++) {
        const under = canvas.data[at + part] ?? 0
        canvas.data[at + part] = under + ((glow[part] ?? 0) - under) * share
      }
    }
  }
}

function paintClouds(canvas: Canvas, { frame, light, horizon, body }: Picture, tile: Plane): void {
  const lit = toRgb(light.cloudLit)
  const shaded = toRgb(light.cloudShade)
  const threshold = 0.66 - light.clouds * 0.3
  const away = body.x > frame.width / 2 ? 1 : -1
  for (let y = 0; y < Math.min(canvas.height, (horizon + 30) * frame.scale); y++) {
    const v = y / frame.scale
    // Towards the horizon, clouds are seen from the side: flatter and closer together.
    const nearHorizon = Math.min(1, v / horizon)
    const lift = 0.55 + 1.9 * nearHorizon ** 1.6
    const fade = step(0, 0.16, nearHorizon) * (1 - 0.62 * step(0.7, 1, nearHorizon))
    for (let x = 0; x < canvas.width; x++) {
      const u = x / frame.scale
      const along = u * 0.3 + v * 0.06
      const across = v * lift * 0.78
      const density = step(threshold, threshold + 0.24, sample(tile, along, across)) * fade
      if (density < 0.01) continue
      const slope = sample(tile, along, across) - sample(tile, along + away * 7, across - 9)
      const share = Math.min(1, Math.max(0, 0.5 + slope * 4.6))
      const at = (y * canvas.width + x) * 3
      for (let part = 0; part < 3; part++) {
        const colour = (shaded[part] ?? 0) + ((lit[part] ?? 0) - (shaded[part] ?? 0)) * share
        const under = canvas.data[at + part] ?? 0
        canvas.data[at + part] = under + (colour - under) * density * 0.86
      }
    }
  }
}
