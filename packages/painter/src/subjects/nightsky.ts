import { withChance } from '../drawing/pen.ts'
import { addShapes, type Stage } from '../drawing/stage.ts'
import { circle, group, line, path, short } from '../drawing/svg.ts'
import { ground, heightAt, swell } from '../drawing/terrain.ts'
import { addWater } from '../drawing/water.ts'
import { tent } from '../motifs/dwellings.ts'
import { addSkyAndBodies } from '../motifs/sky.ts'
import { farRidge } from '../motifs/peaks.ts'
import { cat, person } from '../motifs/people.ts'
import { pine } from '../motifs/pine.ts'
import { addNearBank } from '../motifs/plants.ts'
import { branching } from '../motifs/trees.ts'
import { addBirds } from './birds-and-balloons.ts'

/** Almost only sky: a band of stars, low land, and a small person who looks up. */
export function drawNightSky(stage: Stage): void {
  const { pen, horizon } = stage
  const { frame, random } = pen
  addSkyAndBodies(stage)
  if (pen.light.time === 'night') addMilkyWay(stage)
  addShapes(stage, 0.2, farRidge(withChance(pen, 'far'), horizon + 6, frame.height * 0.14, [0.45, 0.06, 265], 0.24))
  addShapes(stage, 0.42, farRidge(withChance(pen, 'hills'), horizon + 16, frame.height * 0.07, [0.4, 0.06, 255], 0.48))
  const lake = stage.reading.extras.has('water') || random.chance(0.5)
  if (lake) addWater(stage, horizon + 14)
  else addHills(stage)
  addLookout(stage)
  addBirds(stage, false)
  stage.words.unshift(
    pen.light.time === 'night' ? 'a wide sky full of stars' : 'a wide sky',
    lake ? 'a lake under it' : 'low hills',
  )
}

/** Thousands of faint stars along a slanting line. */
function addMilkyWay(stage: Stage): void {
  const pen = withChance(stage.pen, 'milky way')
  const { frame, random } = pen
  const way = stage.body.x > frame.width / 2 ? 1 : -1
  const warm = pen.pure([0.9, 0.05, 60])
  const cool = pen.pure([0.9, 0.05, 250])
  const haze = Array.from({ length: 60 }, () => {
    const t = random.next()
    const [x, y] = along(stage, t, random.around(0, 52), way)
    return circle(x, y, random.between(24, 74), random.chance(0.3) ? warm : cool, { opacity: 0.014 + 0.012 * Math.sin(t * 3.1) })
  })
  const stars = Array.from({ length: 900 }, () => {
    const [x, y] = along(stage, random.next(), random.around(0, 110), way)
    return circle(x, y, 0.35 + random.next() ** 4 * 1.1, random.chance(0.3) ? warm : cool, { opacity: random.between(0.25, 0.8) })
  })
  const body = pen.hand.outline || pen.hand.angular ? stars : [...haze, ...stars]
  stage.plates.push({ kind: 'shapes', depth: 0, flat: true, body: group({ stroke: 'none' }, ...body) })
  if (random.chance(0.5)) {
    const x = frame.width * (way === 1 ? 0.3 : 0.7)
    const y = stage.horizon * 0.26
    stage.plates.push({
      kind: 'shapes',
      depth: 0,
      flat: true,
      body:
        line(`M${short(x)} ${short(y)}l${short(-way * 96)} ${short(-42)}`, cool, 1.6, { opacity: 0.75 }) + circle(x, y, 2, cool),
    })
  }
}

function along(stage: Stage, t: number, off: number, way: number): [number, number] {
  const { width } = stage.pen.frame
  const x = way === 1 ? width * (0.02 + t * 0.74) : width * (0.98 - t * 0.74)
  const y = stage.horizon * (1.02 - t * 1.12)
  return [x + off * 0.62 * way, y + off * 0.85]
}

function addHills(stage: Stage): void {
  const pen = withChance(stage.pen, 'rolling')
  const { frame, random } = pen
  const hill = swell(pen, stage.horizon + 26, 14, 0.7)
  const trees = Array.from({ length: 26 }, () => {
    const x = random.between(0, frame.width)
    return pine(pen, { x, y: heightAt(hill, x) + 5, height: random.between(18, 44), depth: 0.7 })
  })
  addShapes(stage, 0.66, trees.join('') + path(ground(pen, hill), pen.tint([0.42, 0.07, 150], 0.68)))
}

function addLookout(stage: Stage): void {
  const bank = addNearBank(stage, 0.93)
  const pen = withChance(stage.pen, 'lookout')
  const { frame, random } = pen
  const away = frame.width - stage.focus
  const at = (x: number): number => heightAt(bank, x)
  const tree = branching(pen, { x: away, y: at(away) + 8, height: frame.height * 0.4, depth: 1 })
  const camp = tent(pen, stage.focus, at(stage.focus) + 6, frame.height * 0.13, 0.96)
  const beside = stage.focus + (stage.focus > frame.width / 2 ? -1 : 1) * frame.height * 0.13
  const who = stage.reading.extras.has('cat')
    ? cat(pen, beside, at(beside) + 6, frame.height * 0.07, 1)
    : person(pen, beside, at(beside) + 8, frame.height * 0.115, 1)
  const company = random.chance(0.5) ? person(pen, beside + 26, at(beside + 26) + 8, frame.height * 0.105, 1) : ''
  addShapes(stage, 0.99, tree + camp.body + who + company, camp.glows)
  stage.words.push('a lit tent', stage.reading.extras.has('cat') ? 'a cat looking up' : 'someone looking up', 'a bare tree')
}
