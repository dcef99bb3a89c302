import type { Random } from '../random.ts'
import type { Pen } from './pen.ts'
import type { Point } from './svg.ts'
import { smooth, straight } from './svg.ts'

/**
 * Displaces the middle of each edge of a line repeatedly, by a share of its length, which makes it look like rock or
 * a shore.
 */
export function roughen(random: Random, points: readonly Point[], share: number, shortest: number): Point[] {
  let line = [...points]
  for (let round = 0; round < 7; round++) {
    const next: Point[] = []
    let broken = false
    for (const [index, from] of line.entries()) {
      next.push(from)
      const to = line[index + 1]
      if (!to) continue
      const length = Math.hypot(to[0] - from[0], to[1] - from[1])
      if (length < shortest) continue
      broken = true
      const t = random.between(0.35, 0.65)
      next.push([from[0] + (to[0] - from[0]) * t, from[1] + (to[1] - from[1]) * t + random.around(0, length * share)])
    }
    line = next
    if (!broken) break
  }
  return line
}

/** Rolling ground: a few long waves and some short ones. */
export function swell(pen: Pen, y: number, height: number, turns: number): Point[] {
  const { random, frame } = pen
  const waves = [1, 2.3, 4.1].map((factor, index) => ({
    factor,
    phase: random.between(0, 7),
    height: height / (1 + index * 2.2),
  }))
  const count = pen.hand.angular ? 8 : 28
  return Array.from({ length: count + 1 }, (_, index) => {
    const x = -20 + ((frame.width + 40) * index) / count
    const lift = waves.reduce(
      (sum, wave) => sum + wave.height * Math.sin((x / frame.width) * turns * wave.factor * 6.283 + wave.phase),
      0,
    )
    return [x, y + lift] as const
  })
}

/** The land below a line, down to the bottom of the sheet. */
export function ground(pen: Pen, points: readonly Point[], soft = true): string {
  const { width, height } = pen.frame
  const top = soft ? smooth(points) : straight(points, false)
  return `${top}L${width + 30} ${height + 30}L-30 ${height + 30}Z`
}

/** The line's height at x. */
export function heightAt(points: readonly Point[], x: number): number {
  for (const [index, to] of points.entries()) {
    const from = points[index - 1]
    if (from && to[0] >= x) return from[1] + ((to[1] - from[1]) * (x - from[0])) / Math.max(0.001, to[0] - from[0])
  }
  return points.at(-1)?.[1] ?? 0
}
