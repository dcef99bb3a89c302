import { withChance } from '../drawing/pen.ts'
import { addShapes, type Stage } from '../drawing/stage.ts'
import { flock } from '../motifs/birds.ts'
import { balloon } from '../motifs/dwellings.ts'
import { together } from '../motifs/drawn.ts'

/** Birds over the scene: if requested, or by chance in scenes that suit them. */
export function addBirds(stage: Stage, likely: boolean): void {
  const pen = withChance(stage.pen, 'flock')
  const asked = stage.reading.extras.has('birds')
  if (!asked && (!likely || pen.random.chance(0.45) || pen.light.time === 'night')) return
  const { frame, random } = pen
  const x = frame.width * (stage.focus > frame.width / 2 ? random.between(0.3, 0.5) : random.between(0.5, 0.7))
  const y = stage.horizon * random.between(0.3, 0.55)
  const size = asked ? 30 : 17
  addShapes(stage, 0.7, flock(pen, x, y, size, asked ? 11 : 6, pen.light.time === 'night'))
  stage.words.push('birds in the air')
}

/** Hot-air balloons, when asked for. */
export function addBalloons(stage: Stage): void {
  if (!stage.reading.extras.has('balloon')) return
  const pen = withChance(stage.pen, 'balloons')
  const { frame, random } = pen
  const small = Array.from({ length: 5 }, (_, index) =>
    balloon(
      pen,
      frame.width * ((0.08 + index * 0.21 + random.between(0, 0.08)) % 1),
      stage.horizon * random.between(0.22, 0.72),
      random.between(28, 54),
      0.62,
    ),
  )
  const main = balloon(pen, stage.focus, stage.horizon * 0.4, Math.min(frame.width, frame.height) * 0.24, 0.85)
  const far = together(...small)
  addShapes(stage, 0.5, far.body, far.glows)
  addShapes(stage, 0.74, main.body, main.glows)
  stage.words.push('hot-air balloons')
}
