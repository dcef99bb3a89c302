import type { Lch } from '../colour/oklch.ts'
import { shift } from '../colour/oklch.ts'
import { shade, withChance } from '../drawing/pen.ts'
import { addShapes, type Stage } from '../drawing/stage.ts'
import { line, path, short } from '../drawing/svg.ts'
import { ground, heightAt, swell } from '../drawing/terrain.ts'
import { cottage } from '../motifs/dwellings.ts'
import { together } from '../motifs/drawn.ts'
import { addSkyAndBodies } from '../motifs/sky.ts'
import { farRidge, peaks } from '../motifs/peaks.ts'
import { person } from '../motifs/people.ts'
import { pine } from '../motifs/pine.ts'
import { lamps, spire } from '../motifs/town.ts'
import { broadleaf, branching } from '../motifs/trees.ts'
import { addBirds } from './birds-and-balloons.ts'

/** Cottages around a church among hills. In winter they are under snow, with lit windows. */
export function drawVillage(stage: Stage): void {
  const { pen, horizon, reading } = stage
  const { frame, random } = pen
  addSkyAndBodies(stage)
  if (random.chance(0.5))
    addShapes(
      stage,
      0.26,
      peaks(withChance(pen, 'peaks'), {
        depth: 0.3,
        base: horizon,
        height: frame.height * 0.28,
        peak: frame.width - stage.focus,
        colour: [0.5, 0.05, 262],
        snow: reading.snow ? 0.9 : 0.3,
      }),
    )
  else
    addShapes(
      stage,
      0.16,
      farRidge(withChance(pen, 'far'), horizon, frame.height * 0.18, reading.snow ? [0.86, 0.03, 250] : [0.5, 0.07, 170], 0.2),
    )
  const snow: Lch = [0.96, 0.012, 240]
  const grass: Lch = [0.56, 0.1, 132]
  const land = reading.snow ? snow : grass
  const back = addHill(stage, 'back', horizon + 4, 22, 0.46, shift(land, -0.05))
  addWood(stage, back, 0.5, 46)
  const middle = addHill(stage, 'middle', horizon + frame.height * 0.11, 16, 0.68, shift(land, -0.015))
  addHomes(stage, back, middle)
  const front = addHill(stage, 'front', horizon + frame.height * 0.3, 14, 0.86, shift(land, 0.01))
  addRoad(stage, front, middle)
  addNearTrees(stage)
  addBirds(stage, false)
  stage.words.unshift(
    reading.snow ? 'a village under snow' : 'a village among hills',
    'a church',
    pen.light.lit ? 'lit windows' : 'cottages',
  )
}

function addHill(stage: Stage, name: string, y: number, height: number, depth: number, colour: Lch): ReturnType<typeof swell> {
  const pen = withChance(stage.pen, name)
  const line = swell(pen, y, height, 0.75)
  const below: Lch = stage.reading.snow ? [colour[0] - 0.1, 0.045, 262] : shift(colour, -0.09)
  const fill = shade(pen, y - height, y + pen.frame.height * 0.3, [
    [0, pen.tint(colour, depth)],
    [1, pen.tint(below, depth)],
  ])
  addShapes(stage, depth, fill.defs + path(ground(pen, line), fill.fill))
  return line
}

function addWood(stage: Stage, hill: ReturnType<typeof swell>, depth: number, height: number): void {
  const pen = withChance(stage.pen, 'wood')
  const { frame, random } = pen
  const trees = Array.from({ length: Math.round(frame.width / 13) }, (_, index) => {
    const x = index * 13 + random.around(0, 10)
    return pine(pen, {
      x,
      y: heightAt(hill, x) + random.between(2, 16),
      height: height * random.between(0.5, 1.15),
      depth,
      snow: stage.reading.snow,
    })
  })
  addShapes(stage, depth, trees.join(''))
}

