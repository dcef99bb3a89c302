/** Trees, leaves, stars, reeds. */
import type { Random } from './random.ts'
import { d, ellipse, group, path, type Point, type Sheet } from './svg.ts'
import { glow } from './surface.ts'

export function stars(sheet: Sheet, rng: Random, count: number, depth: number): string {
  const parts: string[] = []
  for (let star = 0; star < count; star++) {
    const x = rng.range(0, sheet.width)
    const y = depth * rng.next() ** 1.5
    const size = 0.5 + rng.next() ** 5 * 1.7
    const fade = 1 - y / depth
    parts.push(
      ellipse(x, y, size, size, { fill: rng.pick(['#fff', '#dfe6ff', '#fff0d4']), opacity: (0.25 + 0.75 * rng.next()) * fade }),
    )
    if (size > 1.6) parts.push(glow(sheet, x, y, 9, '#cdd8ff', 0.5 * fade))
  }
  return group({}, ...parts)
}

export interface Tree {
  x: number
  y: number
  tall: number
  spread: number
  bark: string
  leaves: readonly [string, ...string[]]
  /** Leaves per twig. */
  thick: number
  leaf: number
  depth?: number
}

/** A tree made by repeated forking, with leaves in loose clumps at the tips. */
export function tree(rng: Random, look: Tree): string {
  const { bark, leaves, thick, leaf, depth = 7 } = look
  const wood: string[] = []
  const crown: string[] = []
  const grow = ([x, y]: Point, angle: number, length: number, width: number, left: number): void => {
    const bend = angle + rng.range(-0.12, 0.12)
    const end: Point = [x + Math.cos(bend) * length, y + Math.sin(bend) * length]
    const middle: Point = [x + Math.cos(angle) * length * 0.5, y + Math.sin(angle) * length * 0.5]
    wood.push(path(d`M${x} ${y}Q${middle[0]} ${middle[1]} ${end[0]} ${end[1]}`, { 'stroke-width': width }))
    if (left <= 2) {
      for (let count = 0; count < thick; count++) {
        const lx = end[0] + rng.range(-1, 1) * length * 0.9
        const ly = end[1] + rng.range(-1, 1) * length * 0.9
        const size = leaf * rng.range(0.6, 1.4)
        crown.push(
          ellipse(lx, ly, size, size * 0.55, {
            fill: rng.pick(leaves),
            opacity: rng.range(0.6, 1),
            transform: `rotate(${Math.round(rng.range(0, 180))} ${Math.round(lx)} ${Math.round(ly)})`,
          }),
        )
      }
    }
    if (left === 0) return
    for (const side of [-1, 1])
      grow(end, bend + side * rng.range(0.16, look.spread), length * rng.range(0.68, 0.86), width * 0.68, left - 1)
  }
  grow([look.x, look.y], -Math.PI / 2, look.tall * 0.27, look.tall * 0.045, depth)
  return group({}, group({ fill: 'none', stroke: bark, 'stroke-linecap': 'round' }, ...wood), ...crown)
}

/** Blades of grass along a bank. */
export function grass(
  rng: Random,
  from: number,
  to: number,
  ground: (x: number) => number,
  tall: number,
  colours: readonly [string, ...string[]],
  step = 3,
): string {
  const parts: string[] = []
  for (let x = from; x < to; x += rng.range(step * 0.5, step * 1.5)) {
    const h = tall * rng.range(0.35, 1)
    const lean = rng.range(-0.5, 0.5) * h
    const y = ground(x) + 4
    parts.push(
      path(
        d`M${x - 1.6} ${y}Q${x + lean * 0.2} ${y - h * 0.6} ${x + lean} ${y - h}Q${x + lean * 0.3 + 1.5} ${y - h * 0.5} ${x + 1.8} ${y}Z`,
        { fill: rng.pick(colours) },
      ),
    )
  }
  return group({}, ...parts)
}
