import type { Pen } from '../drawing/pen.ts'
import { group, path, short } from '../drawing/svg.ts'

/** A flock on the wing, in a loose line. */
export function flock(pen: Pen, x: number, y: number, size: number, count: number, white = false): string {
  const { random } = pen
  const colour = white ? pen.tint([0.96, 0.01, 90], 0.8) : pen.tint([0.25, 0.03, 260], 0.75)
  const way = random.pick([-1, 1])
  const birds = Array.from({ length: count }, (_, index) => {
    const along = index - count / 3
    const span = size * random.between(0.7, 1.15)
    return wings(
      x + way * along * size * 1.5 + random.around(0, size * 0.7),
      y + Math.abs(along) * size * 0.6 + random.around(0, size * 0.8),
      span,
      random.between(0.25, 0.75),
      random.around(0, 0.2),
    )
  })
  return group({ stroke: 'none' }, path(birds.join(''), colour))
}

function wings(x: number, y: number, span: number, lift: number, lean: number): string {
  const s = short
  const up = span * 0.42 * lift
  const thick = span * 0.075
  const left = y - up * (1 + lean)
  const right = y - up * (1 - lean)
  return `M${s(x - span / 2)} ${s(left)}Q${s(x - span * 0.22)} ${s(left - up * 0.45)} ${s(x)} ${s(y)}Q${s(x + span * 0.22)} ${s(right - up * 0.45)} ${s(x + span / 2)} ${s(right)}Q${s(x + span * 0.2)} ${s(right + thick * 0.2)} ${s(x)} ${s(y + thick * 1.7)}Q${s(x - span * 0.2)} ${s(left + thick * 0.2)} ${s(x - span / 2)} ${s(left)}Z`
}
