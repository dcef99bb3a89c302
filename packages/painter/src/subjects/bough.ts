import { shift, type Lch } from '../colour/oklch.ts'
import { withChance, type Pen } from '../drawing/pen.ts'
import { addShapes, type Stage } from '../drawing/stage.ts'
import { circle, ellipse, group, line, path, short, type Point } from '../drawing/svg.ts'
import { addSkyAndBodies } from '../motifs/sky.ts'
import { farRidge } from '../motifs/peaks.ts'
import { head } from '../motifs/flowers.ts'
import { AUTUMN, branch } from '../motifs/trees.ts'
import { flock } from '../motifs/birds.ts'

type Plumage = { back: Lch; breast: Lch; cap: Lch; wing: Lch; words: string }
const BIRDS: readonly Plumage[] = [
  { back: [0.48, 0.04, 60], breast: [0.66, 0.2, 42], cap: [0.46, 0.04, 60], wing: [0.4, 0.035, 55], words: 'a robin' },
  { back: [0.55, 0.1, 240], breast: [0.88, 0.13, 95], cap: [0.5, 0.13, 250], wing: [0.45, 0.1, 245], words: 'a blue tit' },
  { back: [0.3, 0.02, 270], breast: [0.64, 0.2, 30], cap: [0.22, 0.02, 270], wing: [0.26, 0.03, 265], words: 'a bullfinch' },
  { back: [0.62, 0.11, 125], breast: [0.88, 0.12, 100], cap: [0.6, 0.12, 120], wing: [0.46, 0.07, 130], words: 'a greenfinch' },
]
const BLOSSOM: readonly Lch[] = [
  [0.9, 0.06, 5],
  [0.85, 0.09, 2],
  [0.95, 0.025, 10],
]

/** Birds on a bough in front of a large sun or moon, with much empty space. */
export function drawBough(stage: Stage): void {
  const { pen } = stage
  const { frame, random } = pen
  addSkyAndBodies(stage)
  addShapes(stage, 0.1, farRidge(withChance(pen, 'far'), frame.height * 0.9, frame.height * 0.12, [0.5, 0.05, 235], 0.1))
  stage.plates.push({ kind: 'mist', y: frame.height * 0.93, height: frame.height * 0.14, strength: 0.7 })
  const distant = withChance(pen, 'distant')
  addShapes(stage, 0.4, flock(distant, frame.width - stage.focus, frame.height * 0.3, 18, 6))
  addShapes(stage, 0.5, backTwigs(stage))
  const seats = addMainBough(stage)
  const [robin] = BIRDS
  const plumage = stage.reading.extras.has('robin') && robin ? robin : random.pick(BIRDS)
  const birds = seats
    .slice(0, frame.width > frame.height * 1.25 && random.chance(0.55) ? 2 : 1)
    .map((seat, index) =>
      bird(
        withChance(pen, `bird ${index}`),
        seat,
        frame.height * (index === 0 ? 0.25 : 0.21),
        plumage,
        index === 0 ? -1 : 1,
        stage.focus > frame.width / 2,
      ),
    )
  addShapes(stage, 0.97, birds.join(''))
  stage.words.unshift(
    `${plumage.words}${birds.length > 1 ? ' and its mate' : ''} on a bough`,
    stage.reading.snow ? 'snow on the twigs' : stage.reading.extras.has('autumn') ? 'autumn leaves' : 'blossom',
  )
}

function backTwigs(stage: Stage): string {
  const pen = withChance(stage.pen, 'twigs')
  const { frame } = pen
  const atRight = stage.focus > frame.width / 2
  const twig = branch(
    pen,
    {
      from: [atRight ? frame.width + 10 : -10, frame.height * 0.12],
      angle: atRight ? Math.PI - 0.25 : 0.25,
      length: frame.width * 0.2,
      width: 9,
    },
    3,
    pen.tint([0.36, 0.04, 40], 0.55),
  )
  return twig.body + dress(pen, stage, twig.ends, frame.height * 0.03, 0.55)
}