function addHomes(stage: Stage, back: ReturnType<typeof swell>, middle: ReturnType<typeof swell>): void {
  const pen = withChance(stage.pen, 'homes')
  const { frame, random } = pen
  const { snow } = stage.reading
  const church = spire(pen, stage.focus, heightAt(middle, stage.focus) + 2, frame.height * 0.36, 0.66)
  const nave = cottage(pen, stage.focus + pen.light.side * -42, heightAt(middle, stage.focus) + 6, 128, 0.66, snow)
  const small = Array.from({ length: 6 }, (_, index) => {
    const x = frame.width * (0.05 + index * 0.17) + random.around(0, 26)
    return { x, y: heightAt(back, x) + 38 + random.between(0, 14), size: random.between(62, 82), depth: 0.58 }
  })
  const large = Array.from({ length: 5 }, (_, index) => {
    const x = stage.focus + (index - 2) * frame.width * 0.165 + random.around(0, 16)
    return { x, y: heightAt(middle, x) + 40 + random.between(0, 26), size: random.between(118, 150), depth: 0.76 }
  }).filter(({ x }) => Math.abs(x - stage.focus) > 70)
  const far = together(...small.map(({ x, y, size, depth }) => cottage(pen, x, y, size, depth, snow)), church, nave)
  addShapes(stage, 0.64, far.body, far.glows)
  const posts = lamps(pen, stage.focus - 150, stage.focus + 150, heightAt(middle, stage.focus) + 34, 34, 0.78, 96)
  const near = together(
    ...large.sort((a, b) => a.y - b.y).map(({ x, y, size, depth }) => cottage(pen, x, y, size, depth, snow)),
    posts,
  )
  addShapes(stage, 0.76, near.body, near.glows)
}

/** A path from the foreground to the church door, with a person on it. */
function addRoad(stage: Stage, front: ReturnType<typeof swell>, middle: ReturnType<typeof swell>): void {
  const pen = withChance(stage.pen, 'road')
  const { frame } = pen
  const s = short
  const x = stage.focus
  const top = heightAt(front, x) + 2
  const way = x > frame.width / 2 ? -1 : 1
  const colour: Lch = stage.reading.snow ? [0.82, 0.04, 258] : [0.72, 0.06, 75]
  const road = `M${s(x - 9)} ${s(top)}C${s(x + way * 30 - 20)} ${s(top + 40)} ${s(x + way * 140 - 40)} ${s(top + 60)} ${s(x + way * 110 - 90)} ${s(frame.height + 20)}H${s(x + way * 110 + 110)}C${s(x + way * 150 + 50)} ${s(top + 66)} ${s(x + way * 40 + 20)} ${s(top + 40)} ${s(x + 9)} ${s(top)}Z`
  const fence = Array.from({ length: 9 }, (_, index) => {
    const px = x - way * (60 + index * 44)
    const y = heightAt(front, px) + 14
    return `M${s(px)} ${s(y + 12)}V${s(y - 14)}M${s(px)} ${s(y - 8)}L${s(px - way * 44)} ${s(heightAt(front, px - way * 44) + 6)}M${s(px)} ${s(y + 2)}L${s(px - way * 44)} ${s(heightAt(front, px - way * 44) + 16)}`
  })
  const walker = person(pen, x + way * 66, top + frame.height * 0.115, frame.height * 0.11, 0.92)
  addShapes(
    stage,
    0.88,
    path(road, pen.tint(colour, 0.88), { stroke: 'none' }) + line(fence.join(''), pen.tint([0.34, 0.04, 50], 0.9), 3.2) + walker,
  )
  if (middle.length === 0) throw new Error('a village needs a hill to stand on')
}

function addNearTrees(stage: Stage): void {
  const pen = withChance(stage.pen, 'trees')
  const { frame, random } = pen
  const { snow } = stage.reading
  const side = stage.focus > frame.width / 2 ? 0 : 1
  const near = [0.04, 0.15, 0.1].map((share, index) => {
    const x = side === 0 ? frame.width * share : frame.width * (1 - share)
    const tree = {
      x,
      y: frame.height * (0.95 + index * 0.04),
      height: frame.height * random.between(0.42, 0.6),
      depth: 0.97,
      snow,
    }
    if (snow)
      return index === 1
        ? branching(pen, { ...tree, height: tree.height * 0.8 })
        : pine(pen, { ...tree, colour: [0.32, 0.05, 165] })
    return broadleaf(pen, tree)
  })
  addShapes(stage, 0.97, near.join(''))
}
