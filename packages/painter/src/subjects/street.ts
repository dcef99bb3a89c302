import { shift, type Lch } from '../colour/oklch.ts'
import { withChance } from '../drawing/pen.ts'
import { addShapes, type Stage } from '../drawing/stage.ts'
import { rect } from '../drawing/svg.ts'
import { addSkyAndBodies } from '../motifs/sky.ts'
import { garland, lantern, PAPERS } from '../motifs/lantern.ts'
import { cat, person } from '../motifs/people.ts'
import { skyline } from '../motifs/skyline.ts'
import { lamps, row, spire } from '../motifs/town.ts'
import { broadleaf } from '../motifs/trees.ts'
import { afloat } from '../motifs/boats.ts'
import { together, unlit } from '../motifs/drawn.ts'
import { line } from '../drawing/svg.ts'
import { addBirds } from './birds-and-balloons.ts'

/** Houses across a square, people, and a pavement that shines when it is wet. */
export function drawStreet(stage: Stage): void {
  const { pen, horizon, focus } = stage
  const { frame } = pen
  const { snow } = stage.reading
  addSkyAndBodies(stage)
  const far = skyline(withChance(pen, 'far'), {
    from: -20,
    to: frame.width + 20,
    base: horizon,
    height: frame.height * 0.32,
    depth: 0.22,
    peak: focus,
  })
  addShapes(stage, 0.2, far.body)
  stage.plates.push({ kind: 'mist', y: horizon - 20, height: frame.height * 0.16, strength: 0.42 })
  const tower = spire(withChance(pen, 'spire'), focus, horizon, frame.height * 0.5, 0.46)
  const back = row(withChance(pen, 'back'), {
    from: -30,
    to: frame.width + 30,
    base: horizon - 20,
    height: frame.height * 0.2,
    depth: 0.46,
    snow,
  })
  const behind = together(tower, back)
  addShapes(stage, 0.46, behind.body, behind.glows)
  const houses = row(withChance(pen, 'front'), {
    from: -30,
    to: frame.width + 40,
    base: horizon + 6,
    height: frame.height * 0.25,
    depth: 0.72,
    snow,
  })
  addShapes(stage, 0.7, houses.body, houses.glows)
  addPavement(stage)
  addPeople(stage)
  if (stage.reading.extras.has('lanterns')) addGarlands(stage)
  addBirds(stage, false)
  stage.words.unshift('a street of gabled houses', pen.light.wet ? 'a wet pavement that mirrors them' : 'a square', 'people')
}

function addPavement(stage: Stage): void {
  const pen = withChance(stage.pen, 'pavement')
  const { frame, random } = pen
  const top = stage.horizon + 6
  const posts = lamps(pen, -40, frame.width, top + 4, 62, 0.8, 168)
  const trees = Array.from({ length: 4 }, (_, index) =>
    index === 1
      ? ''
      : broadleaf(pen, {
          x: frame.width * (0.1 + index * 0.27) + random.around(0, 30),
          y: top + 6,
          height: random.between(84, 116),
          depth: 0.78,
          snow: stage.reading.snow,
        }),
  )
  addShapes(stage, 0.78, trees.join('') + posts.body, posts.glows)
  if (pen.light.wet && pen.hand.water === 'mirror') {
    stage.plates.push({ kind: 'water', top: top + 2, bottom: frame.height })
    return
  }
  const stone: Lch = stage.reading.snow ? [0.93, 0.015, 245] : [0.58, 0.025, 70]
  const bands = Array.from({ length: 7 }, (_, index) => {
    const y = top + (frame.height - top) * (index / 7) ** 1.6
    return rect(
      -10,
      y,
      frame.width + 20,
      frame.height - y + 10,
      pen.tint(shift(stone, -0.025 * index), 0.74 + index * 0.035),
      index > 0 ? { stroke: 'none' } : {},
    )
  })
  addShapes(stage, 0.74, bands.join(''))
}

function addPeople(stage: Stage): void {
  const pen = withChance(stage.pen, 'people')
  const { frame, random } = pen
  const room = frame.height - stage.horizon
  const standing = (x: number, share: number, depth: number): ReturnType<typeof unlit> => {
    const y = stage.horizon + 12 + room * share
    const body = person(pen, x, y, 44 + share * frame.height * 0.36, depth, pen.light.wet && random.chance(0.85))
    return pen.light.wet ? afloat(pen, y, unlit(body)) : unlit(body)
  }
  const far = together(
    ...Array.from({ length: 7 }, () => standing(random.between(0, frame.width), random.between(0.02, 0.16), 0.82)),
  )
  addShapes(stage, 0.82, far.body)
  const near = standing(stage.focus, 0.56, 0.98)
  const second = random.chance(0.5)
    ? standing(stage.focus + (stage.focus > frame.width / 2 ? -1 : 1) * frame.height * 0.13, 0.53, 0.97)
    : unlit('')
  const pet = stage.reading.extras.has('cat')
    ? cat(pen, frame.width - stage.focus, frame.height * 0.95, frame.height * 0.11, 1)
    : ''
  if (pet) stage.words.push('a cat')
  addShapes(stage, 0.96, second.body + near.body + pet)
}

function addGarlands(stage: Stage): void {
  const pen = withChance(stage.pen, 'garlands')
  const { frame, random } = pen
  for (const share of [0.3, 0.46]) {
    const y = stage.horizon * share
    const { cord, at } = garland([-20, y - 30], [frame.width + 20, y], frame.height * 0.09, 9)
    const lights = together(...at.map(([x, py]) => lantern(pen, x, py + 24, 36 + share * 30, random.pick(PAPERS), 0.92)))
    addShapes(stage, 0.9, line(cord, pen.tint([0.25, 0.02, 260], 0.9), 1.6) + lights.body, lights.glows)
  }
  stage.words.push('strings of lanterns')
}
