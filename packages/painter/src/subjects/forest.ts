import { mix, shift, type Lch } from '../colour/oklch.ts'
import { gradient, shade, withChance, type Pen } from '../drawing/pen.ts'
import { addShapes, type Stage } from '../drawing/stage.ts'
import { line, path, rect, short, straight, type Point } from '../drawing/svg.ts'
import { ground, swell } from '../drawing/terrain.ts'
import { cottage } from '../motifs/dwellings.ts'
import { lantern } from '../motifs/lantern.ts'
import { deer } from '../motifs/people.ts'
import { pine } from '../motifs/pine.ts'
import { grass } from '../motifs/plants.ts'
import { AUTUMN, leafClump } from '../motifs/trees.ts'
import { addSky } from '../motifs/skies.ts'
import { addBirds } from './birds-and-balloons.ts'

/** Rows of trunks that get paler with distance, towards a bright opening. */
export function drawForest(stage: Stage): void {
  const { pen, reading, focus } = stage
  const { frame } = pen
  addSky(stage)
  addAir(stage)
  const green: Lch = reading.snow ? [0.9, 0.02, 240] : reading.extras.has('autumn') ? pen.random.pick(AUTUMN) : [0.46, 0.085, 145]
  for (let layer = 0; layer < 4; layer++) {
    const depth = 0.16 + layer * 0.24
    addTrunks(stage, layer, depth, green)
    if (layer < 3)
      stage.plates.push({
        kind: 'mist',
        y: frame.height * (0.66 + layer * 0.05),
        height: frame.height * 0.3,
        strength: 0.42 - layer * 0.08,
      })
    if (layer === 0 && !pen.hand.flat) addShafts(stage)
    if (layer === 2) addDweller(stage)
  }
  addFloor(stage, green)
  addBirds(stage, false)
  stage.words.unshift(
    'a forest of tall trunks',
    focus > frame.width / 2 ? 'light falling in from the right' : 'light falling in from the left',
  )
}

/** The glade: the brightest place, low behind the trees. */
function addAir(stage: Stage): void {
  const { pen, focus } = stage
  const { frame, light } = pen
  if (pen.hand.sky !== 'air') return
  const id = pen.name()
  const inner = pen.pure(mix(light.glow, light.face, light.time === 'night' ? 0.15 : 0.4))
  const stops = `<stop offset="0" stop-color="${inner}"/><stop offset="1" stop-color="${inner}" stop-opacity="0"/>`
  const veil = pen.tint([0.55, 0.07, 150], 0.2)
  const body =
    rect(-10, -10, frame.width + 20, frame.height + 20, veil, { opacity: 0.55 }) +
    `<defs><radialGradient id="${id}">${stops}</radialGradient></defs>` +
    `<ellipse cx="${short(focus)}" cy="${short(frame.height * 0.5)}" rx="${short(frame.width * 0.42)}" ry="${short(frame.height * 0.56)}" fill="url(#${id})" opacity="${light.time === 'night' ? 0.5 : 0.9}"/>`
  stage.plates.push({ kind: 'shapes', depth: 0, flat: true, body })
}

function addTrunks(stage: Stage, layer: number, depth: number, green: Lch): void {
  const pen = withChance(stage.pen, `trunks ${layer}`)
  const { frame, random } = pen
  const count = Math.round((frame.width / 100) * (1.9 - layer * 0.42)) + 1
  const floor = frame.height * (0.7 + layer * 0.075)
  const conifer = stage.reading.snow || random.chance(0.3)
  const drawn: string[] = []
  for (let index = 0; index < count; index++) {
    const x = ((index + 0.5) / count) * (frame.width + 80) - 40 + random.around(0, 34)
    // Nothing near stands before the opening.
    if (layer > 1 && Math.abs(x - stage.focus) < frame.width * (0.06 + layer * 0.05)) continue
    const width = (9 + layer * layer * 7.5) * random.between(0.7, 1.25)
    drawn.push(trunk(pen, x, floor + random.around(8, 12), width, depth, layer))
    if (layer < 2 && conifer)
      drawn.push(
        pine(pen, { x: x + 30, y: floor + 6, height: frame.height * random.between(0.24, 0.5), depth, snow: stage.reading.snow }),
      )
  }
  const earth = path(ground(pen, swell(pen, floor, 9, 0.9)), pen.tint(shift(green, -0.03 - layer * 0.035), depth + 0.06))
  const canopy = crowns(pen, layer, depth, green)
  addShapes(stage, depth, drawn.join('') + canopy + earth)
}

