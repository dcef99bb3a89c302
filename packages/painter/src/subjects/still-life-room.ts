import { shift, type Lch } from '../colour/oklch.ts'
import { gradient, shade, withChance, type Pen } from '../drawing/pen.ts'
import { addShapes, type Stage } from '../drawing/stage.ts'
import { path, rect, short, straight } from '../drawing/svg.ts'

const WALLS: readonly Lch[] = [
  [0.72, 0.06, 55],
  [0.62, 0.06, 215],
  [0.66, 0.05, 155],
  [0.6, 0.07, 20],
  [0.74, 0.05, 90],
]

/** The wall, which is brighter near the window. The window shows the time of day. */
export function addRoom(stage: Stage, edge: number): void {
  const pen = withChance(stage.pen, 'wall')
  const own = pen.random.pick(WALLS)
  const { frame, light } = pen
  const left = light.side === -1
  const near = pen.tint(shift(own, 0.07), 0.92)
  const far = pen.tint(shift(own, -0.14), 0.92)
  const across = gradient(pen, { x1: left ? 0 : frame.width, y1: 0, x2: left ? frame.width : 0, y2: frame.height * 0.4 }, [
    [0, near],
    [1, far],
  ])
  addShapes(
    stage,
    0.2,
    across.defs + rect(-10, -10, frame.width + 20, edge + 30, pen.hand.flat ? pen.tint(own, 0.92) : across.fill),
  )
  const wide = Math.min(frame.width * 0.3, 300)
  const x = left ? frame.width * 0.06 : frame.width * 0.94 - wide
  const top = frame.height * 0.06
  const tall = frame.height * 0.42
  const sky = shade(
    pen,
    top,
    top + tall,
    light.sky.map((colour, index) => [index / (light.sky.length - 1), pen.pure(colour)] as const),
  )
  const hill = `M${short(x)} ${short(top + tall * 0.78)}Q${short(x + wide * 0.3)} ${short(top + tall * 0.6)} ${short(x + wide * 0.56)} ${short(top + tall * 0.76)}T${short(x + wide)} ${short(top + tall * 0.7)}V${short(top + tall)}H${short(x)}Z`
  const frameColour: Lch = [0.9, 0.025, 85]
  const bar = wide * 0.032
  const bars =
    rect(x + wide / 2 - bar / 2, top, bar, tall, pen.tint(frameColour, 0.95)) +
    rect(x, top + tall * 0.4, wide, bar, pen.tint(frameColour, 0.95))
  const body = [
    rect(x - bar * 2.2, top - bar * 2.2, wide + bar * 4.4, tall + bar * 4.4, pen.tint(frameColour, 0.95)),
    sky.defs + rect(x, top, wide, tall, sky.fill),
    `<circle cx="${short(x + wide * 0.68)}" cy="${short(top + tall * 0.26)}" r="${short(wide * 0.085)}" fill="${pen.pure(light.face)}"/>`,
    path(hill, pen.tint([0.5, 0.08, 150], 0.5)),
    bars,
    rect(x - bar * 3.4, top + tall + bar * 2, wide + bar * 6.8, bar * 1.8, pen.tint(shift(frameColour, -0.06), 0.96)),
  ]
  addShapes(stage, 0.36, body.join(''))
  if (!pen.hand.flat) addSunlight(stage, pen, { x, top, wide, tall }, edge)
}

type Opening = { x: number; top: number; wide: number; tall: number }

/** The light through the panes falls slanted on wall and table. */
function addSunlight(stage: Stage, pen: Pen, { x, top, wide, tall }: Opening, edge: number): void {
  const { light, frame } = pen
  if (light.time === 'night') return
  const slant = -light.side * frame.width * 0.33
  const fall = frame.height * 0.2
  const panes = [
    [0, 0],
    [0.53, 0],
    [0, 0.46],
    [0.53, 0.46],
  ] as const
  const bright = pen.pure(light.glow)
  const patches = panes.map(([u, v]) => {
    const left = x + wide * u + slant
    const upper = top + tall * v + fall
    const lower = Math.min(edge - 4, upper + tall * (v === 0 ? 0.36 : 0.5))
    return path(
      straight([
        [left, upper],
        [left + wide * 0.45, upper],
        [left + wide * 0.45 + slant * 0.2, lower],
        [left + slant * 0.2, lower],
      ]),
      bright,
      { opacity: 0.2 },
    )
  })
  stage.plates.push({ kind: 'shapes', depth: 0.3, flat: true, body: patches.join('') })
}
