import type { Lch } from '../colour/oklch.ts'
import { withChance } from '../drawing/pen.ts'
import { addShapes, type Stage } from '../drawing/stage.ts'
import { line, rect, short } from '../drawing/svg.ts'
import { addWater } from '../drawing/water.ts'
import { bridge } from '../motifs/dwellings.ts'
import { addSkyAndBodies } from '../motifs/sky.ts'
import { person } from '../motifs/people.ts'
import { skyline } from '../motifs/skyline.ts'
import { lamps } from '../motifs/town.ts'
import { broadleaf } from '../motifs/trees.ts'
import { addBalloons, addBirds } from './birds-and-balloons.ts'

/** Towers behind a river, seen over a railing. */
export function drawCity(stage: Stage): void {
  const { pen, horizon, focus } = stage
  const { frame } = pen
  addSkyAndBodies(stage)
  addBalloons(stage)
  for (const [index, depth] of [0.22, 0.46, 0.72].entries()) {
    const layer = skyline(withChance(pen, `skyline ${index}`), {
      from: -40,
      to: frame.width + 40,
      base: horizon + 8,
      height: frame.height * ([0.4, 0.5, 0.34][index] ?? 0.4),
      depth,
      peak: index === 1 ? focus : frame.width - focus + index * 40,
    })
    addShapes(stage, depth, layer.body, layer.glows)
    if (index < 2) stage.plates.push({ kind: 'mist', y: horizon, height: frame.height * 0.12, strength: 0.3 })
  }
  addEmbankment(stage)
  addWater(stage, horizon + 26)
  addRailing(stage)
  addBirds(stage, false)
  stage.words.unshift('a city skyline by a river', 'towers with windows', 'someone at a railing')
}

function addEmbankment(stage: Stage): void {
  const pen = withChance(stage.pen, 'embankment')
  const { frame, random } = pen
  const base = stage.horizon + 12
  const trees = Array.from({ length: Math.round(frame.width / 62) }, (_, index) =>
    broadleaf(pen, { x: index * 62 + random.around(20, 26), y: base + 2, height: random.between(30, 46), depth: 0.7 }),
  )
  const posts = lamps(pen, 0, frame.width, base, 26, 0.8, 74)
  const wall: Lch = [0.44, 0.02, 260]
  const arches =
    stage.reading.extras.has('bridge') || random.chance(0.35)
      ? bridge(
          pen,
          stage.focus > frame.width / 2 ? -60 : frame.width * 0.55,
          stage.focus > frame.width / 2 ? frame.width * 0.45 : frame.width + 60,
          stage.horizon + 26,
          46,
          0.8,
        )
      : ''
  addShapes(
    stage,
    0.76,
    trees.join('') + rect(-10, base, frame.width + 20, 14, pen.tint(wall, 0.78)) + posts.body + arches,
    posts.glows,
  )
}

function addRailing(stage: Stage): void {
  const pen = withChance(stage.pen, 'railing')
  const { frame } = pen
  const top = frame.height * 0.86
  const iron = pen.tint([0.2, 0.02, 260], 1)
  const s = short
  let bars = ''
  for (let x = -10; x < frame.width + 10; x += 15) bars += `M${s(x)} ${s(top + 14)}V${s(frame.height)}`
  const rails = rect(-10, top, frame.width + 20, 7, iron) + rect(-10, top + 16, frame.width + 20, 4, iron)
  let posts = ''
  for (let x = stage.focus % 170; x < frame.width + 20; x += 170)
    posts += rect(x - 6, top - 10, 12, 200, iron, { rx: 2 }) + `<circle cx="${s(x)}" cy="${s(top - 13)}" r="8" fill="${iron}"/>`
  const x = stage.focus
  const who = person(pen, x, frame.height * 1.02, frame.height * 0.3, 0.98, stage.pen.light.wet)
  const lamp = lamps(
    pen,
    x > frame.width / 2 ? frame.width * 0.06 : frame.width * 0.86,
    (x > frame.width / 2 ? frame.width * 0.06 : frame.width * 0.86) + 80,
    frame.height * 1.02,
    frame.height * 0.44,
    1,
    80,
  )
  addShapes(stage, 1, lamp.body + line(bars, iron, 3) + rails + posts + who, lamp.glows)
}
