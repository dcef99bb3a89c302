import { mix, shift, type Lch } from '../colour/oklch.ts'
import { withChance, type Pen } from '../drawing/pen.ts'
import { addShapes, type Stage } from '../drawing/stage.ts'
import { circle, line, path, rect, short, smooth, straight, type Point } from '../drawing/svg.ts'

/** No nameable object: planes, arcs and one heavy circle in balance. */
export function drawAbstract(stage: Stage): void {
  const { pen } = stage
  const { random, frame } = pen
  const colours = harmony(pen)
  addShapes(stage, 0, rect(-10, -10, frame.width + 20, frame.height + 20, pen.pure(shift(colours[4], 0.03, 0.7))))
  const way = random.pick([addStrata, addTiles, addOrbits])
  way(stage, colours)
  stage.words.unshift(
    way === addStrata
      ? 'an abstract composition of flowing bands'
      : way === addTiles
        ? 'an abstract composition of arcs on a grid'
        : 'an abstract composition of circles and lines',
  )
}

/** A dark colour, two strong ones, a middle one and a pale one. Each set was chosen by eye. */
type Harmony = readonly [Lch, Lch, Lch, Lch, Lch]

const HARMONIES: readonly Harmony[] = [
  [
    [0.32, 0.09, 262],
    [0.58, 0.09, 200],
    [0.82, 0.14, 82],
    [0.68, 0.17, 32],
    [0.93, 0.04, 88],
  ],
  [
    [0.33, 0.09, 330],
    [0.66, 0.06, 150],
    [0.72, 0.13, 10],
    [0.74, 0.16, 55],
    [0.9, 0.045, 80],
  ],
  [
    [0.36, 0.07, 165],
    [0.78, 0.07, 230],
    [0.78, 0.14, 88],
    [0.57, 0.15, 36],
    [0.89, 0.05, 30],
  ],
  [
    [0.27, 0.05, 270],
    [0.5, 0.17, 262],
    [0.86, 0.1, 92],
    [0.63, 0.2, 30],
    [0.92, 0.03, 225],
  ],
  [
    [0.36, 0.11, 305],
    [0.74, 0.1, 300],
    [0.82, 0.14, 75],
    [0.62, 0.19, 350],
    [0.88, 0.065, 165],
  ],
  [
    [0.34, 0.06, 225],
    [0.62, 0.1, 185],
    [0.8, 0.08, 60],
    [0.66, 0.14, 45],
    [0.93, 0.035, 100],
  ],
]

/** A set turned a little, and darker by night. */
function harmony(pen: Pen): Harmony {
  const turn = pen.random.around(0, 10)
  const dim = pen.light.time === 'night' ? -0.09 : pen.light.time === 'dusk' ? -0.03 : 0
  const tune = ([l, c, h]: Lch): Lch => [l + dim * (l > 0.5 ? 1 : 0.4), c, (h + turn + pen.light.ambient.pull * 20 + 360) % 360]
  const [a, b, c, d, e] = pen.random.pick(HARMONIES)
  return [tune(a), tune(b), tune(c), tune(d), tune(e)]
}

function addStrata(stage: Stage, colours: Harmony): void {
  const pen = withChance(stage.pen, 'strata')
  const { random, frame } = pen
  const bands = random.whole(8, 10)
  const phase = random.between(0, 6)
  addDisc(stage, pen, colours, 0.34)
  for (let band = 0; band < bands; band++) {
    const t = (band + 1) / (bands + 0.4)
    const points = Array.from({ length: 9 }, (_, index): Point => {
      const u = index / 8
      const lift = Math.sin(u * 5.2 + phase + band * 0.42) * 0.1 + Math.sin(u * 9.1 - phase * 2 + band * 0.8) * 0.035
      return [-30 + (frame.width + 60) * u, frame.height * (0.26 + t * 0.74 + lift * (1 - t * 0.35))]
    })
    const edge = pen.hand.angular ? straight(points, false) : smooth(points)
    const colour = mix(colours[band % 5] ?? colours[0], colours[(band + 2) % 5] ?? colours[0], random.between(0, 0.35))
    const seam = band % 3 === 1 ? line(edge, pen.pure(shift(colours[4], 0.06)), 3.4) : ''
    addShapes(stage, 0.2 + t * 0.75, path(`${edge}V${short(frame.height + 30)}H-30Z`, pen.pure(colour)) + seam)
  }
}

/** The focal circle, with a ring about it. */
function addDisc(stage: Stage, pen: Pen, colours: Harmony, level: number): void {
  const { frame } = pen
  const radius = Math.min(frame.width, frame.height) * 0.17
  const y = frame.height * level
  addShapes(
    stage,
    0.16,
    circle(stage.focus, y, radius * 1.34, 'none', { stroke: pen.pure(colours[1]), 'stroke-width': 3 }) +
      circle(stage.focus, y, radius, pen.pure(colours[3])),
  )
}

