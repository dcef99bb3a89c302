import { mix, shift, type Lch } from '../colour/oklch.ts'
import { withChance } from '../drawing/pen.ts'
import { addSky } from './skies.ts'
import { addShapes, type Stage } from '../drawing/stage.ts'
import { circle, el, group, path, short, smooth, type Point } from '../drawing/svg.ts'

/** The sky of styles that cut it, stars at night, and the disc of the sun or moon. */
export function addSkyAndBodies(stage: Stage): void {
  const { light } = stage.pen
  addSky(stage)
  if (light.time === 'night' && light.clouds < 0.55) addStars(stage)
  if (stage.body.shown) addShapes(stage, 0.02, stage.body.moon ? moon(stage) : sun(stage), [], true)
}

function addStars(stage: Stage): void {
  const pen = withChance(stage.pen, 'stars')
  const { random, frame } = pen
  const count = Math.round((stage.reading.extras.has('stars') ? 260 : 130) * (stage.horizon / frame.height))
  const colour = pen.pure([0.95, 0.03, 95])
  const stars = Array.from({ length: count }, () => {
    const x = random.between(0, frame.width)
    const y = random.next() ** 1.15 * stage.horizon * 0.94
    const size = 0.55 + random.next() ** 5 * 2.3
    const opacity = random.between(0.35, 1) * (1 - (y / stage.horizon) * 0.7)
    if (Math.hypot(x - stage.body.x, y - stage.body.y) < stage.body.radius * 1.5) return ''
    return size > 1.9 ? path(sparkle(x, y, size * 3.1), colour, { opacity }) : circle(x, y, size, colour, { opacity })
  })
  stage.plates.push({ kind: 'shapes', depth: 0, body: group({ stroke: 'none' }, ...stars), flat: true })
}

/** Four points with hollow sides. */
function sparkle(x: number, y: number, reach: number): string {
  const s = short
  return `M${s(x)} ${s(y - reach)}Q${s(x)} ${s(y)} ${s(x + reach)} ${s(y)}Q${s(x)} ${s(y)} ${s(x)} ${s(y + reach)}Q${s(x)} ${s(y)} ${s(x - reach)} ${s(y)}Q${s(x)} ${s(y)} ${s(x)} ${s(y - reach)}Z`
}

/** In old prints the sun is red. */
function sun({ pen, body }: Stage): string {
  const face: Lch = pen.hand.outline && pen.light.time !== 'day' ? [0.6, 0.17, 32] : pen.light.face
  return circle(body.x, body.y, body.radius, pen.pure(face))
}

function moon(stage: Stage): string {
  const { pen, body } = stage
  const { x, y, radius } = body
  const { random } = withChance(pen, 'moon')
  const clip = pen.name()
  const seas = Array.from({ length: 7 }, () => {
    const turn = random.between(0, 6.283)
    const out = random.between(0.1, 0.75) * radius
    return path(
      blob(x + Math.cos(turn) * out, y + Math.sin(turn) * out, radius * random.between(0.1, 0.3), random.between(0, 6)),
      pen.pure(shift(pen.light.face, -0.05)),
      { opacity: 0.7 },
    )
  })
  const dim = pen.pure(mix(pen.light.face, pen.light.sky[1] ?? pen.light.haze, 0.25))
  return [
    el('clipPath', { id: clip }, circle(x, y, radius, '#000')),
    circle(x, y, radius, pen.pure(pen.light.face)),
    group(
      { 'clip-path': `url(#${clip})`, stroke: 'none' },
      ...seas,
      circle(x - pen.light.side * radius * 0.22, y + radius * 0.12, radius * 1.08, 'none', {
        stroke: dim,
        'stroke-width': radius * 0.2,
        opacity: 0.35,
      }),
    ),
  ].join('')
}

function blob(x: number, y: number, radius: number, turn: number): string {
  const points = Array.from({ length: 7 }, (_, index): Point => {
    const angle = turn + (index / 7) * 6.283
    const reach = radius * (1 + 0.28 * Math.sin(angle * 3 + turn * 5))
    return [x + Math.cos(angle) * reach * 1.15, y + Math.sin(angle) * reach * 0.85]
  })
  return smooth(points, true)
}
