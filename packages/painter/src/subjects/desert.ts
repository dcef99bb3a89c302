import { shift, type Lch } from '../colour/oklch.ts'
import { gradient, withChance, type Pen } from '../drawing/pen.ts'
import { addShapes, type Stage } from '../drawing/stage.ts'
import { line, path, short, smooth, straight, type Point } from '../drawing/svg.ts'
import { heightAt, roughen } from '../drawing/terrain.ts'
import { addSkyAndBodies } from '../motifs/sky.ts'
import { camel } from '../motifs/people.ts'
import { palm } from '../motifs/trees.ts'
import { addBalloons, addBirds } from './birds-and-balloons.ts'

const SANDS: readonly Lch[] = [
  [0.76, 0.11, 68],
  [0.72, 0.12, 52],
  [0.79, 0.09, 78],
  [0.68, 0.12, 42],
]

/** Dunes with sharp crests, one side lit and one in shade, and a caravan along the middle one. */
export function drawDesert(stage: Stage): void {
  const { pen, horizon } = stage
  const { frame, random } = pen
  const sand = random.pick(SANDS)
  addSkyAndBodies(stage)
  addBalloons(stage)
  addMesas(stage, sand)
  const levels = [0.02, 0.12, 0.27, 0.5]
  for (const [index, level] of levels.entries()) {
    const depth = 0.34 + index * 0.2
    const crest = addDune(stage, index, horizon + (frame.height - horizon) * level, depth, sand)
    if (index === 1) addCaravan(stage, crest)
    if (index === 2) addOasis(stage, crest)
  }
  addBirds(stage, false)
  stage.words.unshift('sand dunes', 'a caravan of camels')
}

function addMesas(stage: Stage, sand: Lch): void {
  const pen = withChance(stage.pen, 'mesas')
  const { frame, random } = pen
  const rock = shift(sand, -0.16, 1.05, -14)
  const mesas = Array.from({ length: 4 }, (_, index) => {
    const x = frame.width * (0.1 + index * 0.26) + random.around(0, 60)
    const width = random.between(60, 170)
    const top = stage.horizon - frame.height * random.between(0.04, 0.15)
    const outline: Point[] = [
      [x - width * 0.72, stage.horizon + 30],
      [x - width * 0.52, top + 26],
      [x - width * 0.46, top],
      [x + width * 0.44, top + 3],
      [x + width * 0.5, top + 30],
      [x + width * 0.74, stage.horizon + 30],
    ]
    const edge = pen.hand.angular ? outline : roughen(random, outline, 0.06, 9)
    const away = pen.light.side === -1 ? 1 : -1
    const shade = straight([
      [x + away * width * 0.1, top],
      [x + away * width * 0.45, top + 2],
      [x + away * width * 0.74, stage.horizon + 30],
      [x + away * width * 0.24, stage.horizon + 30],
    ])
    return path(straight(edge), pen.tint(rock, 0.26)) + path(shade, pen.tint(shift(rock, -0.07), 0.26), { stroke: 'none' })
  })
  addShapes(stage, 0.24, mesas.join(''))
}

