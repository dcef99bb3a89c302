import { shift, type Lch } from '../colour/oklch.ts'
import { shade, withChance } from '../drawing/pen.ts'
import { addShapes, type Stage } from '../drawing/stage.ts'
import { ellipse, path, short } from '../drawing/svg.ts'
import { ground, heightAt, swell } from '../drawing/terrain.ts'
import { cottage } from '../motifs/dwellings.ts'
import { flower, KINDS, PETALS, type Kind } from '../motifs/flowers.ts'
import { addSkyAndBodies } from '../motifs/sky.ts'
import { farRidge } from '../motifs/peaks.ts'
import { grass } from '../motifs/plants.ts'
import { broadleaf, poplar } from '../motifs/trees.ts'
import { addBalloons, addBirds } from './birds-and-balloons.ts'

const PLURALS: Partial<Record<Kind, string>> = { poppy: 'poppies', daisy: 'daisies', lavender: 'lavender', cosmos: 'cosmos' }

/** Flowers from a low viewpoint: small ones behind, large ones against the sky. */
export function drawGarden(stage: Stage): void {
  const { pen, horizon } = stage
  const { frame, random } = pen
  addSkyAndBodies(stage)
  addBalloons(stage)
  addShapes(stage, 0.14, farRidge(withChance(pen, 'hills'), horizon, frame.height * 0.12, [0.52, 0.06, 190], 0.16))
  addGrove(stage)
  const kinds = pickKinds(stage)
  const meadow: Lch = random.pick<Lch>([
    [0.6, 0.11, 128],
    [0.56, 0.1, 138],
    [0.64, 0.1, 118],
  ])
  for (let band = 0; band < 4; band++) addBed(stage, band, kinds, meadow)
  addForeground(stage, kinds)
  addButterflies(stage)
  addBirds(stage, false)
  stage.words.unshift('a garden in flower', kinds.map((kind) => PLURALS[kind] ?? `${kind}s`).join(', '))
}

function pickKinds(stage: Stage): Kind[] {
  const random = stage.pen.random.fork('kinds')
  const asked = KINDS.filter((kind) => stage.reading.flowers.has(kind))
  const rest = KINDS.filter((kind) => !asked.includes(kind) && kind !== 'sunflower')
  const more = Array.from({ length: Math.max(0, (asked.length > 0 ? 2 : 3) - asked.length) }, () => random.pick(rest))
  return [...new Set([...asked, ...more])]
}

function addGrove(stage: Stage): void {
  const pen = withChance(stage.pen, 'grove')
  const { frame, random } = pen
  const base = swell(pen, stage.horizon + 6, 8, 0.8)
  const trees = Array.from({ length: Math.round(frame.width / 46) }, (_, index) => {
    const x = index * 46 + random.around(0, 22)
    if (Math.abs(x - stage.focus) < 92) return ''
    const y = heightAt(base, x) + 4
    return random.chance(0.3)
      ? poplar(pen, { x, y, height: random.between(60, 120), depth: 0.5 })
      : broadleaf(pen, { x, y, height: random.between(54, 104), depth: 0.5 })
  })
  const home = cottage(pen, stage.focus, heightAt(base, stage.focus) + 6, 92, 0.55)
  addShapes(stage, 0.48, trees.join('') + home.body + path(ground(pen, base), pen.tint([0.55, 0.1, 135], 0.5)), home.glows)
}

