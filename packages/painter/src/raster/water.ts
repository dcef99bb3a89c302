import { mix, toRgb } from '../colour/oklch.ts'
import type { Picture } from '../drawing/picture.ts'
import { step, type Canvas, type Plane } from './canvas.ts'
import { grain, sample } from './noise.ts'

const TAPS = [-1.5, -0.5, 0.5, 1.5] as const

/**
 * Still water: the mirrored scene above it, distorted by ripples that grow towards the viewer, and darkened by the
 * colour of the water.
 */
export function paintWater(canvas: Canvas, picture: Picture, top: number, bottom: number, tile: Plane): void {
  const { frame, light } = picture
  const from = Math.round(top * frame.scale)
  const to = Math.min(canvas.height, Math.round(bottom * frame.scale))
  const source = canvas.data.slice(0, from * canvas.width * 3)
  const deep = toRgb(mix(light.sky[0] ?? light.haze, light.dark, 0.38))
  const bright = toRgb(mix(light.sky.at(-1) ?? light.haze, light.face, 0.45))
  const seen = [0, 0, 0]
  for (let y = from; y < to; y++) {
    const below = (y - from) / frame.scale
    const near = Math.min(1, below / (frame.height * 0.45))
    // Waves of the same size look smaller with distance.
    const across = 0.1 + 22 / (below + 30)
    const depth = 210 * Math.log(below + 14)
    const calm = step(0, 0.06, near)
    const spread = (1.2 + near * 13) * frame.scale
    for (let x = 0; x < canvas.width; x++) {
      const u = x / frame.scale - frame.width / 2
      const wave = sample(tile, u * across + 300, depth) - 0.5
      const fine = sample(tile, u * across * 2.2 + 90, depth * 2.1) - 0.5
      const bend = (wave * (6 + near * 46) + fine * (3 + 15 * near)) * frame.scale
      const mirrored = from - 1 - (y - from) * 0.94 - bend * calm
      // Jittered samples, because evenly spaced ones would be visible as ghost images.
      const jitter = grain(tile, x * 7 + y * 131, y * 29 + x * 3) - 0.5
      const column = Math.min(canvas.width - 1, Math.max(0, Math.round(x + wave * (3 + near * 9) * frame.scale)))
      seen[0] = seen[1] = seen[2] = 0
      for (const tap of TAPS) {
        const row = Math.min(from - 1, Math.max(0, Math.round(mirrored + (tap + jitter * 3) * spread)))
        const at = (row * canvas.width + column) * 3
        for (let part = 0; part < 3; part++) seen[part] = (seen[part] ?? 0) + (source[at + part] ?? 0) * 0.25
      }
      const dim = 0.08 + 0.34 * near * near + Math.max(0, -wave) * 0.7 * near
      const ribbon = sample(tile, u * across * 1.1 + 40, depth * 5.2) - 0.5
      const streak = step(0.16, 0.3, ribbon * 0.8 + wave * 0.45) * (0.12 + 0.28 * (1 - near)) * (light.time === 'night' ? 0.5 : 1)
      const at = (y * canvas.width + x) * 3
      for (let part = 0; part < 3; part++) {
        const own = (seen[part] ?? 0) * (1 - dim) + (deep[part] ?? 0) * dim
        canvas.data[at + part] = own + ((bright[part] ?? 0) - own) * streak
      }
    }
  }
}