function trunk(pen: Pen, x: number, y: number, width: number, depth: number, layer: number): string {
  const { random, frame } = pen
  const bark: Lch = [0.36 - layer * 0.02, 0.035, 50]
  const lean = random.around(0, frame.height * 0.03)
  const s = short
  const outline = (a: number, b: number): string =>
    `M${s(x + width * a * 1.25)} ${s(y)}Q${s(x + width * a * 0.6 + lean * 0.4)} ${s(y - frame.height * 0.3)} ${s(x + width * a * 0.45 + lean)} ${s(-20)}H${s(x + width * b * 0.45 + lean)}Q${s(x + width * b * 0.6 + lean * 0.4)} ${s(y - frame.height * 0.3)} ${s(x + width * b * 1.25)} ${s(y)}Z`
  const lit = pen.light.side === -1 ? outline(-0.5, -0.2) : outline(0.2, 0.5)
  const marks = Array.from({ length: layer > 1 ? 9 : 0 }, () => {
    const at = random.between(0.05, 0.8) * y
    const from = x + lean * (1 - at / y) + random.around(0, width * 0.22)
    return `M${s(from)} ${s(at)}q${s(random.around(0, 3))} ${s(13)} ${s(random.around(0, 4))} ${s(random.between(18, 46))}`
  })
  const boughs = Array.from({ length: layer > 0 ? 2 : 1 }, () => {
    const at = random.between(0.1, 0.5) * y
    const way = random.pick([-1, 1])
    return line(
      `M${s(x + lean * (1 - at / y))} ${s(at)}q${s(way * width * 1.2)} ${s(-width * 0.5)} ${s(way * width * 2.6)} ${s(-width * 1.7)}`,
      pen.tint(bark, depth),
      width * 0.16,
    )
  })
  return (
    boughs.join('') +
    path(outline(-0.5, 0.5), pen.tint(bark, depth)) +
    path(lit, pen.tint(shift(bark, 0.09), depth), { stroke: 'none', opacity: 0.75 }) +
    (marks.length > 0 ? line(marks.join(''), pen.tint(shift(bark, -0.07), depth), width * 0.045, { opacity: 0.7 }) : '')
  )
}

/** Leaves overhead: many small clumps in hanging masses, with light between them. */
function crowns(pen: Pen, layer: number, depth: number, green: Lch): string {
  if (green[0] > 0.85) return ''
  const { random, frame } = pen
  const masses = Array.from({ length: 11 - layer }, () => ({
    x: random.between(-20, frame.width + 20),
    y: random.next() ** 1.6 * frame.height * (0.24 - layer * 0.03),
    reach: frame.width * random.between(0.05, 0.1),
  }))
  const shades = [-0.05, 0, 0.05].map((lift, tone) => {
    const clumps = masses.flatMap(({ x, y, reach }) =>
      Array.from({ length: 13 - tone * 3 }, () =>
        leafClump(
          pen,
          x + random.around(0, reach),
          y + random.around(0, reach * 0.5) - tone * 7,
          (11 + layer * 3.4) * random.between(0.6, 1.2),
        ),
      ),
    )
    return path(clumps.join(''), pen.tint(shift(green, 0.04 - layer * 0.05 + lift), depth), { stroke: 'none' })
  })
  return shades.join('')
}

