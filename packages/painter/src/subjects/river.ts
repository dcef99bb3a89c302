import { shift, type Lch } from '../colour/oklch.ts'
import { withChance } from '../drawing/pen.ts'
import { addShapes, type Stage } from '../drawing/stage.ts'
import { path } from '../drawing/svg.ts'
import { ground, heightAt, swell } from '../drawing/terrain.ts'
import { addWater } from '../drawing/water.ts'
import { rowboat } from '../motifs/boats.ts'
import { together, unlit } from '../motifs/drawn.ts'
import { bridge, cottage } from '../motifs/dwellings.ts'
import { addSkyAndBodies } from '../motifs/sky.ts'
import { farRidge } from '../motifs/peaks.ts'
import { addNearBank, reeds } from '../motifs/plants.ts'
import { AUTUMN, branching, broadleaf, dabs, LEAVES, poplar } from '../motifs/trees.ts'
import { addBalloons, addBirds } from './birds-and-balloons.ts'

/** A slow river, an old bridge over it, trees along the far bank and a boat. */
export function drawRiver(stage: Stage): void {
  const { pen, horizon } = stage
  const { frame } = pen
  addSkyAndBodies(stage)
  addBalloons(stage)
  addShapes(stage, 0.12, farRidge(withChance(pen, 'far'), horizon, frame.height * 0.16, [0.5, 0.06, 230], 0.12))
  stage.plates.push({ kind: 'mist', y: horizon - 6, height: frame.height * 0.09, strength: 0.45 })
  addFarBank(stage)
  addBridge(stage)
  addWater(stage, horizon + 24)
  addBoat(stage)
  addShore(stage)
  addBirds(stage, true)
  stage.words.unshift('a river', 'a stone bridge', 'trees on the banks', 'a rowing boat')
}

function leavesOf(stage: Stage): readonly Lch[] {
  return stage.reading.extras.has('autumn') ? AUTUMN : LEAVES
}

function addFarBank(stage: Stage): void {
  const pen = withChance(stage.pen, 'bank')
  const { frame, random } = pen
  const { snow } = stage.reading
  const level = stage.horizon + 24
  const bank = swell(pen, level - 18, 9, 0.9)
  const colour: Lch = snow ? [0.93, 0.015, 240] : [0.52, 0.095, 132]
  const trees = Array.from({ length: Math.round(frame.width / 40) }, (_, index) => {
    const x = index * 40 + random.around(0, 20)
    const y = heightAt(bank, x) + random.between(2, 10)
    if (Math.abs(x - (frame.width - stage.focus)) < 76) return ''
    return random.chance(0.22)
      ? poplar(pen, { x, y, height: random.between(90, 150), depth: 0.58 })
      : broadleaf(pen, { x, y, height: random.between(58, 118), depth: 0.6, leaf: random.pick(leavesOf(stage)), snow })
  })
  const x = frame.width - stage.focus
  const home = cottage(pen, x, heightAt(bank, x) + 8, 96, 0.62, snow)
  addShapes(
    stage,
    0.58,
    trees.join('') +
      home.body +
      path(
        ground(pen, bank).replace(/L[^L]*L[^L]*Z$/, `L${frame.width + 30} ${level + 3}L-30 ${level + 3}Z`),
        pen.tint(colour, 0.62),
      ),
    home.glows,
  )
}

function addBridge(stage: Stage): void {
  const pen = withChance(stage.pen, 'bridge')
  const { frame } = pen
  const atRight = stage.focus > frame.width / 2
  const from = atRight ? frame.width * 0.4 : -70
  const to = atRight ? frame.width + 70 : frame.width * 0.6
  addShapes(stage, 0.72, bridge(pen, from, to, stage.horizon + 26, frame.height * 0.085, 0.76))
}

function addBoat(stage: Stage): void {
  const pen = withChance(stage.pen, 'boat')
  const { frame } = pen
  const boat = rowboat(pen, { x: stage.focus, y: stage.horizon + (frame.height - stage.horizon) * 0.46, size: 150, depth: 0.92 })
  const far = rowboat(pen, { x: frame.width - stage.focus + 40, y: stage.horizon + 52, size: 46, depth: 0.75 })
  const both = together(far, boat)
  addShapes(stage, 0.86, both.body, both.glows)
}

/** The near bank: reeds, and a leaning tree on the side away from the focus. */
function addShore(stage: Stage): void {
  const { pen, reading } = stage
  const { frame } = pen
  const bank = addNearBank(stage, 0.94, reading.snow ? undefined : [0.46, 0.085, 128])
  const near = withChance(pen, 'shore')
  const way = stage.focus > frame.width / 2 ? -1 : 1
  const x = (share: number): number => (way === -1 ? frame.width * share : frame.width * (1 - share))
  const colours = leavesOf(stage).map((leaf) => shift(leaf, -0.05))
  const tree = branching(near, { x: x(0.07), y: heightAt(bank, x(0.07)) + 20, height: frame.height * 0.72, depth: 1 }, (ends) =>
    reading.snow ? '' : dabs(near, ends, colours, 7, 7, 0.97),
  )
  const grown = unlit(
    tree +
      (reading.snow
        ? ''
        : reeds(near, x(0.32), heightAt(bank, x(0.32)) + 16, frame.height * 0.17, 16) +
          reeds(near, x(0.9), heightAt(bank, x(0.9)) + 16, frame.height * 0.14, 14)),
  )
  addShapes(stage, 0.99, grown.body)
}