function addBed(stage: Stage, band: number, kinds: readonly Kind[], meadow: Lch): void {
  const pen = withChance(stage.pen, `bed ${band}`)
  const { frame, random } = pen
  const t = band / 3.4
  const depth = 0.58 + t * 0.34
  const y = stage.horizon + 22 + (frame.height - stage.horizon) * (0.05 + t ** 1.35 * 0.72)
  const line = swell(pen, y, 7 + t * 6, 0.7)
  const fill = shade(pen, y - 10, y + frame.height * 0.2, [
    [0, pen.tint(shift(meadow, 0.04 - t * 0.07), depth)],
    [1, pen.tint(shift(meadow, -0.06 - t * 0.08), depth)],
  ])
  const size = 6.5 + t * t * 30
  const room = (frame.height - stage.horizon) * (0.1 + t * 0.24)
  const count = Math.round((frame.width * room) / (size * size * 3.1))
  const kind = kinds[band % kinds.length] ?? 'daisy'
  const drift = random.between(0, 7)
  const places = Array.from({ length: count }, () => ({ x: random.between(-10, frame.width + 10), down: random.next() }))
  const blossoms = places
    .sort((a, b) => a.down - b.down)
    .map(({ x, down }) => {
      // Each kind grows in drifts, not evenly mixed.
      const patch = Math.sin(x / (90 + t * 160) + drift) + Math.sin(x / 57 + down * 4 + drift * 2) * 0.5
      const own = patch > -0.35 ? kind : (kinds[(band + 1) % kinds.length] ?? kind)
      const near = 0.8 + down * 0.45
      return flower(pen, {
        x,
        y: heightAt(line, x) + size * 0.8 + room * down,
        stem: size * random.between(0.9, 1.7),
        size: size * near * random.between(0.75, 1.15),
        depth,
        colour: random.pick(PETALS[own]),
        kind: own,
      })
    })
  addShapes(
    stage,
    depth,
    fill.defs +
      grass(pen, line, size * 1.6, Math.round(frame.width / 5), pen.tint(shift(meadow, -0.07), depth)) +
      path(ground(pen, line), fill.fill) +
      blossoms.join(''),
  )
}

/** The large flowers, from below the picture's edge up to the sky, on both sides of the middle. */
function addForeground(stage: Stage, kinds: readonly Kind[]): void {
  const pen = withChance(stage.pen, 'blossoms')
  const { frame, random } = pen
  const side = stage.focus > frame.width / 2 ? -1 : 1
  const large = Array.from({ length: 15 }, (_, index) => {
    const main = index < 10
    const out = main ? random.between(0.02, 0.34) : random.between(0.78, 1)
    const x = side === -1 ? frame.width * out : frame.width * (1 - out)
    const kind = kinds[index % kinds.length] ?? 'poppy'
    return {
      x,
      y: frame.height + 20,
      stem: frame.height * (main ? random.between(0.2, 0.62) : random.between(0.1, 0.26)),
      size: frame.height * (main ? random.between(0.085, 0.13) : 0.08),
      depth: 0.98,
      colour: random.pick(PETALS[kind]),
      kind,
    }
  }).sort((a, b) => b.stem - a.stem)
  const bank = swell(pen, frame.height * 1.01, 5, 1)
  addShapes(
    stage,
    0.97,
    grass(pen, bank, frame.height * 0.16, Math.round(frame.width * 0.2), pen.tint([0.36, 0.085, 140], 1)) +
      large.map((one) => flower(pen, one)).join(''),
  )
}

function addButterflies(stage: Stage): void {
  const pen = withChance(stage.pen, 'butterflies')
  const { frame, random, light } = pen
  if (light.time === 'night' || stage.reading.snow) return
  const drawn = Array.from({ length: 3 }, () => {
    const x = random.between(0.3, 0.8) * frame.width
    const y = stage.horizon + random.between(-0.05, 0.2) * frame.height
    const size = random.between(8, 15)
    const colour = pen.tint(
      random.pick<Lch>([
        [0.82, 0.16, 80],
        [0.95, 0.02, 90],
        [0.7, 0.14, 45],
      ]),
      0.9,
    )
    const wing = (sign: -1 | 1): string =>
      ellipse(x + sign * size * 0.45, y - size * 0.25, size * 0.46, size * 0.34, colour, {
        transform: `rotate(${sign * -32} ${short(x)} ${short(y)})`,
      }) + ellipse(x + sign * size * 0.32, y + size * 0.22, size * 0.28, size * 0.24, colour)
    return wing(-1) + wing(1) + ellipse(x, y, size * 0.06, size * 0.4, pen.tint([0.25, 0.02, 50], 0.9))
  })
  addShapes(stage, 0.95, drawn.join(''))
}
