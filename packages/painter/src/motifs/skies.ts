import { mix, mixStops, shift, type Lch } from '../colour/oklch.ts'
import { shade, withChance, type Pen } from '../drawing/pen.ts'
import { addShapes, type Stage } from '../drawing/stage.ts'
import { path, rect, short, smooth, straight, type Point } from '../drawing/svg.ts'

/** Skies of styles that cut or print. A painted sky is made of pixels (raster/sky.ts). */
export function addSky(stage: Stage): void {
  const { sky } = stage.pen.hand
  if (sky === 'rings') addRings(stage)
  if (sky === 'bands' || sky === 'rays') addPosterSky(stage, sky)
  if (sky === 'bokashi') addBokashi(stage)
}

/** Stacked sheets, each with a hole, the widest on top. The light shows through all of them. */
function addRings(stage: Stage): void {
  const pen = withChance(stage.pen, 'rings')
  const { random, frame, light } = pen
  const { body } = stage
  const count = 4
  addShapes(
    stage,
    0,
    rect(-10, -10, frame.width + 20, frame.height + 20, pen.pure(mix(light.glow, light.sky.at(-1) ?? light.glow, 0.4))),
  )
  for (let ring = 0; ring < count; ring++) {
    const t = (ring + 0.6) / count
    const radius = body.radius * 1.9 + (Math.hypot(frame.width, frame.height) * 0.6 - body.radius) * t ** 1.25
    const hole = wobbly(pen, body.x, body.y, radius, 0.02 + t * 0.035)
    const colour = skyAt(light.sky, 1 - t * 0.98)
    addShapes(
      stage,
      0.12 + t * 0.16,
      path(`M-20 -20H${short(frame.width + 20)}V${short(frame.height + 20)}H-20Z${hole}`, pen.pure(colour), {
        'fill-rule': 'evenodd',
      }),
    )
  }
  if (random.chance(0.8)) addPaperClouds(stage)
}

export function skyAt(sky: readonly Lch[], along: number): Lch {
  const at = Math.min(sky.length - 1.001, Math.max(0, along * (sky.length - 1)))
  return mixStops(sky, at)
}

function wobbly(pen: Pen, x: number, y: number, radius: number, share: number): string {
  const phase = pen.random.between(0, 7)
  const points = Array.from({ length: 30 }, (_, index): Point => {
    const angle = (index / 30) * 6.2832
    const reach = radius * (1 + share * (Math.sin(angle * 3 + phase) + 0.7 * Math.sin(angle * 5 - phase * 2)))
    return [x + Math.cos(angle) * reach, y + Math.sin(angle) * reach]
  })
  return smooth(points, true)
}

function addPaperClouds(stage: Stage): void {
  const pen = withChance(stage.pen, 'clouds')
  const { random, frame, light } = pen
  const count = 2 + Math.round(light.clouds * 3)
  for (let index = 0; index < count; index++) {
    const far = index / count
    const x = frame.width * ((index * 0.41 + random.between(0, 0.3)) % 1)
    const y = stage.horizon * random.between(0.16, 0.62)
    const width = random.between(90, 190) * (0.7 + far * 0.5)
    const colour = mix(light.cloudLit, skyAt(light.sky, 0.3), 0.3 - far * 0.15)
    addShapes(stage, 0.24 + far * 0.14, path(puff(pen, x, y, width), pen.pure(colour)))
  }
}

/** A cloud with a flat foot and round tops. */
function puff(pen: Pen, x: number, y: number, width: number): string {
  const { random } = pen
  const lobes = random.whole(4, 6)
  let d = `M${short(x - width / 2)} ${short(y)}`
  let at = x - width / 2
  for (let lobe = 0; lobe < lobes; lobe++) {
    const middle = 1 - Math.abs((lobe + 0.5) / lobes - 0.5) * 1.3
    const step = (width / lobes) * random.between(0.85, 1.15)
    const end = lobe === lobes - 1 ? x + width / 2 : at + step
    const lift = width * 0.2 * middle * random.between(0.8, 1.3)
    d += `C${short(at - step * 0.1)} ${short(y - lift * 1.5)} ${short(end + step * 0.1)} ${short(y - lift * 1.5)} ${short(end)} ${short(lobe === lobes - 1 ? y : y - lift * 0.3)}`
    at = end
  }
  const round = width * 0.045
  return `${d}Q${short(x + width / 2 + round)} ${short(y + round)} ${short(x + width / 2 - round)} ${short(y + round)}H${short(x - width / 2 + round)}Q${short(x - width / 2 - round)} ${short(y + round)} ${short(x - width / 2)} ${short(y)}Z`
}

