import type { Lch } from '../colour/oklch.ts'
import { withChance } from '../drawing/pen.ts'
import { addShapes, type Stage } from '../drawing/stage.ts'
import { line, path, rect, short } from '../drawing/svg.ts'
import { addWater } from '../drawing/water.ts'
import { rowboat, sailboat, trawler } from '../motifs/boats.ts'
import { together, type Drawn } from '../motifs/drawn.ts'
import { addSkyAndBodies } from '../motifs/sky.ts'
import { lighthouse, rocks } from '../motifs/lighthouse.ts'
import { farRidge } from '../motifs/peaks.ts'
import { lamps, row, spire } from '../motifs/town.ts'
import { addBirds } from './birds-and-balloons.ts'

/** A quay with its houses on one side, a light on the other, and boats between. */
export function drawHarbour(stage: Stage): void {
  const { pen, horizon, focus } = stage
  const { frame } = pen
  const atRight = focus > frame.width / 2
  addSkyAndBodies(stage)
  addShapes(stage, 0.12, farRidge(withChance(pen, 'coast'), horizon + 4, frame.height * 0.1, [0.5, 0.05, 240], 0.12))
  addTown(stage, atRight)
  addMole(stage, atRight)
  addWater(stage, horizon + 24)
  stage.plates.push({ kind: 'mist', y: horizon + 22, height: 20, strength: 0.28 })
  addBoats(stage, atRight)
  addJetty(stage, atRight)
  addBirds(stage, true)
  stage.words.unshift('a harbour town along a quay', 'a lighthouse', 'boats on the water')
}

function addTown(stage: Stage, atRight: boolean): void {
  const { frame } = stage.pen
  const back = withChance(stage.pen, 'back')
  const front = withChance(stage.pen, 'front')
  const base = stage.horizon + 14
  const from = atRight ? frame.width * 0.46 : -20
  const to = atRight ? frame.width + 20 : frame.width * 0.54
  const { snow } = stage.reading
  const tower = spire(back, atRight ? from + (to - from) * 0.42 : to - (to - from) * 0.42, base, frame.height * 0.34, 0.5)
  const behind = row(back, {
    from: from + (atRight ? 60 : 0),
    to: to - (atRight ? 0 : 60),
    base: base - 34,
    height: 92,
    depth: 0.42,
    snow,
  })
  const houses = row(front, { from, to, base, height: 96, depth: 0.68, snow })
  const posts = lamps(front, from, to, base, 34, 0.75)
  const wall: Lch = [0.5, 0.025, 60]
  const quay =
    rect(from - 12, base, to - from + 24, 12, front.tint(wall, 0.72)) +
    rect(from - 12, base, to - from + 24, 3, front.tint([0.66, 0.03, 70], 0.72), { stroke: 'none' })
  const far = together(tower, behind)
  addShapes(stage, 0.5, far.body, far.glows)
  const near = together(houses, posts)
  addShapes(stage, 0.68, near.body + quay, near.glows)
}

function addMole(stage: Stage, atRight: boolean): void {
  const pen = withChance(stage.pen, 'mole')
  const { frame } = pen
  const x = frame.width * (atRight ? 0.15 : 0.85)
  const base = stage.horizon + 26
  const tower = lighthouse(pen, x, base - 24, frame.height * 0.27, 0.72)
  const stones = rocks(pen, x, base, frame.width * 0.24, 34, 0.72)
  addShapes(stage, 0.66, tower.body + stones, tower.glows)
}

function addBoats(stage: Stage, atRight: boolean): void {
  const pen = withChance(stage.pen, 'boats')
  const { random, frame } = pen
  const water = frame.height - stage.horizon
  const y = (share: number): number => stage.horizon + 26 + water * share
  const moored: Drawn[] = Array.from({ length: 4 }, (_, index) =>
    (index % 2 === 0 ? trawler : rowboat)(pen, {
      x: (atRight ? frame.width * 0.58 : frame.width * 0.06) + index * frame.width * 0.11 + random.around(0, 16),
      y: y(0.05 + 0.03 * (index % 2)),
      size: index % 2 === 0 ? 54 : 34,
      depth: 0.75,
    }),
  )
  const sails: Drawn[] = Array.from({ length: random.whole(1, 3) }, (_, index) =>
    sailboat(pen, {
      x: frame.width * (0.5 + (atRight ? -1 : 1) * (0.1 + index * 0.11)),
      y: y(0.1 + index * 0.05 + random.between(0, 0.03)),
      size: 62 - index * 12,
      depth: 0.72,
    }),
  )
  const far = together(...sails, ...moored)
  addShapes(stage, 0.74, far.body, far.glows)
  const main = random.chance(0.5)
    ? trawler(pen, { x: stage.focus, y: y(0.42), size: 150, depth: 0.95 })
    : sailboat(pen, { x: stage.focus, y: y(0.42), size: 190, depth: 0.95, colour: [0.48, 0.15, 28] })
  addShapes(stage, 0.88, main.body, main.glows)
}

/** Posts and planks in the corner below the light, as a dark foreground. */
function addJetty(stage: Stage, atRight: boolean): void {
  const pen = withChance(stage.pen, 'jetty')
  const { frame } = pen
  const s = short
  const edge = atRight ? 0 : frame.width
  const out = (share: number): number => edge + (atRight ? 1 : -1) * frame.width * share
  const wood: Lch = [0.36, 0.045, 50]
  const top = frame.height * 0.9
  const deck = `M${s(edge - (atRight ? 30 : -30))} ${s(top)}L${s(out(0.3))} ${s(top + 6)}L${s(out(0.34))} ${s(frame.height + 30)}H${s(edge - (atRight ? 30 : -30))}Z`
  const seams = [0.05, 0.1, 0.15, 0.2, 0.25].map((share) =>
    line(
      `M${s(out(share))} ${s(top + share * 20)}L${s(out(share * 1.16))} ${s(frame.height + 10)}`,
      pen.tint([0.26, 0.04, 45], 1),
      2,
    ),
  )
  const posts = [0.04, 0.17, 0.295].map(
    (share) =>
      rect(out(share) - 8, top - 42, 16, 80, pen.tint([0.3, 0.04, 45], 1), { rx: 3 }) +
      rect(out(share) - 8, top - 42, 16, 5, pen.tint([0.5, 0.05, 60], 1), { rx: 2, stroke: 'none' }),
  )
  const rope = line(
    `M${s(out(0.04))} ${s(top - 26)}Q${s(out(0.105))} ${s(top + 6)} ${s(out(0.17))} ${s(top - 26)}Q${s(out(0.235))} ${s(top + 6)} ${s(out(0.295))} ${s(top - 26)}`,
    pen.tint([0.68, 0.06, 75], 1),
    3.4,
  )
  addShapes(stage, 1, path(deck, pen.tint(wood, 1)) + seams.join('') + posts.join('') + rope)
}
