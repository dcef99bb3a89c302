import { toRgb, type Lch } from '../colour/oklch.ts'
import type { Frame } from '../drawing/frame.ts'
import type { Glow } from '../drawing/picture.ts'
import { step, type Canvas, type Plane } from './canvas.ts'
import { sample } from './noise.ts'

/** A bank of mist: thickest at the bottom, with a ragged upper edge. */
export function paintMist(
  canvas: Canvas,
  frame: Frame,
  bank: { y: number; height: number; strength: number },
  colour: Lch,
  tile: Plane,
): void {
  const tone = toRgb(colour)
  const top = Math.max(0, Math.floor((bank.y - bank.height) * frame.scale))
  const bottom = Math.min(canvas.height, Math.ceil((bank.y + bank.height * 0.7) * frame.scale))
  for (let y = top; y < bottom; y++) {
    const v = y / frame.scale
    const level = (v - bank.y) / bank.height
    const body = level < 0 ? step(-1, 0, level) : 1 - step(0, 0.7, level)
    for (let x = 0; x < canvas.width; x++) {
      const torn = sample(tile, (x / frame.scale) * 0.32, v * 1.1)
      const share = bank.strength * body * (0.35 + 1.1 * step(0.25, 0.75, torn))
      if (share <= 0.003) continue
      blend(canvas, (y * canvas.width + x) * 3, tone, Math.min(1, share))
    }
  }
}

/** Light is added to the picture and never darkens it. */
export function paintGlow(canvas: Canvas, frame: Frame, glow: Glow): void {
  const colour = toRgb(glow.colour)
  const centreX = glow.x * frame.scale
  const centreY = glow.y * frame.scale
  const reach = glow.radius * frame.scale
  const left = Math.max(0, Math.floor(centreX - reach))
  const right = Math.min(canvas.width, Math.ceil(centreX + reach))
  for (let y = Math.max(0, Math.floor(centreY - reach)); y < Math.min(canvas.height, centreY + reach); y++) {
    for (let x = left; x < right; x++) {
      const far = Math.hypot(x - centreX, y - centreY) / reach
      if (far >= 1) continue
      const share = glow.strength * ((1 - far) ** 3 * 0.65 + Math.exp(-far * far * 30) * 0.35)
      const at = (y * canvas.width + x) * 3
      for (let part = 0; part < 3; part++) {
        const under = canvas.data[at + part] ?? 0
        canvas.data[at + part] = under + (1 - under) * (colour[part] ?? 0) * share
      }
    }
  }
}

export function blend(canvas: Canvas, at: number, colour: ArrayLike<number>, share: number): void {
  for (let part = 0; part < 3; part++) {
    const under = canvas.data[at + part] ?? 0
    canvas.data[at + part] = under + ((colour[part] ?? 0) - under) * share
  }
}
