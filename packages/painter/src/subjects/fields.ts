import { shift, type Lch } from '../colour/oklch.ts'
import { shade, withChance } from '../drawing/pen.ts'
import { addShapes, type Stage } from '../drawing/stage.ts'
import { ellipse, line, path, short, type Point } from '../drawing/svg.ts'
import { ground, heightAt, swell } from '../drawing/terrain.ts'
import { cottage, windmill } from '../motifs/dwellings.ts'
import { PETALS, flower } from '../motifs/flowers.ts'
import { addSkyAndBodies } from '../motifs/sky.ts'
import { farRidge } from '../motifs/peaks.ts'
import { addNearBank } from '../motifs/plants.ts'
import { AUTUMN, broadleaf, LEAVES, poplar } from '../motifs/trees.ts'
import { addBalloons, addBirds } from './birds-and-balloons.ts'

type Crop = { colour: Lch; rows: boolean; words: string }
const CROPS: readonly Crop[] = [
  { colour: [0.8, 0.13, 88], rows: false, words: 'wheat' },
  { colour: [0.58, 0.13, 303], rows: true, words: 'lavender' },
  { colour: [0.66, 0.13, 128], rows: true, words: 'young green' },
  { colour: [0.84, 0.15, 98], rows: false, words: 'rape in flower' },
  { colour: [0.55, 0.1, 138], rows: false, words: 'meadow' },
  { colour: [0.6, 0.07, 60], rows: true, words: 'ploughed earth' },
]

/** Rolling fields, each with its own colour and furrows, hedges between them, and a mill or farm on a rise. */
export function drawFields(stage: Stage): void {
  const { pen, horizon } = stage
  const { frame, random } = pen
  addSkyAndBodies(stage)
  addBalloons(stage)
  addShapes(stage, 0.12, farRidge(withChance(pen, 'far'), horizon + 4, frame.height * 0.12, [0.5, 0.06, 215], 0.12))
  const first = random.whole(0, CROPS.length - 1)
  const crops = [0, 1, 2, 3, 4].flatMap((index): Crop[] => {
    if (stage.reading.snow) return [{ colour: [0.94, 0.015, 240], rows: index % 2 === 0, words: 'snow' }]
    const crop = CROPS[(first + index * 2 + (index > 2 ? 1 : 0)) % CROPS.length]
    return crop ? [crop] : []
  })
  for (const [index, crop] of crops.entries()) addField(stage, index, crop)
  addFront(stage)
  addBirds(stage, true)
  const farm = stage.words.includes('a windmill') ? [] : ['a farm']
  stage.words.unshift('rolling fields', ...farm)
}

function addField(stage: Stage, index: number, crop: Crop): void {
  const pen = withChance(stage.pen, `field ${index}`)
  const { frame, random } = pen
  const t = index / 5
  const depth = 0.4 + t * 0.5
  const y = stage.horizon + 6 + (frame.height - stage.horizon) * t ** 1.3 * 0.95
  const hill = swell(pen, y, 12 + t * 18, 0.55)
  const fill = shade(pen, y - 20, y + frame.height * 0.24, [
    [0, pen.tint(shift(crop.colour, 0.03), depth)],
    [1, pen.tint(shift(crop.colour, -0.08), depth)],
  ])
  const furrows = crop.rows ? rows(pen, hill, stage.focus, crop.colour, depth) : strokes(pen, hill, crop.colour, depth)
  addShapes(stage, depth, fill.defs + path(ground(pen, hill), fill.fill) + furrows)
  addHedge(stage, index, hill, depth)
  if (index === 1) addLandmark(stage, hill, depth)
  if (index === 2 && !crop.rows && random.chance(0.7) && !stage.reading.snow) addBales(stage, hill, depth)
}

/** Furrows converge at a point on the horizon. */
function rows(pen: ReturnType<typeof withChance>, hill: readonly Point[], focus: number, colour: Lch, depth: number): string {
  const { frame } = pen
  const lines = Array.from({ length: 44 }, (_, index) => {
    const spread = (index - 22) / 22
    const x = focus + spread * frame.width * 1.15
    const top = heightAt(hill, Math.min(frame.width, Math.max(0, x))) + 1
    const out = focus + spread * frame.width * 3.4
    return `M${short(x)} ${short(top)}Q${short(x + (out - x) * 0.35)} ${short(top + frame.height * 0.1)} ${short(out)} ${short(top + frame.height * 0.4)}`
  })
  return line(lines.join(''), pen.tint(shift(colour, -0.1, 1.05), depth), 3 + depth * 3.5, { opacity: 0.5 })
}