function addPosterSky(stage: Stage, sky: 'bands' | 'rays'): void {
  const { pen, body } = stage
  const { frame, light } = pen
  const reach = Math.hypot(frame.width, frame.height)
  const parts = [rect(-10, -10, frame.width + 20, frame.height + 20, pen.pure(skyAt(light.sky, 0.12)))]
  if (sky === 'rays') {
    const rays = 14
    const pale = pen.pure(skyAt(light.sky, 0.42))
    for (let ray = 0; ray < rays; ray++) {
      const from = ((ray - 0.25) / rays) * 6.2832
      const to = ((ray + 0.25) / rays) * 6.2832
      parts.push(
        path(
          straight([
            [body.x, body.y],
            [body.x + Math.cos(from) * reach, body.y + Math.sin(from) * reach],
            [body.x + Math.cos(to) * reach, body.y + Math.sin(to) * reach],
          ]),
          pale,
        ),
      )
    }
  }
  const rings = sky === 'rays' ? [0.2, 0.12] : [0.62, 0.44, 0.29, 0.17]
  for (const [index, share] of rings.entries()) {
    const along = sky === 'rays' ? 0.66 + index * 0.2 : 0.32 + index * 0.2
    parts.push(
      `<circle cx="${short(body.x)}" cy="${short(body.y)}" r="${short(share * reach * 0.8 + body.radius * 0.6)}" fill="${pen.pure(skyAt(light.sky, along))}"/>`,
    )
  }
  addShapes(stage, 0, parts.join(''))
}

/**
 * The printer wipes the block so that the colour fades: dark at the top, clear in the middle, warm at the horizon
 * (bokashi).
 */
function addBokashi(stage: Stage): void {
  const pen = withChance(stage.pen, 'bokashi')
  const { frame, light, random } = pen
  const top = shift(skyAt(light.sky, 0.05), -0.06, 1.1)
  const clear = skyAt(light.sky, 0.62)
  const fill = shade({ ...pen, hand: { ...pen.hand, flat: false } }, 0, stage.horizon, [
    [0, pen.pure(top)],
    [0.16, pen.pure(skyAt(light.sky, 0.25))],
    [0.42, pen.pure(clear)],
    [0.75, pen.pure(clear)],
    [1, pen.pure(skyAt(light.sky, 1))],
  ])
  stage.plates.push({
    kind: 'shapes',
    depth: 0,
    flat: true,
    body: fill.defs + rect(-10, -10, frame.width + 20, frame.height + 20, fill.fill),
  })
  const bands = 2 + Math.round(light.clouds * 4)
  const colour = pen.pure(mix(light.cloudLit, clear, 0.4))
  for (let band = 0; band < bands; band++) {
    const y = stage.horizon * random.between(0.12, 0.86)
    const x = frame.width * random.between(-0.1, 0.9)
    stage.plates.push({ kind: 'shapes', depth: 0, flat: true, body: path(streamer(pen, x, y), colour, { opacity: 0.85 }) })
  }
}

/** Long bars with round ends, one above the other, like the clouds of old woodblock prints. */
function streamer(pen: Pen, x: number, y: number): string {
  const { random, frame } = pen
  return Array.from({ length: random.whole(2, 3) }, (_, index) => {
    const height = random.between(9, 15)
    const width = frame.width * random.between(0.16, 0.42)
    const left = x + random.around(0, 70)
    const top = y + index * height * 0.92
    const s = short
    return `M${s(left)} ${s(top)}h${s(width)}a${s(height / 2)} ${s(height / 2)} 0 0 1 0 ${s(height)}h${s(-width)}a${s(height / 2)} ${s(height / 2)} 0 0 1 0 ${s(-height)}Z`
  }).join('')
}