/** Grows from the side of the focus. The birds sit where it is thick and nearly level. */
function addMainBough(stage: Stage): Point[] {
  const pen = withChance(stage.pen, 'bough')
  const { frame, random } = pen
  const atRight = stage.focus > frame.width / 2
  const way = atRight ? -1 : 1
  const bark = pen.tint([0.29, 0.035, 45], 0.96)
  const start: Point = [atRight ? frame.width + 30 : -30, frame.height * 0.82]
  const s = short
  const at = (t: number): Point => [
    start[0] + way * frame.width * t,
    start[1] - frame.height * (0.2 * t + 0.06 * Math.sin(t * 7)),
  ]
  const upper = [0, 0.12, 0.24, 0.36, 0.48, 0.6, 0.72].map(at)
  const lower = [...upper].reverse().map(([x, y], index): Point => [x, y + 7 + index * 4.6])
  const outline = `M${[...upper, ...lower].map(([x, y]) => `${s(x)} ${s(y + random.around(0, 2.4))}`).join('L')}Z`
  const lit = line(`M${upper.map(([x, y]) => `${s(x)} ${s(y + 3)}`).join('L')}`, pen.tint([0.46, 0.04, 60], 0.96), 3, {
    opacity: 0.7,
  })
  const knots = Array.from({ length: 12 }, () => {
    const [x, y] = at(random.between(0.02, 0.5))
    return `M${s(x)} ${s(y + 10)}q${s(way * 10)} ${s(-4)} ${s(way * 24)} ${s(2)}`
  })
  const twigs = [0.2, 0.33, 0.46, 0.58, 0.71, 0.72].map((t, index) =>
    branch(
      pen,
      {
        from: at(t),
        angle: (atRight ? Math.PI : 0) + way * ((index % 2 === 0 ? -1 : 1) * random.between(0.35, 0.8) - 0.15),
        length: frame.height * random.between(0.1, 0.16),
        width: 9 - index,
      },
      2,
      bark,
    ),
  )
  const snow = stage.reading.snow
    ? line(`M${upper.map(([x, y]) => `${s(x)} ${s(y - 3)}`).join('L')}`, pen.tint([0.97, 0.01, 240], 0.97), 12)
    : ''
  addShapes(
    stage,
    0.94,
    twigs.map(({ body }) => body).join('') +
      path(outline, bark) +
      lit +
      line(knots.join(''), pen.tint([0.2, 0.03, 45], 0.96), 2, { opacity: 0.7 }) +
      snow +
      dress(
        pen,
        stage,
        twigs.flatMap(({ ends }) => ends),
        frame.height * 0.045,
        0.96,
      ),
  )
  return [at(0.32), at(0.5)].map(([x, y]): Point => [x, y + 2])
}

function dress(pen: Pen, stage: Stage, ends: readonly Point[], size: number, depth: number): string {
  const { random } = pen
  if (stage.reading.snow)
    return ends
      .map(([x, y]) => ellipse(x, y - 2, size * 0.3, size * 0.14, pen.tint([0.97, 0.01, 240], depth), { stroke: 'none' }))
      .join('')
  if (stage.reading.extras.has('autumn'))
    return ends
      .flatMap(([x, y]) =>
        [0, 1, 2].map(() =>
          leaf(
            pen,
            x + random.around(0, size * 0.8),
            y + random.around(0, size * 0.7),
            size * random.between(0.5, 0.9),
            random.pick(AUTUMN),
            depth,
          ),
        ),
      )
      .join('')
  return ends
    .flatMap(([x, y]) =>
      Array.from({ length: random.whole(1, 3) }, (): string => {
        const at: Point = [x + random.around(0, size * 0.9), y + random.around(0, size * 0.8)]
        return random.chance(0.75)
          ? head(pen, at, { size: size * random.between(0.62, 1.05), depth, colour: random.pick(BLOSSOM), kind: 'cosmos' })
          : circle(at[0], at[1], size * 0.16, pen.tint([0.74, 0.14, 5], depth))
      }),
    )
    .join('')
}

