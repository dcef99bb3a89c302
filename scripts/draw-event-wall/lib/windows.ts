/** Windows, lit and unlit. */
import type { Random } from './random.ts'
import { d, ellipse, group, path, rect, type Sheet, type Stop } from './svg.ts'
import { glow } from './surface.ts'

const archOf = (x: number, y: number, w: number, h: number): string =>
  d`M${x} ${y + h}V${y + w / 2}A${w / 2} ${w / 2} 0 0 1 ${x + w} ${y + w / 2}V${y + h}Z`

const lamplight: readonly [readonly Stop[], ...(readonly Stop[])[]] = [
  [
    [0, '#f0a04b'],
    [0.45, '#ffd07a'],
    [1, '#fff0bf'],
  ],
  [
    [0, '#d9803d'],
    [0.5, '#ffbb60'],
    [1, '#ffe2a0'],
  ],
  [
    [0, '#e5a35c'],
    [0.6, '#ffe0a0'],
    [1, '#ffcf80'],
  ],
]

export interface WindowLook {
  lit: boolean
  arch?: boolean
  bars?: string
  surround?: string
  /** Books, lamps and people to be seen inside. */
  inside?: boolean
  /** Unlit glass, from the top. */
  pane?: readonly [string, string, string]
}

function interior(rng: Random, x: number, y: number, w: number, h: number): string {
  const parts: string[] = []
  const shelf = '#8a4a2c'
  const floor = y + h
  for (let row = 0; row < 3; row++) {
    const base = y + h * (0.42 + row * 0.17)
    if (rng.chance(0.3)) continue
    parts.push(rect(x, base, w, h * 0.012, { fill: shelf, opacity: 0.55 }))
    for (let at = x + 1; at < x + w - 2;) {
      const thick = rng.range(w * 0.035, w * 0.08)
      const tall = h * rng.range(0.06, 0.12)
      if (rng.chance(0.82))
        parts.push(
          rect(at, base - tall, thick * 0.85, tall, {
            fill: rng.pick(['#9c4f2d', '#7b3b34', '#b8683a', '#5d4a44', '#c07f43']),
            opacity: 0.6,
          }),
        )
      at += thick
    }
  }
  if (rng.chance(0.6)) {
    const px = x + w * rng.range(0.25, 0.75)
    const tall = h * 0.3
    parts.push(
      ellipse(px, floor - tall, w * 0.075, w * 0.09, { fill: '#4a2533' }),
      path(
        d`M${px - w * 0.17} ${floor}Q${px - w * 0.17} ${floor - tall * 0.75} ${px} ${floor - tall * 0.78}Q${px + w * 0.17} ${floor - tall * 0.75} ${px + w * 0.17} ${floor}Z`,
        { fill: '#4a2533' },
      ),
    )
  }
  return parts.join('')
}

export function window(sheet: Sheet, rng: Random, x: number, y: number, w: number, h: number, look: WindowLook): string {
  const { lit, arch = false, bars = '#2a1a35', surround, inside = false, pane = ['#3a4079', '#1c2250', '#12163a'] } = look
  const outline = (grow: number): string =>
    arch
      ? archOf(x - grow, y - grow, w + grow * 2, h + grow * 2)
      : d`M${x - grow} ${y - grow}h${w + grow * 2}v${h + grow * 2}h${-w - grow * 2}Z`
  const fill = lit
    ? sheet.linear(rng.pick(lamplight))
    : sheet.linear(
        [
          [0, pane[0]],
          [0.5, pane[1]],
          [1, pane[2]],
        ],
        [0, 0, 0.7, 1],
      )
  const thick = Math.max(0.9, w * 0.045)
  const across = arch ? [0.3, 0.53, 0.76] : [0.42]
  const upright = arch && w > 22 ? [1 / 3, 2 / 3] : [0.5]
  const glazing = [
    ...across.map((at) => rect(x, y + h * at - thick / 2, w, thick, { fill: bars })),
    ...upright.map((at) => rect(x + w * at - thick / 2, y + (arch ? w * 0.06 : 0), thick, h, { fill: bars })),
  ]
  const curtain =
    lit && !inside && rng.chance(0.5)
      ? path(d`M${x} ${y}h${w * 0.34}Q${x + w * 0.26} ${y + h * 0.6} ${x + w * 0.1} ${y + h}H${x}Z`, {
          fill: '#c2632f',
          opacity: 0.55,
        })
      : ''
  return group(
    {},
    surround === undefined ? '' : path(outline(Math.max(1.6, w * 0.1)), { fill: surround }),
    path(outline(0), { fill }),
    lit && inside ? interior(rng, x, y, w, h) : '',
    curtain,
    ...glazing,
    rect(x - w * 0.12, y + h, w * 1.24, Math.max(1.5, h * 0.03), { fill: surround ?? bars }),
    lit ? glow(sheet, x + w / 2, y + h * 0.55, Math.max(w, h) * 1.15, '#ff9e4a', 0.34) : '',
  )
}
