import { shift, type Lch } from '../colour/oklch.ts'
import { withChance } from '../drawing/pen.ts'
import { addShapes, type Stage } from '../drawing/stage.ts'
import { line, path, short, smooth, straight, type Point } from '../drawing/svg.ts'
import { roughen } from '../drawing/terrain.ts'
import { addWater, waterColour } from '../drawing/water.ts'
import { sailboat } from '../motifs/boats.ts'
import { together } from '../motifs/drawn.ts'
import { addSkyAndBodies } from '../motifs/sky.ts'
import { lighthouse } from '../motifs/lighthouse.ts'
import { farRidge } from '../motifs/peaks.ts'
import { addBalloons, addBirds } from './birds-and-balloons.ts'

/** Open water, a headland with a lighthouse, sails, and breaking waves in the foreground. */
export function drawSea(stage: Stage): void {
  const { pen, horizon, focus } = stage
  const { frame } = pen
  addSkyAndBodies(stage)
  addBalloons(stage)
  addShapes(stage, 0.14, farRidge(withChance(pen, 'isles'), horizon + 3, frame.height * 0.055, [0.5, 0.06, 245], 0.2))
  addWater(stage, horizon)
  addSails(stage)
  addHeadland(stage, focus > frame.width / 2)
  if (stage.reading.weather === 'storm' || stage.reading.style === 'woodblock') addBreaker(stage)
  addBirds(stage, true)
  stage.words.unshift('the open sea', 'a headland with a lighthouse', 'sails')
}

function addSails(stage: Stage): void {
  const pen = withChance(stage.pen, 'sails')
  const { random, frame } = pen
  const way = stage.focus > frame.width / 2 ? -1 : 1
  const boats = Array.from({ length: random.whole(2, 4) }, (_, index) =>
    sailboat(pen, {
      x: stage.focus + way * frame.width * (0.24 + index * 0.12) + random.around(0, 20),
      y: stage.horizon + 12 + index * 15 + random.between(0, 8),
      size: 44 + index * 24,
      depth: 0.6 + index * 0.08,
    }),
  )
  const all = together(...boats)
  addShapes(stage, 0.72, all.body, all.glows)
}

function addHeadland(stage: Stage, atRight: boolean): void {
  const pen = withChance(stage.pen, 'headland')
  const { frame, random } = pen
  const x = (share: number): number => (atRight ? frame.width * share : frame.width * (1 - share))
  const top = stage.horizon - frame.height * 0.06
  const foot = stage.horizon + frame.height * 0.2
  const crest: Point[] = [
    [x(0.56), foot],
    [x(0.585), foot - frame.height * 0.1],
    [x(0.62), top + 30],
    [x(0.72), top],
    [x(0.84), top - 16],
    [x(1.04), top - frame.height * 0.07],
  ]
  const edge = pen.hand.angular ? crest : roughen(random, crest, 0.09, 8)
  const rock: Lch = [0.5, 0.04, 55]
  const turf: Lch = stage.reading.snow ? [0.95, 0.01, 240] : [0.52, 0.1, 132]
  const land = path(
    `${straight(edge, false)}L${short(x(1.04))} ${short(foot + 30)}L${short(x(0.8))} ${short(foot + 12)}Z`,
    pen.tint(rock, 0.82),
  )
  const clefts = Array.from({ length: 9 }, (_, index) => {
    const at = 0.6 + index * 0.045
    const from: Point = [x(at), top + 34 + random.between(0, 30)]
    return straight([from, [x(at + 0.02), foot + 14], [x(at + 0.034), foot + 12], [x(at + 0.014), from[1] + 20]])
  })
  const meadow = `${straight(
    [
      [x(0.612), top + 36],
      [x(0.72), top],
      [x(0.84), top - 16],
      [x(1.04), top - frame.height * 0.07],
      [x(1.04), top + 30],
    ],
    false,
  )}Q${short(x(0.86))} ${short(top + 44)} ${short(x(0.74))} ${short(top + 30)}T${short(x(0.612))} ${short(top + 36)}Z`
  const tower = lighthouse(pen, x(0.755), top + 4, frame.height * 0.36, 0.85)
  const foam = line(
    smooth(Array.from({ length: 9 }, (_, index): Point => [x(0.54 + index * 0.065), foot + 10 + random.around(0, 9)])),
    pen.tint([0.97, 0.01, 220], 0.9),
    5,
    { opacity: 0.85 },
  )
  addShapes(
    stage,
    0.82,
    land +
      path(clefts.join(''), pen.tint(shift(rock, -0.1), 0.82), { stroke: 'none', opacity: 0.7 }) +
      path(meadow, pen.tint(turf, 0.82)) +
      tower.body +
      foam,
    tower.glows,
  )
}

/** One great curling wave, as in old woodblock prints. */
function addBreaker(stage: Stage): void {
  const pen = withChance(stage.pen, 'breaker')
  const { frame, random } = pen
  const atLeft = stage.focus > frame.width / 2
  const size = frame.height * 0.42
  const at = (u: number, v: number): string =>
    `${short(atLeft ? u * size : frame.width - u * size)} ${short(frame.height + 10 - v * size)}`
  const wave = `M${at(-0.2, 0)}L${at(-0.2, 0.62)}Q${at(0.12, 0.95)} ${at(0.5, 0.98)}Q${at(0.86, 0.98)} ${at(0.95, 0.66)}Q${at(0.8, 0.84)} ${at(0.62, 0.78)}Q${at(0.44, 0.68)} ${at(0.56, 0.42)}Q${at(0.7, 0.2)} ${at(1.3, 0.12)}L${at(1.7, 0)}Z`
  const body = path(wave, pen.pure(shift(waterColour(stage, 1), -0.06, 1.1)))
  const ribs = [0.12, 0.2, 0.29, 0.38].map((lag) =>
    line(
      `M${at(-0.1 + lag * 0.4, 0.12)}Q${at(0.1 + lag * 0.2, 0.7 - lag * 0.5)} ${at(0.46, 0.94 - lag * 0.55)}`,
      pen.pure(shift(waterColour(stage, 0.3), 0.12)),
      3,
      { opacity: 0.8 },
    ),
  )
  const foam = Array.from({ length: 26 }, (_, index) => {
    const t = index / 25
    const [u, v] = [0.16 + t * 0.8, t < 0.6 ? 0.95 + Math.sin(t * 5.2) * 0.04 : 0.98 - (t - 0.6) * 0.85]
    const [cx = 0, cy = 0] = at(u + random.around(0, 0.03), v + random.around(0, 0.03))
      .split(' ')
      .map(Number)
    return `<circle cx="${short(cx)}" cy="${short(cy)}" r="${short(size * random.between(0.02, 0.055))}"/>`
  })
  addShapes(stage, 0.97, body + ribs.join('') + `<g fill="${pen.tint([0.97, 0.012, 200], 1)}">${foam.join('')}</g>`)
  stage.words.push('a breaking wave')
}
