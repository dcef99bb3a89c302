import type { Frame } from '../drawing/frame.ts'
import type { Random } from '../random.ts'
import type { Canvas } from './canvas.ts'
import { createTile, grain, sample } from './noise.ts'

export type Coat = { brush: number; grain: number; vignette: number }

/** The last coat: broad brush marks, the paper's grain, and slightly darker corners. */
export function finish(canvas: Canvas, frame: Frame, random: Random, coat: Coat): void {
  const brush = createTile(random.fork('brush'), 8, 5)
  const paper = createTile(random.fork('paper'), 256, 2)
  const { width, height, data } = canvas
  for (let y = 0; y < height; y++) {
    const v = y / frame.scale
    for (let x = 0; x < width; x++) {
      const u = x / frame.scale
      const marks = (sample(brush, u * 0.3, v * 1.5) - 0.5) * coat.brush
      const fibre = (grain(paper, x, y) - 0.5) * coat.grain
      const dx = x / width - 0.5
      const dy = y / height - 0.5
      const corner = 1 - coat.vignette * Math.max(0, (dx * dx + dy * dy) * 2 - 0.34)
      const at = (y * width + x) * 3
      for (let part = 0; part < 3; part++) {
        const value = data[at + part] ?? 0
        // Only mid-tones take the marks; black and white stay clean.
        const room = 0.3 + 2.8 * value * (1 - value)
        data[at + part] = (value + (marks + fibre) * room) * corner
      }
    }
  }
}