function addTiles(stage: Stage, colours: Harmony): void {
  const pen = withChance(stage.pen, 'tiles')
  const { random, frame } = pen
  const rows = frame.height > frame.width ? 6 : 4
  const size = frame.height / rows
  const columns = Math.ceil(frame.width / size)
  const left = (frame.width - columns * size) / 2
  const focusColumn = Math.round((stage.focus - left) / size - 0.5)
  const focusRow = Math.floor(rows / 2) - 1
  const tiles: string[] = []
  const shapes: string[] = []
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const x = left + column * size
      const y = row * size
      const inFocus = (column === focusColumn || column === focusColumn + 1) && (row === focusRow || row === focusRow + 1)
      const [under, over] = [random.pick(colours), random.pick(colours)]
      tiles.push(
        rect(x - 0.5, y - 0.5, size + 1, size + 1, pen.pure(random.chance(0.4) ? shift(colours[4], 0.07, 0.5) : under), {
          stroke: 'none',
        }),
      )
      if (!inFocus)
        shapes.push(tile(pen, x, y, size, over === under ? shift(over, 0.14) : over, shift(random.pick(colours), 0.05)))
    }
  }
  const x = left + (focusColumn + 1) * size
  const y = (focusRow + 1) * size
  addShapes(stage, 0.2, tiles.join(''))
  addShapes(stage, 0.5, shapes.join(''))
  addShapes(stage, 0.7, circle(x, y, size * 0.98, pen.pure(colours[0])))
  addShapes(
    stage,
    0.8,
    circle(x, y, size * 0.66, pen.pure(colours[3])) +
      path(
        `M${short(x - size * 0.66)} ${short(y)}A${short(size * 0.66)} ${short(size * 0.66)} 0 0 1 ${short(x + size * 0.66)} ${short(y)}Z`,
        pen.pure(colours[4]),
        { stroke: 'none' },
      ),
  )
}

function tile(pen: Pen, x: number, y: number, size: number, colour: Lch, second: Lch): string {
  const s = short
  const fill = pen.pure(colour)
  const other = pen.pure(second)
  const kind = pen.random.whole(0, 6)
  if (kind === 0) return path(`M${s(x)} ${s(y)}H${s(x + size)}A${s(size)} ${s(size)} 0 0 1 ${s(x)} ${s(y + size)}Z`, fill)
  if (kind === 1)
    return (
      path(`M${s(x + size)} ${s(y + size)}H${s(x)}A${s(size)} ${s(size)} 0 0 1 ${s(x + size)} ${s(y)}Z`, fill) +
      path(
        `M${s(x + size)} ${s(y + size)}H${s(x + size * 0.5)}A${s(size * 0.5)} ${s(size * 0.5)} 0 0 1 ${s(x + size)} ${s(y + size * 0.5)}Z`,
        other,
      )
    )
  if (kind === 2)
    return circle(x + size / 2, y + size / 2, size * 0.36, fill) + circle(x + size / 2, y + size / 2, size * 0.14, other)
  if (kind === 3)
    return path(
      straight([
        [x, y],
        [x + size, y],
        [x, y + size],
      ]),
      fill,
    )
  if (kind === 4)
    return (
      path(`M${s(x)} ${s(y)}A${s(size / 2)} ${s(size / 2)} 0 0 0 ${s(x + size)} ${s(y)}Z`, fill) +
      path(`M${s(x)} ${s(y + size)}A${s(size / 2)} ${s(size / 2)} 0 0 1 ${s(x + size)} ${s(y + size)}Z`, other)
    )
  if (kind === 5) return [0.12, 0.37, 0.62, 0.87].map((at) => rect(x, y + size * (at - 0.06), size, size * 0.12, fill)).join('')
  return ''
}

function addOrbits(stage: Stage, colours: Harmony): void {
  const pen = withChance(stage.pen, 'orbits')
  const { random, frame } = pen
  const small = Math.min(frame.width, frame.height)
  const across = frame.width - stage.focus
  const slab: Point[] = [
    [-40, frame.height * random.between(0.62, 0.8)],
    [frame.width + 40, frame.height * random.between(0.45, 0.66)],
    [frame.width + 40, frame.height + 40],
    [-40, frame.height + 40],
  ]
  addShapes(stage, 0.2, path(straight(slab), pen.pure(colours[2])))
  addShapes(stage, 0.34, circle(across, frame.height * 0.62, small * 0.3, pen.pure(colours[1])))
  addShapes(stage, 0.46, circle(stage.focus, frame.height * 0.4, small * 0.27, pen.pure(colours[3])))
  addShapes(stage, 0.56, circle(stage.focus - small * 0.1, frame.height * 0.46, small * 0.15, pen.pure(colours[0])))
  const rings = [0.33, 0.4, 0.48].map((share, index) =>
    circle(stage.focus, frame.height * 0.4, small * share, 'none', {
      stroke: pen.pure(colours[index === 1 ? 4 : 0]),
      'stroke-width': index === 1 ? 9 : 2.4,
    }),
  )
  addShapes(stage, 0.66, rings.join(''))
  const beams = Array.from({ length: 5 }, (_, index) => {
    const angle = random.between(0.1, 0.5) + index * 0.21
    const reach = Math.hypot(frame.width, frame.height)
    const from: Point = [across - Math.cos(angle) * reach, frame.height * 0.62 + Math.sin(angle) * reach]
    const to: Point = [across + Math.cos(angle) * reach * 0.6, frame.height * 0.62 - Math.sin(angle) * reach * 0.6]
    return line(
      straight([from, to], false),
      pen.pure(colours[(index * 2) % 5] ?? colours[0]),
      index === 2 ? 15 : random.between(2, 5),
    )
  })
  addShapes(stage, 0.76, beams.join(''))
  const beads = Array.from({ length: 11 }, (_, index) => {
    const angle = index * 0.57 + random.around(0, 0.3)
    const reach = small * random.pick([0.33, 0.4, 0.48])
    return circle(
      stage.focus + Math.cos(angle) * reach,
      frame.height * 0.4 + Math.sin(angle) * reach,
      random.between(6, 22),
      pen.pure(random.pick(colours)),
    )
  })
  const wedge = path(
    `M${short(across)} ${short(frame.height * 0.62)}L${short(across + small * 0.3)} ${short(frame.height * 0.62)}A${short(small * 0.3)} ${short(small * 0.3)} 0 0 1 ${short(across)} ${short(frame.height * 0.62 + small * 0.3)}Z`,
    pen.pure(colours[4]),
  )
  addShapes(stage, 0.88, wedge + beads.join(''))
}