/** A crest that winds towards the viewer divides the lit side from the shaded one. */
function addDune(stage: Stage, index: number, y: number, depth: number, sand: Lch): Point[] {
  const pen = withChance(stage.pen, `dune ${index}`)
  const { frame, random } = pen
  const count = pen.hand.angular ? 4 : 6
  const height = frame.height * (0.03 + index * 0.026)
  const crest = Array.from({ length: count + 1 }, (_, at): Point => [
    -60 + ((frame.width + 120) * at) / count,
    y + (at % 2 === index % 2 ? -height : height * 0.7) * random.between(0.6, 1.1),
  ])
  const top = pen.hand.angular ? straight(crest, false) : smooth(crest)
  const body = gradient(pen, { x1: 0, y1: y - height, x2: 0, y2: y + frame.height * 0.28 }, [
    [0, pen.tint(shift(sand, 0.06 - index * 0.02), depth)],
    [1, pen.tint(shift(sand, -0.07 - index * 0.02), depth)],
  ])
  const fill = pen.hand.flat ? pen.tint(shift(sand, 0.03 - index * 0.035), depth) : body.fill
  const parts = [body.defs, path(`${top}L${short(frame.width + 80)} ${short(frame.height + 20)}H-80Z`, fill)]
  for (const [at, peak] of crest.entries()) {
    const next = crest[at + (pen.light.side === -1 ? 1 : -1)]
    if (next && next[1] > peak[1])
      parts.push(
        path(
          slipFace(pen, peak, next, frame.height * (0.1 + index * 0.07)),
          pen.tint(shift(sand, -0.13 - index * 0.015, 1.05, -10), depth),
          { stroke: 'none' },
        ),
      )
  }
  if (index > 1) parts.push(windMarks(pen, crest, shift(sand, -0.07), depth, index))
  addShapes(stage, depth, parts.join(''))
  return crest
}

/** The steep side behind the crest, away from the light. */
function slipFace(pen: Pen, peak: Point, valley: Point, drop: number): string {
  const { random } = pen
  const s = short
  const dx = valley[0] - peak[0]
  // The part of the crest's curve between these two points.
  const top = `M${s(peak[0])} ${s(peak[1])}C${s(peak[0] + dx / 3)} ${s(peak[1])} ${s(valley[0] - dx / 3)} ${s(valley[1])} ${s(valley[0])} ${s(valley[1])}`
  if (pen.hand.angular) return straight([peak, valley, [peak[0] + dx * 0.35, peak[1] + drop * 1.4]])
  return `${top}Q${s(peak[0] + dx * 0.62)} ${s(valley[1] + drop * 0.5)} ${s(peak[0] + dx * random.between(0.3, 0.5))} ${s(valley[1] + drop * 1.5)}Q${s(peak[0] + dx * 0.3)} ${s(peak[1] + drop)} ${s(peak[0] + dx * 0.05)} ${s(peak[1] + drop * 0.5)}Q${s(peak[0] - dx * 0.05)} ${s(peak[1] + drop * 0.2)} ${s(peak[0])} ${s(peak[1])}Z`
}

function windMarks(pen: Pen, crest: readonly Point[], colour: Lch, depth: number, index: number): string {
  if (pen.hand.angular) return ''
  const { random, frame } = pen
  const marks = Array.from({ length: 70 }, () => {
    const x = random.between(-20, frame.width)
    const y = heightAt(crest, x) + 26 + random.next() ** 0.8 * frame.height * 0.3
    const length = random.between(26, 90) * (0.6 + index * 0.2)
    return `M${short(x)} ${short(y)}q${short(length * 0.25)} ${short(-4)} ${short(length * 0.5)} 0t${short(length * 0.5)} 0`
  })
  return line(marks.join(''), pen.tint(colour, depth), 1 + index * 0.35, { opacity: 0.4 })
}

function addCaravan(stage: Stage, crest: readonly Point[]): void {
  const pen = withChance(stage.pen, 'caravan')
  const { frame } = pen
  const way = stage.focus > frame.width / 2 ? -1 : 1
  const size = frame.height * 0.062
  const riders = Array.from({ length: 5 }, (_, index) => {
    const x = stage.focus - way * index * size * 1.45
    return camel(pen, x, heightAt(crest, x) + 3, size * (1 - index * 0.03), 0.72, way)
  })
  addShapes(stage, 0.6, riders.join(''))
}

function addOasis(stage: Stage, crest: readonly Point[]): void {
  const pen = withChance(stage.pen, 'oasis')
  const { frame, random } = pen
  if (random.chance(0.4)) return
  const x = frame.width - stage.focus
  const palms = [-34, 0, 28].map((dx) =>
    palm(pen, { x: x + dx, y: heightAt(crest, x + dx) + 8, height: frame.height * random.between(0.14, 0.22), depth: 0.82 }),
  )
  addShapes(stage, 0.8, palms.join(''))
  stage.words.push('palms')
}
