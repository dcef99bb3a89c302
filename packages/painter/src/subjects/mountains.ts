import type { Lch } from '../colour/oklch.ts'
import { shade, withChance } from '../drawing/pen.ts'
import { addShapes, type Stage } from '../drawing/stage.ts'
import { addWater } from '../drawing/water.ts'
import { path, type Point } from '../drawing/svg.ts'
import { ground, heightAt, swell } from '../drawing/terrain.ts'
import { addSkyAndBodies } from '../motifs/sky.ts'
import { farRidge, peaks } from '../motifs/peaks.ts'
import { pine } from '../motifs/pine.ts'

const ROCKS: readonly Lch[] = [
  [0.5, 0.055, 268],
  [0.52, 0.05, 235],
  [0.5, 0.06, 300],
  [0.53, 0.05, 205],
]

/** Ranges behind ranges, a lake or a valley, and pines in the foreground. */
export function drawMountains(stage: Stage): void {
  const { pen, reading, horizon, focus } = stage
  const { random, frame } = pen
  const rock = random.pick(ROCKS)
  addSkyAndBodies(stage)
  addShapes(stage, 0.1, farRidge(withChance(pen, 'far'), horizon, frame.height * 0.2, rock, 0.08))
  const snow = reading.snow ? 0.85 : random.between(0.3, 0.55)
  addShapes(
    stage,
    0.4,
    peaks(withChance(pen, 'main'), {
      depth: 0.46,
      base: horizon + 10,
      height: frame.height * random.between(0.36, 0.44),
      peak: focus,
      colour: rock,
      snow,
    }),
  )
  stage.plates.push({ kind: 'mist', y: horizon - 8, height: frame.height * 0.13, strength: 0.75 })
  const lake = reading.extras.has('water') || random.chance(0.62)
  addWoodedShore(stage, lake)
  if (lake) addWater(stage, horizon + 22)
  if (lake) stage.plates.push({ kind: 'mist', y: horizon + 26, height: 26, strength: 0.5 })
  if (!lake) addMeadow(stage)
  addNearPines(stage)
  stage.words.unshift('mountains', lake ? 'a lake' : 'a valley', 'pines')
}

function addWoodedShore(stage: Stage, lake: boolean): void {
  const pen = withChance(stage.pen, 'shore')
  const { random, frame } = pen
  const level = stage.horizon + 20
  const hill: Point[] = swell(pen, level - 26, 16, 1.1)
  const colour: Lch = stage.reading.snow ? [0.9, 0.02, 240] : [0.47, 0.06, 150]
  const wood = Array.from({ length: Math.round(frame.width / 9) }, (_, index) => {
    const x = index * 9 + random.around(0, 8)
    return pine(pen, {
      x,
      y: heightAt(hill, x) + random.between(4, 20),
      height: random.between(24, 52),
      depth: 0.62,
      snow: stage.reading.snow,
    })
  })
  const clip = lake ? `L${frame.width + 30} ${level + 3}L-30 ${level + 3}Z` : ''
  const land = lake ? ground(pen, hill).replace(/L[^L]*L[^L]*Z$/, clip) : ground(pen, hill)
  addShapes(stage, 0.62, path(land, pen.tint(colour, 0.6)) + wood.join(''))
}

function addMeadow(stage: Stage): void {
  const pen = withChance(stage.pen, 'meadow')
  const { frame } = pen
  for (const [index, depth] of [0.72, 0.84].entries()) {
    const y = stage.horizon + frame.height * (0.07 + index * 0.1)
    const colour: Lch = stage.reading.snow ? [0.93, 0.02, 240] : [0.6 - index * 0.06, 0.1, 132]
    const fill = shade(pen, y - 20, y + frame.height * 0.2, [
      [0, pen.tint(colour, depth)],
      [1, pen.tint([colour[0] - 0.1, colour[1], colour[2]], depth)],
    ])
    addShapes(stage, depth, fill.defs + path(ground(pen, swell(pen, y, 18, 0.7)), fill.fill))
  }
}

function addNearPines(stage: Stage): void {
  const pen = withChance(stage.pen, 'near')
  const { random, frame } = pen
  const bank = swell(pen, frame.height * 0.93, 16, 0.6)
  const side = stage.focus > frame.width / 2 ? 0 : frame.width
  const dark: Lch = stage.reading.snow ? [0.86, 0.03, 245] : [0.33, 0.05, 150]
  const trees = Array.from({ length: 9 }, () => {
    const away = random.next() ** 1.7 * frame.width * 0.36
    const x = side === 0 ? away - 20 : frame.width - away + 20
    const height = frame.height * random.between(0.24, 0.52) * (1 - away / (frame.width * 0.62))
    return { x, height, y: heightAt(bank, x) + random.between(4, 34) }
  }).sort((a, b) => a.y - b.y)
  const few = Array.from({ length: 3 }, () => {
    const x = side === 0 ? frame.width - random.between(0, 110) : random.between(0, 110)
    return { x, height: frame.height * random.between(0.1, 0.2), y: heightAt(bank, x) + random.between(6, 22) }
  })
  const drawn = [...few, ...trees].map((tree) =>
    pine(pen, { ...tree, depth: 0.97, colour: [0.3, 0.05, 165], snow: stage.reading.snow }),
  )
  addShapes(stage, 0.96, path(ground(pen, bank), pen.tint(dark, 0.97)) + drawn.join(''))
}
