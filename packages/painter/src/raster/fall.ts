import { toRgb } from '../colour/oklch.ts'
import type { Picture } from '../drawing/picture.ts'
import { blend } from './air.ts'
import type { Canvas } from './canvas.ts'

/**
 * Rain or snow between the viewer and the scene: a few large flakes or drops nearby, most of them small and far away.
 */
export function paintFall(canvas: Canvas, picture: Picture, what: 'rain' | 'snow'): void {
  const { frame } = picture
  const random = picture.random.fork(what)
  const colour = toRgb(what === 'rain' ? [0.86, 0.02, 240] : [0.99, 0.005, 240])
  const count = what === 'rain' ? 900 : 620
  for (let drop = 0; drop < count; drop++) {
    const near = random.next() ** 3
    const x = random.between(-40, frame.width + 40) * frame.scale
    const y = random.between(-40, frame.height) * frame.scale
    if (what === 'snow') paintFlake(canvas, x, y, (0.8 + near * 5) * frame.scale, 0.9 - near * 0.35, colour)
    else paintStreak(canvas, x, y, (14 + near * 52) * frame.scale, (0.35 + near * 0.6) * frame.scale, 0.13 + near * 0.2, colour)
  }
}

function paintFlake(canvas: Canvas, x: number, y: number, radius: number, strength: number, colour: ArrayLike<number>): void {
  for (let row = Math.max(0, Math.floor(y - radius)); row <= Math.min(canvas.height - 1, y + radius); row++) {
    for (let column = Math.max(0, Math.floor(x - radius)); column <= Math.min(canvas.width - 1, x + radius); column++) {
      const far = Math.hypot(column - x, row - y) / radius
      if (far < 1) blend(canvas, (row * canvas.width + column) * 3, colour, strength * Math.min(1, (1 - far) * 2.2))
    }
  }
}

function paintStreak(
  canvas: Canvas,
  x: number,
  y: number,
  length: number,
  width: number,
  strength: number,
  colour: ArrayLike<number>,
): void {
  for (let along = 0; along < length; along++) {
    const row = Math.round(y + along)
    if (row < 0 || row >= canvas.height) continue
    const centre = x - along * 0.16
    const fade = Math.sin((along / length) * Math.PI)
    for (let column = Math.floor(centre - width); column <= Math.ceil(centre + width); column++) {
      if (column < 0 || column >= canvas.width) continue
      const cover = Math.max(0, 1 - Math.abs(column - centre) / (width + 0.5))
      blend(canvas, (row * canvas.width + column) * 3, colour, strength * fade * cover)
    }
  }
}
