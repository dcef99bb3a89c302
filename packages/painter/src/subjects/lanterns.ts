import { shift, type Lch } from '../colour/oklch.ts'
import { withChance } from '../drawing/pen.ts'
import { addShapes, type Stage } from '../drawing/stage.ts'
import { line, short } from '../drawing/svg.ts'
import { heightAt } from '../drawing/terrain.ts'
import { addWater } from '../drawing/water.ts'
import { paperBoat } from '../motifs/boats.ts'
import { together, type Drawn } from '../motifs/drawn.ts'
import { addSkyAndBodies } from '../motifs/sky.ts'
import { garland, lantern, PAPERS, skyLantern } from '../motifs/lantern.ts'
import { farRidge } from '../motifs/peaks.ts'
import { person } from '../motifs/people.ts'
import { addNearBank } from '../motifs/plants.ts'
import { branch, dabs, AUTUMN } from '../motifs/trees.ts'
import { row, spire } from '../motifs/town.ts'

/** Lanterns over water, rising into the sky or hanging from a bough, with a town behind them and people who watch. */
export function drawLanterns(stage: Stage): void {
  const { pen, horizon } = stage
  const { frame, random } = pen
  addSkyAndBodies(stage)
  addShapes(stage, 0.16, farRidge(withChance(pen, 'far'), horizon + 2, frame.height * 0.17, [0.48, 0.06, 260], 0.2))
  addShapes(stage, 0.32, farRidge(withChance(pen, 'hills'), horizon + 8, frame.height * 0.08, [0.42, 0.06, 250], 0.4))
  addFarTown(stage)
  addWater(stage, horizon + 16)
  addFloating(stage)
  const released = random.chance(0.55)
  if (released) addReleased(stage)
  else addHanging(stage)
  addWatchers(stage)
  stage.words.unshift(
    released ? 'paper lanterns rising into the sky' : 'paper lanterns hung from a bough',
    'a town across the water',
    'people watching from the bank',
  )
}

function addFarTown(stage: Stage): void {
  const pen = withChance(stage.pen, 'town')
  const { frame } = pen
  const base = stage.horizon + 14
  const tower = spire(pen, stage.focus, base, frame.height * 0.2, 0.52)
  const houses = row(pen, { from: -20, to: frame.width + 20, base, height: 50, depth: 0.52, snow: stage.reading.snow })
  addShapes(stage, 0.5, tower.body + houses.body, [...tower.glows, ...houses.glows])
}

function addFloating(stage: Stage): void {
  const pen = withChance(stage.pen, 'floating')
  const { frame, random } = pen
  const water = frame.height - stage.horizon
  const boats = Array.from({ length: 16 }, () => {
    const t = random.next() ** 0.8
    const x = random.between(0.04, 0.96) * frame.width
    const y = stage.horizon + 34 + water * 0.62 * t
    const size = 16 + t * 40
    const colour = random.pick(PAPERS)
    // A candle lights each lantern from inside, so its paper shows the same colour at any time of day.
    const glowing = pen.light.lit ? { ...pen, tint: (own: Lch): string => pen.pure(own) } : pen
    const boat = paperBoat(glowing, { x, y, size, depth: 0.8, colour: shift(colour, 0.08) })
    const lit = pen.light.lit ? [{ x, y: y - size * 0.2, radius: size * 1.5, colour, strength: 0.5 }] : []
    return { y, thing: { body: boat.body, glows: [...boat.glows, ...lit] } }
  }).sort((a, b) => a.y - b.y)
  const all = together(...boats.map(({ thing }) => thing))
  addShapes(stage, 0.74, all.body, all.glows)
}

/** A stream of lanterns that rise from the bank and get smaller with height. */
function addReleased(stage: Stage): void {
  const pen = withChance(stage.pen, 'released')
  const { frame, random } = pen
  const things: Drawn[][] = [[], [], []]
  for (let index = 0; index < 52; index++) {
    const t = random.next()
    const spread = frame.width * (0.12 + 0.42 * t)
    const x = stage.focus + (frame.width / 2 - stage.focus) * t * 0.9 + random.around(0, spread)
    const y = frame.height * (0.66 - 0.62 * t) + random.around(0, 36)
    const size = (58 * (1 - t) ** 1.6 + 9) * random.between(0.75, 1.2)
    things[size > 34 ? 2 : size > 18 ? 1 : 0]?.push(skyLantern(pen, x, y, size, Math.min(1, 0.4 + size / 70)))
  }
  for (const [index, group] of things.entries()) {
    const all = together(...group)
    addShapes(stage, 0.5 + index * 0.2, all.body, all.glows)
  }
}

function addHanging(stage: Stage): void {
  const pen = withChance(stage.pen, 'hanging')
  const { frame, random } = pen
  const way = stage.focus > frame.width / 2 ? 1 : -1
  const start = way === 1 ? frame.width + 30 : -30
  const bark = pen.tint([0.24, 0.03, 40], 1)
  const boughs = [0.05, 0.22].map((share, index) =>
    branch(
      pen,
      {
        from: [start, frame.height * share],
        angle: (way === 1 ? Math.PI : 0) + way * (index === 0 ? -0.16 : -0.02),
        length: frame.width * 0.24,
        width: 26 - index * 8,
      },
      3,
      bark,
    ),
  )
  const leaves = dabs(
    pen,
    boughs.flatMap(({ ends }) => ends),
    AUTUMN,
    6,
    6,
    0.92,
  )
  const cords: string[] = []
  const hung = Array.from({ length: 8 }, (_, index) => {
    const x = start - way * frame.width * (0.07 + index * 0.075) + random.around(0, 12)
    const from = frame.height * (0.1 + 0.03 * (index % 3))
    const size = 74 - index * 5 + random.around(0, 14)
    const y = from + frame.height * random.between(0.1, 0.24)
    cords.push(`M${short(x)} ${short(from)}V${short(y - size * 0.45)}`)
    return lantern(pen, x, y, size, random.pick(PAPERS), 0.96)
  })
  const { cord, at } = garland([-20, stage.horizon - 130], [frame.width + 20, stage.horizon - 160], 46, 22)
  const bulbs = together(...at.map(([x, y]) => lantern(pen, x, y + 8, 13, random.pick(PAPERS), 0.7)))
  addShapes(stage, 0.66, line(cord, pen.tint([0.3, 0.03, 60], 0.7), 1) + bulbs.body, bulbs.glows)
  const all = together(...hung)
  addShapes(stage, 0.95, boughs.map(({ body }) => body).join('') + leaves + line(cords.join(''), bark, 1.5) + all.body, all.glows)
}

function addWatchers(stage: Stage): void {
  const bank = addNearBank(stage, 0.94)
  const pen = withChance(stage.pen, 'watchers')
  const { frame } = pen
  const way = stage.focus > frame.width / 2 ? -1 : 1
  const x = (share: number): number => (way === -1 ? frame.width * share : frame.width * (1 - share))
  const people = [
    { at: 0.16, height: 0.19 },
    { at: 0.21, height: 0.17 },
    { at: 0.255, height: 0.11 },
    { at: 0.72, height: 0.16 },
  ].map(({ at, height }) => person(pen, x(at), heightAt(bank, x(at)) + 14, frame.height * height, 1))
  addShapes(stage, 0.99, people.join(''))
}
