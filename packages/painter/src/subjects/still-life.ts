import { mix, shift, type Lch } from '../colour/oklch.ts'
import { shade, withChance } from '../drawing/pen.ts'
import { addShapes, type Stage } from '../drawing/stage.ts'
import { line, path, rect, short, straight, type Point } from '../drawing/svg.ts'
import { flower, PETALS, KINDS, type Kind } from '../motifs/flowers.ts'
import { addRoom } from './still-life-room.ts'
import { BOTTLE, BOWL, fruit, JUG, tableShadow, turned, VASE } from '../motifs/table.ts'

const CLAYS: readonly Lch[] = [
  [0.56, 0.1, 40],
  [0.52, 0.09, 245],
  [0.84, 0.035, 85],
  [0.5, 0.07, 175],
  [0.42, 0.05, 290],
]
/** A vase of flowers and fruit on a table, in the light of a window. */
export function drawStillLife(stage: Stage): void {
  const { pen } = stage
  const { frame, random } = pen
  const edge = frame.height * 0.66
  addRoom(stage, edge)
  addTable(stage, edge)
  const x = stage.focus
  const clay = random.pick(CLAYS)
  addVase(stage, x, frame.height * 0.84, clay)
  addFruit(stage, x, frame.height, random.pick(CLAYS.filter((own) => own !== clay)))
  stage.words.unshift('a still life', 'a vase of flowers', 'fruit on a table', 'a window')
}

function addTable(stage: Stage, edge: number): void {
  const pen = withChance(stage.pen, 'table')
  const { frame, random } = pen
  const wood = random.pick<Lch>([
    [0.5, 0.08, 55],
    [0.44, 0.07, 45],
    [0.58, 0.07, 70],
  ])
  const fill = shade(pen, edge, frame.height, [
    [0, pen.tint(shift(wood, 0.08), 0.94)],
    [1, pen.tint(shift(wood, -0.08), 0.98)],
  ])
  const seams = Array.from({ length: 7 }, (_, index) => {
    const x = frame.width * (index / 6)
    return `M${short(frame.width / 2 + (x - frame.width / 2) * 0.9)} ${short(edge)}L${short(frame.width / 2 + (x - frame.width / 2) * 1.5)} ${short(frame.height + 10)}`
  })
  const figure = Array.from({ length: 60 }, () => {
    const y = edge + 8 + random.next() * (frame.height - edge)
    const x = random.between(-20, frame.width)
    return `M${short(x)} ${short(y)}q${short(random.between(20, 70))} ${short(random.around(0, 3))} ${short(random.between(60, 160))} 0`
  })
  const parts = [
    fill.defs,
    rect(-10, edge, frame.width + 20, frame.height - edge + 10, fill.fill),
    line(figure.join(''), pen.tint(shift(wood, -0.07), 0.96), 1.4, { opacity: pen.hand.angular ? 0 : 0.4 }),
    line(seams.join(''), pen.tint(shift(wood, -0.13), 0.96), 2, { opacity: 0.6 }),
    rect(-10, edge - 3, frame.width + 20, 7, pen.tint(shift(wood, 0.14), 0.95), { stroke: 'none', opacity: 0.7 }),
  ]
  addShapes(stage, 0.6, parts.join(''))
}