function leaf(pen: Pen, x: number, y: number, size: number, colour: Lch, depth: number): string {
  const angle = pen.random.between(0, 360)
  const s = short
  return path(
    `M0 ${s(-size * 0.6)}Q${s(size * 0.42)} 0 0 ${s(size * 0.6)}Q${s(-size * 0.42)} 0 0 ${s(-size * 0.6)}Z`,
    pen.tint(colour, depth),
    { transform: `translate(${s(x)} ${s(y)}) rotate(${s(angle)})` },
  )
}

/**
 * A small songbird in profile. It faces the way of `facing` if the bough comes from the right, and is mirrored
 * otherwise.
 */
function bird(
  pen: Pen,
  [x, y]: Point,
  size: number,
  { back, breast, cap, wing }: Plumage,
  facing: -1 | 1,
  fromRight: boolean,
): string {
  const way = fromRight ? facing : -facing
  const p = (u: number, v: number): string => `${short(u * size)} ${short(-v * size)}`
  const tone = (colour: Lch, lift = 0): string => pen.tint(shift(colour, lift), 0.98)
  const tail = `M${p(-0.26, 0.16)}L${p(-0.72, -0.24)}L${p(-0.6, -0.3)}L${p(-0.16, 0.04)}Z`
  const body = `M${p(-0.3, 0.1)}C${p(-0.34, 0.36)} ${p(-0.06, 0.58)} ${p(0.06, 0.72)}C${p(0.14, 0.86)} ${p(0.36, 0.88)} ${p(0.42, 0.7)}C${p(0.5, 0.48)} ${p(0.46, 0.2)} ${p(0.24, 0.06)}C${p(0.06, -0.05)} ${p(-0.2, -0.06)} ${p(-0.3, 0.1)}Z`
  const front = `M${p(0.42, 0.62)}C${p(0.5, 0.44)} ${p(0.46, 0.2)} ${p(0.24, 0.06)}C${p(0.1, -0.03)} ${p(-0.08, -0.05)} ${p(-0.16, 0.02)}C${p(0.06, 0.1)} ${p(0.2, 0.3)} ${p(0.22, 0.56)}C${p(0.3, 0.62)} ${p(0.36, 0.64)} ${p(0.42, 0.62)}Z`
  const hood = `M${p(0.06, 0.7)}C${p(0.1, 0.86)} ${p(0.36, 0.9)} ${p(0.42, 0.72)}C${p(0.34, 0.68)} ${p(0.2, 0.62)} ${p(0.06, 0.7)}Z`
  const folded = `M${p(0.12, 0.5)}C${p(-0.12, 0.52)} ${p(-0.34, 0.24)} ${p(-0.5, -0.06)}C${p(-0.24, 0)} ${p(0.12, 0.12)} ${p(0.12, 0.5)}Z`
  const quills = `M${p(0.02, 0.32)}Q${p(-0.16, 0.16)} ${p(-0.36, 0.02)}M${p(0.06, 0.24)}Q${p(-0.1, 0.12)} ${p(-0.26, 0.02)}`
  const beak = `M${p(0.4, 0.74)}L${p(0.54, 0.69)}L${p(0.41, 0.65)}Z`
  const legs = `M${p(0.02, 0)}L${p(0.04, -0.12)}M${p(0.14, 0.02)}L${p(0.17, -0.1)}`
  return group(
    { transform: `translate(${short(x)} ${short(y - size * 0.1)}) scale(${way} 1)` },
    path(tail, tone(wing)),
    line(legs, tone([0.4, 0.05, 50]), size * 0.026),
    path(body, tone(back)),
    path(front, tone(breast), { stroke: 'none' }),
    path(hood, tone(cap), { stroke: 'none' }),
    path(folded, tone(wing)),
    line(quills, tone(wing, 0.16), size * 0.016, { opacity: 0.85 }),
    path(beak, tone([0.42, 0.06, 60])),
    circle(0.3 * size, -0.735 * size, size * 0.032, tone([0.12, 0.01, 270]), { stroke: 'none' }),
    circle(0.31 * size, -0.745 * size, size * 0.01, tone([0.97, 0.01, 90]), { stroke: 'none' }),
  )
}
