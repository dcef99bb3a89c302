import { shift, type Lch } from '../colour/oklch.ts'
import { withChance, type Pen } from '../drawing/pen.ts'
import { addShapes, type Stage } from '../drawing/stage.ts'
import { ellipse, line, path, short, type Point } from '../drawing/svg.ts'
import { ground, heightAt, swell } from '../drawing/terrain.ts'

const GRASS: Lch = [0.42, 0.085, 138]

/** Tufts of grass along a line. Nearer blades are taller. */
export function grass(pen: Pen, along: readonly Point[], height: number, count: number, colour: string): string {
  const { random, frame } = pen
  if (pen.hand.angular) return ''
  let d = ''
  for (let blade = 0; blade < count; blade++) {
    const x = random.between(-10, frame.width + 10)
    const y = heightAt(along, x) + 5
    const tall = height * random.between(0.35, 1)
    const lean = random.around(0, tall * 0.45)
    const half = Math.max(0.7, tall * 0.045)
    d += `M${short(x - half)} ${short(y)}Q${short(x)} ${short(y - tall * 0.6)} ${short(x + lean)} ${short(y - tall)}Q${short(x + half * 1.4)} ${short(y - tall * 0.55)} ${short(x + half)} ${short(y)}Z`
  }
  return path(d, colour, { stroke: 'none' })
}

/** Reeds and bulrushes in one corner. */
export function reeds(pen: Pen, x: number, y: number, height: number, count: number): string {
  const { random } = pen
  const stalk = pen.tint([0.32, 0.06, 130], 0.97)
  const head = pen.tint([0.3, 0.06, 50], 0.97)
  return Array.from({ length: count }, () => {
    const foot = x + random.around(0, height * 0.8)
    const tall = height * random.between(0.5, 1)
    const tip: Point = [foot + random.around(0, tall * 0.22), y - tall]
    const bend = `M${short(foot)} ${short(y)}Q${short(foot)} ${short(y - tall * 0.5)} ${short(tip[0])} ${short(tip[1])}`
    return (
      line(bend, stalk, Math.max(0.9, tall * 0.014), { 'stroke-linecap': 'round' }) +
      (random.chance(0.45) ? ellipse(tip[0], tip[1] - 2, tall * 0.02, tall * 0.1, head, { stroke: 'none' }) : '')
    )
  }).join('')
}

/** The bank in the foreground, which closes the picture at the bottom. */
export function addNearBank(stage: Stage, level: number, own: Lch = GRASS): readonly Point[] {
  const pen = withChance(stage.pen, 'bank')
  const { frame } = pen
  const snow = stage.reading.snow
  const colour: Lch = snow ? [0.88, 0.025, 245] : shift(own, -0.1)
  const bank = swell(pen, frame.height * level, 13, 0.55)
  const dark = pen.tint(shift(colour, -0.07), 1)
  addShapes(
    stage,
    0.98,
    grass(pen, bank, frame.height * 0.045, Math.round(frame.width * 0.34), pen.tint(snow ? [0.5, 0.03, 90] : colour, 1)) +
      path(ground(pen, bank), pen.tint(colour, 1)) +
      grass(
        pen,
        bank.map(([x, y]): Point => [x, y + 26]),
        frame.height * 0.05,
        Math.round(frame.width * 0.2),
        dark,
      ),
  )
  return bank
}