function addShafts(stage: Stage): void {
  const pen = withChance(stage.pen, 'shafts')
  const { frame, light, random } = pen
  const from: Point = [stage.focus + light.side * frame.width * 0.16, -frame.height * 0.15]
  const shafts = Array.from({ length: 6 }, (_, index) => {
    const x = stage.focus - light.side * frame.width * (0.28 - index * 0.1)
    const width = frame.width * random.between(0.016, 0.05)
    const fill = gradient(pen, { x1: from[0], y1: 0, x2: x, y2: frame.height * 0.84 }, [
      [0, pen.pure(light.face), 0.6],
      [1, pen.pure(light.glow), 0],
    ])
    return (
      fill.defs +
      path(
        straight([from, [from[0] + 20, from[1]], [x + width, frame.height * 0.86], [x - width, frame.height * 0.86]]),
        fill.fill,
      )
    )
  })
  stage.plates.push({ kind: 'shapes', depth: 0.2, flat: true, body: shafts.join('') })
}

/** What the eye finds at the end of the path. */
function addDweller(stage: Stage): void {
  const pen = withChance(stage.pen, 'dweller')
  const { frame, random, light } = pen
  const y = frame.height * 0.835
  const { extras } = stage.reading
  if (extras.has('lanterns') || (light.lit && !extras.has('deer') && random.chance(0.3))) {
    const lamp = lantern(pen, stage.focus, y - 66, 44, [0.78, 0.16, 62], 0.8)
    addShapes(
      stage,
      0.8,
      line(`M${short(stage.focus)} ${short(y + 6)}V${short(y - 130)}q0 -20 -24 -20`, pen.tint([0.25, 0.03, 50], 0.8), 4) +
        lamp.body,
      lamp.glows,
    )
    stage.words.push('a lantern by the path')
    return
  }
  if (extras.has('house') || (light.lit && !extras.has('deer'))) {
    const home = cottage(pen, stage.focus, y - 14, frame.height * 0.17, 0.62, stage.reading.snow)
    addShapes(stage, 0.6, home.body, home.glows)
    stage.words.push(light.lit ? 'a cottage with lit windows' : 'a cottage')
    return
  }
  addShapes(stage, 0.74, deer(pen, stage.focus, y, frame.height * 0.125, 0.74, stage.focus > frame.width / 2 ? -1 : 1))
  stage.words.push('a deer')
}

function addFloor(stage: Stage, green: Lch): void {
  const pen = withChance(stage.pen, 'floor')
  const { frame } = pen
  const s = short
  const x = stage.focus
  const y = frame.height * 0.87
  const way = x > frame.width / 2 ? -1 : 1
  const earth = shade(pen, y, frame.height, [
    [0, pen.tint([0.6, 0.05, 75], 0.75)],
    [1, pen.tint([0.42, 0.045, 65], 1)],
  ])
  const trail = `M${s(x - 16)} ${s(y - 18)}C${s(x - 30)} ${s(y + 14)} ${s(x + way * 60 - 90)} ${s(y + 40)} ${s(x + way * 120 - 170)} ${s(frame.height + 20)}H${s(x + way * 120 + 150)}C${s(x + way * 60 + 90)} ${s(y + 44)} ${s(x + 40)} ${s(y + 10)} ${s(x + 14)} ${s(y - 18)}Z`
  const bank = swell(pen, frame.height * 0.985, 9, 0.8)
  const snow = stage.reading.snow
  addShapes(stage, 0.9, earth.defs + path(trail, snow ? pen.tint([0.86, 0.03, 245], 0.9) : earth.fill, { stroke: 'none' }))
  addShapes(
    stage,
    1,
    grass(
      pen,
      bank,
      frame.height * 0.075,
      Math.round(frame.width * 0.3),
      pen.tint(snow ? [0.55, 0.03, 90] : shift(green, -0.16), 1),
    ) + path(ground(pen, bank), pen.tint(shift(green, snow ? -0.05 : -0.17), 1)),
  )
}