function addVase(stage: Stage, x: number, base: number, clay: Lch): void {
  const pen = withChance(stage.pen, 'vase')
  const { frame, random } = pen
  const size = frame.height * 0.33
  const mouth: Point = [x, base - size * 0.96]
  const asked = KINDS.filter((kind) => stage.reading.flowers.has(kind))
  const kinds: Kind[] =
    asked.length > 0
      ? asked
      : [
          random.pick(['poppy', 'cosmos', 'tulip', 'sunflower'] as const),
          'daisy',
          random.pick(['cornflower', 'lavender'] as const),
        ]
  const stems = Array.from({ length: 19 }, (_, index) => {
    const t = index / 18 - 0.5
    const kind = kinds[index % kinds.length] ?? 'daisy'
    const reach = frame.height * random.between(0.15, 0.32) * (1 - Math.abs(t) * 0.55)
    const to: Point = [mouth[0] + t * frame.height * 0.42 + random.around(0, 16), mouth[1] - reach]
    const stalk = line(
      `M${short(mouth[0] + t * 24)} ${short(mouth[1] + 12)}Q${short(mouth[0] + t * 36)} ${short(mouth[1] - reach * 0.5)} ${short(to[0])} ${short(to[1])}`,
      pen.tint([0.44, 0.09, 138], 0.9),
      3,
    )
    return {
      y: to[1],
      stalk,
      blossom: flower(pen, {
        x: to[0],
        y: to[1] + 6,
        stem: 8,
        size: frame.height * random.between(0.07, 0.11),
        depth: 0.95,
        colour: random.pick(PETALS[kind]),
        kind,
      }),
    }
  }).sort((a, b) => a.y - b.y)
  const leaves = Array.from({ length: 9 }, () => {
    const t = random.around(0, 0.5)
    const tip: Point = [mouth[0] + t * frame.height * 0.5, mouth[1] - frame.height * random.between(0.03, 0.16)]
    return path(
      `M${short(mouth[0])} ${short(mouth[1] + 8)}Q${short(mouth[0] + t * 40)} ${short(tip[1])} ${short(tip[0])} ${short(tip[1])}Q${short(tip[0] - t * 20)} ${short(mouth[1] + 4)} ${short(mouth[0])} ${short(mouth[1] + 8)}Z`,
      pen.tint(shift([0.42, 0.085, 142], random.around(0, 0.05)), 0.92),
    )
  })
  const body = turned(pen, x, base, size, random.chance(0.5) ? VASE : JUG, clay, 0.96)
  addShapes(
    stage,
    0.8,
    tableShadow(pen, x, base, size * 0.62, 0.9) +
      stems.map(({ stalk }) => stalk).join('') +
      leaves.join('') +
      stems.map(({ blossom }) => blossom).join('') +
      body,
  )
}

function addFruit(stage: Stage, focus: number, height: number, clay: Lch): void {
  const pen = withChance(stage.pen, 'fruit')
  const { frame, random } = pen
  const way = focus > frame.width / 2 ? -1 : 1
  const bowlX = focus + way * frame.width * 0.27
  const base = height * 0.9
  const size = height * 0.11
  const kinds = ['apple', 'orange', 'pear', 'lemon'] as const
  const places: [u: number, v: number][] = [
    [-0.75, 0.36],
    [0.75, 0.36],
    [0, 0.42],
    [-0.35, 0.95],
    [0.42, 0.9],
  ]
  const heap = places.map(([u, v]) =>
    fruit(pen, bowlX + u * size * 1.02, base - height * 0.105 + size * 0.62 - v * size * 0.82, size, random.pick(kinds), 0.97),
  )
  const bowl = turned(pen, bowlX, base, height * 0.36, BOWL, clay, 0.97)
  const bottle = random.chance(0.6)
    ? turned(
        pen,
        focus + way * frame.width * 0.11,
        height * 0.79,
        height * 0.34,
        BOTTLE,
        mix([0.42, 0.08, 150], [0.45, 0.08, 60], random.next()),
        0.9,
      )
    : ''
  const loose = [
    [0.13, 0.95, 'lemon'],
    [-0.12, 0.93, 'apple'],
    [-0.2, 0.955, 'pear'],
  ] as const
  const cloth = path(
    straight([
      [focus - way * frame.width * 0.34, height * 0.87],
      [focus + way * frame.width * 0.03, height * 0.92],
      [focus + way * frame.width * 0.05, height + 20],
      [focus - way * frame.width * 0.42, height + 20],
    ]),
    pen.tint([0.93, 0.02, 85], 0.97),
    { opacity: 0.95 },
  )
  const around = loose.map(
    ([share, y, kind]) =>
      tableShadow(pen, focus + way * frame.width * share, height * y, size, 1) +
      fruit(pen, focus + way * frame.width * share, height * y, size * (kind === 'lemon' ? 0.72 : 0.95), kind, 1),
  )
  addShapes(stage, 0.72, bottle && tableShadow(pen, focus + way * frame.width * 0.11, height * 0.79, height * 0.12, 0.9) + bottle)
  addShapes(stage, 0.82, cloth)
  addShapes(stage, 0.92, tableShadow(pen, bowlX, base, height * 0.36, 1) + heap.join('') + bowl)
  addShapes(stage, 0.98, around.join(''))
}
