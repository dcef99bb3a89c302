/** Silhouettes on a skeleton: 100 units tall, with the feet at the origin. */
import { d, el, ellipse, group, path, run, type Point } from './svg.ts'

type Wear = 'jacket' | 'coat' | 'skirt' | 'robe'
type Head = 'short' | 'bun' | 'long' | 'hat' | 'cap' | 'scarf' | 'curls'
type Limb = readonly [joint: Point, end: Point]

export interface Person {
  wear?: Wear
  head?: Head
  /** Elbow and hand, knee and foot. A missing limb hangs or stands straight. */
  arms?: readonly [left: Limb, right: Limb]
  legs?: readonly [left: Limb, right: Limb]
  lean?: number
  headTurn?: number
  child?: boolean
  /** Extra shapes in the same units, in currentColor (a cane, a horn). */
  holding?: string
}

const bodies: Record<Wear, string> = {
  jacket: 'M-4-87C-10-85-12.5-82-12.5-76L-10-58L-11-44L11-44L10-58L12.5-76C12.5-82 10-85 4-87Z',
  coat: 'M-4-87C-10-85-13-82-13-75L-10.5-58L-15-25Q0-20 15-25L10.5-58L13-75C13-82 10-85 4-87Z',
  skirt: 'M-4-87C-9-85-11.5-82-11-76L-7.5-60Q-10-40-17-24Q0-17 17-24Q10-40 7.5-60L11-76C11.5-82 9-85 4-87Z',
  robe: 'M-4-88C-10-85-12-80-12-72L-10-56L-15-5Q0 0 15-5L10-56L12-72C12-80 10-85 4-88Z',
}

const hair: Record<Head, string> = {
  short: 'M-7-93C-7.5-103 7.5-103 7-93L6-96Q0-99-6-96Z',
  bun: 'M-7-92C-8-103 8-103 7-92ZM0-101m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z',
  long: 'M-7.5-93C-8-104 8-104 7.5-93L10-78Q0-73-10-78Z',
  hat: 'M-13-96Q0-91 13-96L7.5-98L6-106Q0-109-6-106L-7.5-98Z',
  cap: 'M-7.3-95C-7-104 7-104 7.3-96L13-94.5L7-93.5Z',
  scarf: 'M-8-92C-9-104 9-104 8-92L12-78Q0-72-12-78Z',
  curls: 'M-9-93a5 5 0 0 1 1-9a7 7 0 0 1 14-1a5 5 0 0 1 3 10a4 4 0 0 1-3 5L-6-88a4 4 0 0 1-3-5Z',
}

const line = (points: readonly Point[], width: number): string =>
  path(run(points, false), {
    fill: 'none',
    stroke: 'currentColor',
    'stroke-width': width,
    'stroke-linecap': 'round',
    'stroke-linejoin': 'round',
  })

const standingArms: readonly [Limb, Limb] = [
  [
    [-14.5, -64],
    [-13, -48],
  ],
  [
    [14.5, -64],
    [13, -48],
  ],
]
const standingLegs: readonly [Limb, Limb] = [
  [
    [-5.5, -24],
    [-6, -2],
  ],
  [
    [5.5, -24],
    [6, -2],
  ],
]

export function person(who: Person): string {
  const { wear = 'jacket', head = 'short', arms = standingArms, legs = standingLegs, lean = 0, headTurn = 0, child = false } = who
  const top = group(
    { transform: lean === 0 ? undefined : `rotate(${lean} 0 -46)` },
    path(bodies[wear], { fill: 'currentColor' }),
    line(
      [
        [0, -84],
        [0, -90],
      ],
      5.2,
    ),
    group(
      { transform: `rotate(${headTurn} 0 -86) translate(0 -86) scale(${child ? 1.3 : 1}) translate(0 86)` },
      ellipse(0, -93.5, 6.2, 7.6, { fill: 'currentColor' }),
      path(hair[head], { fill: 'currentColor' }),
    ),
    line([[-10.5, -79], ...arms[0]], 5.6),
    line([[10.5, -79], ...arms[1]], 5.6),
    who.holding ?? '',
  )
  const foot = ([, [x, y]]: Limb, side: number): string =>
    path(d`M${x - 2.6} ${y - 2}h5.2l${side * 2.4} 4h-7.2Z`, { fill: 'currentColor' })
  return group(
    { transform: child ? 'scale(0.92)' : undefined },
    line([[-4.6, -46], ...legs[0]], 7.2),
    line([[4.6, -46], ...legs[1]], 7.2),
    foot(legs[0], -1),
    foot(legs[1], 1),
    top,
  )
}

export interface Light {
  /** The dark colour of the figure, and the colour of its lit edge. */
  fill: string
  rim: string
  /** The direction of the light, in units of the figure. */
  from: Point
}

/** Sets a figure on the ground at (x, y), `tall` pixels high, lit from one side. */
export function stand(figure: string, x: number, y: number, tall: number, light: Light, mirror = false, edge = figure): string {
  const scale = tall / 100
  const [dx, dy] = light.from
  const side = mirror ? -1 : 1
  return el(
    'g',
    {
      transform: `translate(${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}) scale(${Math.round(side * scale * 1000) / 1000} ${Math.round(scale * 1000) / 1000})`,
    },
    group({ color: light.rim, transform: `translate(${dx * side} ${dy})` }, edge),
    group({ color: light.fill }, figure),
  )
}

const cane = line(
  [
    [14, -46],
    [19, 0],
  ],
  1.8,
)

/** The people of the evening. Any of them can be part of any crowd. */
export const townsfolk: readonly [Person, ...Person[]] = [
  { wear: 'coat', head: 'hat' },
  {
    wear: 'skirt',
    head: 'bun',
    arms: [
      [
        [-14, -66],
        [-9, -56],
      ],
      [
        [14, -66],
        [9, -56],
      ],
    ],
  },
  {
    wear: 'jacket',
    head: 'short',
    legs: [
      [
        [-7, -24],
        [-9, -2],
      ],
      [
        [6, -24],
        [9, -2],
      ],
    ],
  },
  {
    wear: 'coat',
    head: 'long',
    arms: [
      [
        [-14, -64],
        [-13, -48],
      ],
      [
        [17, -68],
        [22, -78],
      ],
    ],
  },
  {
    wear: 'jacket',
    head: 'cap',
    arms: [
      [
        [-16, -66],
        [-20, -54],
      ],
      [
        [14, -64],
        [12, -48],
      ],
    ],
  },
  {
    wear: 'robe',
    head: 'scarf',
    arms: [
      [
        [-15, -66],
        [-9, -56],
      ],
      [
        [15, -66],
        [9, -56],
      ],
    ],
  },
  {
    wear: 'skirt',
    head: 'curls',
    arms: [
      [
        [-17, -84],
        [-19, -98],
      ],
      [
        [14, -64],
        [13, -48],
      ],
    ],
  },
  {
    wear: 'coat',
    head: 'short',
    lean: 5,
    arms: [
      [
        [-14, -64],
        [-13, -48],
      ],
      [
        [15, -62],
        [14, -46],
      ],
    ],
    holding: cane,
  },
  {
    wear: 'jacket',
    head: 'curls',
    child: true,
    arms: [
      [
        [-17, -80],
        [-20, -94],
      ],
      [
        [14, -64],
        [13, -50],
      ],
    ],
  },
  { wear: 'skirt', head: 'long', child: true },
]