function strokes(pen: ReturnType<typeof withChance>, hill: readonly Point[], colour: Lch, depth: number): string {
  if (pen.hand.angular) return ''
  const { random, frame } = pen
  const ears = Array.from({ length: 420 }, () => {
    const x = random.between(-10, frame.width + 10)
    const y = heightAt(hill, x) + 5 + random.next() * frame.height * 0.16
    const tall = 5 + depth * 9
    return `M${short(x)} ${short(y)}l${short(random.around(1.5, 2.5))} ${short(-tall)}`
  })
  return line(ears.join(''), pen.tint(shift(colour, 0.06), depth), 1 + depth * 0.7, { opacity: 0.5 })
}

function addHedge(stage: Stage, index: number, hill: readonly Point[], depth: number): void {
  const pen = withChance(stage.pen, `hedge ${index}`)
  const { frame, random } = pen
  const autumn = stage.reading.extras.has('autumn')
  const size = 20 + index * 17
  const count = Math.round(frame.width / (size * 1.9))
  const trees = Array.from({ length: count }, (_, at) => {
    const x = ((at + random.next()) / count) * frame.width
    if (random.chance(0.45) || (index > 2 && Math.abs(x - stage.focus) < frame.width * 0.22)) return ''
    const height = size * random.between(0.8, 1.7)
    const y = heightAt(hill, x) + 3
    const shadow = ellipse(
      x - pen.light.side * height * 0.3,
      y,
      height * 0.42,
      height * 0.055,
      pen.tint([0.35, 0.06, 150], depth),
      { opacity: 0.35, stroke: 'none' },
    )
    return (
      shadow +
      (random.chance(0.3)
        ? poplar(pen, { x, y, height: height * 1.45, depth })
        : broadleaf(pen, { x, y, height, depth, leaf: random.pick(autumn ? AUTUMN : LEAVES), snow: stage.reading.snow }))
    )
  })
  addShapes(stage, depth + 0.02, trees.join(''))
}

function addLandmark(stage: Stage, hill: readonly Point[], depth: number): void {
  const pen = withChance(stage.pen, 'landmark')
  const { frame, random } = pen
  const y = heightAt(hill, stage.focus) + 3
  const mill = stage.reading.extras.has('windmill') || (!stage.reading.extras.has('house') && random.chance(0.45))
  const main = mill
    ? windmill(pen, stage.focus, y, frame.height * 0.24, 0.72)
    : cottage(pen, stage.focus, y, frame.height * 0.13, 0.7, stage.reading.snow)
  const barn = cottage(
    pen,
    stage.focus + pen.light.side * frame.height * -0.15,
    y + 6,
    frame.height * 0.09,
    0.66,
    stage.reading.snow,
  )
  addShapes(stage, depth + 0.06, barn.body + main.body, [...barn.glows, ...main.glows])
  if (mill) stage.words.push('a windmill')
}

function addBales(stage: Stage, hill: readonly Point[], depth: number): void {
  const pen = withChance(stage.pen, 'bales')
  const { frame, random } = pen
  const straw: Lch = [0.78, 0.11, 82]
  const bales = Array.from({ length: 7 }, () => {
    const x = random.between(0.04, 0.96) * frame.width
    const y = heightAt(hill, x) + random.between(18, 60)
    const size = 13 + (y - heightAt(hill, x)) * 0.14
    return {
      y,
      drawn:
        ellipse(x - pen.light.side * size * 0.7, y + size * 0.5, size * 1.3, size * 0.26, pen.tint([0.4, 0.06, 80], depth), {
          opacity: 0.4,
          stroke: 'none',
        }) +
        ellipse(x, y - size * 0.1, size, size * 0.72, pen.tint(shift(straw, -0.06), depth)) +
        ellipse(x + pen.light.side * size * 0.42, y - size * 0.1, size * 0.5, size * 0.68, pen.tint(shift(straw, 0.03), depth)),
    }
  }).sort((a, b) => a.y - b.y)
  addShapes(stage, depth + 0.05, bales.map(({ drawn }) => drawn).join(''))
  stage.words.push('bales of straw')
}

function addFront(stage: Stage): void {
  const bank = addNearBank(stage, 0.955, [0.46, 0.09, 132])
  if (stage.reading.snow) return
  const pen = withChance(stage.pen, 'front')
  const { frame, random } = pen
  const blossoms = Array.from({ length: 26 }, () => {
    const x = random.between(0, frame.width)
    const kind = random.pick(['poppy', 'poppy', 'cornflower', 'daisy'] as const)
    const size = random.between(13, 26)
    return flower(pen, {
      x,
      y: heightAt(bank, x) + random.between(6, 34),
      stem: size * random.between(1.4, 3),
      size,
      depth: 0.97,
      colour: random.pick(PETALS[kind]),
      kind,
    })
  })
  addShapes(stage, 0.99, blossoms.join(''))
}
