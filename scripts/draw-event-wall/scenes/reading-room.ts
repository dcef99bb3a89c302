/** Story hour in the reading room, drawn in one-point perspective. */
import { mix } from '../lib/colour.ts'
import { random } from '../lib/random.ts'
import { flames, globe } from '../lib/lanterns.ts'
import { stars } from '../lib/nature.ts'
import { grownUp, smallOne } from '../lib/seated.ts'
import { stand } from '../lib/people.ts'
import { d, ellipse, group, path, rect, run, Sheet, type Point } from '../lib/svg.ts'
import { blur, cutEdge, finishCoat, glow } from '../lib/surface.ts'

const half = 4.6
const near = 2.6
const far = 15

/** Metres in the room (right, up, away) to pixels. */
const see = (x: number, y: number, z: number): Point => [600 + (640 * x) / z, 430 - (640 * (y - 2.3)) / z]

function section(z: number): string {
  const arch: Point[] = Array.from({ length: 25 }, (_, step) => {
    const turn = Math.PI * (1 - step / 24)
    return see(Math.cos(turn) * half, 5 + Math.sin(turn) * 2.4, z)
  })
  return run([see(-half, 0, z), ...arch, see(half, 0, z)])
}

function vault(): string {
  const parts: string[] = []
  for (let z = near; z < far; z += 0.75) {
    const rib = Math.round(z / 0.75) % 2 === 0
    const share = (z - near) / (far - near)
    const tone = mix(rib ? '#4a2638' : '#341c36', rib ? '#b46a4c' : '#96523f', share * 0.9)
    parts.push(
      path(section(z), { fill: tone }),
      path(section(z), { fill: 'none', stroke: '#f0a860', 'stroke-width': 1.1, opacity: 0.15 + share * 0.3 }),
    )
  }
  return parts.join('')
}

function shelves(side: -1 | 1): string {
  const rng = random(side < 0 ? 91 : 92)
  const x = side * half
  const parts: string[] = [path(run([see(x, 0, near), see(x, 4.3, near), see(x, 4.3, far), see(x, 0, far)]), { fill: '#26132a' })]
  const cloth = [
    '#9c3f36',
    '#b8663a',
    '#7b5a3a',
    '#3f5f6a',
    '#5b4a72',
    '#c08f4a',
    '#a8484e',
    '#4c6b5a',
    '#d2a566',
    '#6a3a4e',
  ] as const
  for (let shelf = 0; shelf < 8; shelf++) {
    const foot = 0.12 + shelf * 0.52
    for (let z = near; z < far;) {
      const thick = rng.range(0.05, 0.13)
      const tall = rng.range(0.3, 0.43)
      if (rng.chance(0.93)) {
        const lamp = Math.abs(((z - 4.4) % 2.1) / 2.1 - 0.5) * 2
        const light = 0.25 + 0.6 * (1 - Math.abs(foot - 2.9) / 4) * (0.55 + 0.45 * lamp) * Math.min(1, z / 8 + 0.25)
        const fill = mix('#1d1026', mix(rng.pick(cloth), '#ffc27a', 0.24), light)
        const back = z + thick * 0.9
        parts.push(path(run([see(x, foot, z), see(x, foot + tall, z), see(x, foot + tall, back), see(x, foot, back)]), { fill }))
        if (rng.chance(0.3) && z < 9)
          parts.push(
            path(
              run([
                see(x, foot + tall * 0.78, z),
                see(x, foot + tall * 0.82, z),
                see(x, foot + tall * 0.82, back),
                see(x, foot + tall * 0.78, back),
              ]),
              { fill: '#f6cf8a', opacity: 0.6 },
            ),
          )
      }
      z += thick
    }
    parts.push(
      path(run([see(x, foot - 0.06, near), see(x, foot, near), see(x, foot, far), see(x, foot - 0.06, far)]), {
        fill: '#8a5038',
      }),
    )
  }
  for (let z = 4.2; z <= far; z += 1.8) {
    const face = x - side * 0.14
    parts.push(
      path(run([see(face, 0, z), see(face, 4.4, z), see(face, 4.4, z + 0.16), see(face, 0, z + 0.16)]), { fill: '#6b3a30' }),
      path(run([see(face, 0, z), see(face, 4.4, z)], false), { stroke: '#f0a860', 'stroke-width': 12 / z, opacity: 0.5 }),
    )
  }
  const lip = x - side * 0.7
  parts.push(path(run([see(x, 4.3, near), see(lip, 4.3, near), see(lip, 4.3, far), see(x, 4.3, far)]), { fill: '#3a1f30' }))
  parts.push(path(run([see(lip, 4.3, near), see(lip, 4.52, near), see(lip, 4.52, far), see(lip, 4.3, far)]), { fill: '#a5653f' }))
  for (let z = near; z < far; z += 0.22)
    parts.push(path(run([see(lip, 4.52, z), see(lip, 5.3, z)], false), { stroke: '#94583f', 'stroke-width': 20 / z }))
  parts.push(path(run([see(lip, 5.3, near), see(lip, 5.42, near), see(lip, 5.42, far), see(lip, 5.3, far)]), { fill: '#b8744a' }))
  return parts.join('')
}

function bookcase(x: number): string {
  const rng = random(x > 0 ? 51 : 52)
  const [left, top] = see(x - 0.85, 4.1, far)
  const [right, foot] = see(x + 0.85, 0, far)
  const parts = [rect(left, top, right - left, foot - top, { fill: '#3a1c2a', stroke: '#9a5c40', 'stroke-width': 4 })]
  for (let row = 1; row <= 8; row++) {
    const y = top + ((foot - top) * row) / 8
    for (let at = left + 3; at < right - 6; at += rng.range(3, 6))
      parts.push(
        rect(at, y - rng.range(12, 17), 3.6, 16, {
          fill: rng.pick(['#9c4f3d', '#c08f4a', '#5b6a72', '#7b4a52', '#b8734a']),
          opacity: 0.85,
        }),
      )
    parts.push(rect(left, y - 1, right - left, 2.5, { fill: '#9a5c40' }))
  }
  return parts.join('')
}

function backWall(sheet: Sheet): string {
  const [left, top] = see(-1.75, 6.4, far)
  const [right, sill] = see(1.75, 1.1, far)
  const w = right - left
  const outline = d`M${left} ${sill}V${top + w / 2}A${w / 2} ${w / 2} 0 0 1 ${right} ${top + w / 2}V${sill}Z`
  const clip = sheet.clip(path(outline, {}))
  const bars = [1, 2, 3]
    .map((bar) => rect(left + (w * bar) / 4 - 1.5, top, 3, sill - top, { fill: '#5a3038' }))
    .concat([0.36, 0.54, 0.72, 0.88].map((at) => rect(left, top + (sill - top) * at, w, 2.6, { fill: '#5a3038' })))
  return group(
    {},
    path(section(far), {
      fill: sheet.linear([
        [0, '#a8604a'],
        [0.5, '#8a4a40'],
        [1, '#6a3438'],
      ]),
    }),
    path(outline, { fill: '#e0a066', stroke: '#e0a066', 'stroke-width': 9 }),
    group(
      { 'clip-path': clip },
      rect(left, top, w, sill - top, {
        fill: sheet.linear([
          [0, '#0b1440'],
          [0.55, '#2c3c86'],
          [1, '#7d6aa0'],
        ]),
      }),
      stars(sheet, random(8), 420, 400),
      glow(sheet, 640, 300, 90, '#dfe6ff', 0.8),
      ellipse(640, 300, 17, 17, { fill: '#fff7e0' }),
      path(
        run([
          [left, sill - 30],
          [left + 20, sill - 46],
          [left + 34, sill - 30],
          [left + 70, sill - 30],
          [left + 84, sill - 52],
          [left + 98, sill - 28],
          [right, sill - 34],
          [right, sill],
          [left, sill],
        ]),
        { fill: '#2a2658' },
      ),
      ...bars,
    ),
    ...[-1, 1].map((side) => bookcase(side * 3.3)),
  )
}

function floor(sheet: Sheet): string {
  const rng = random(33)
  const parts: string[] = [
    path(run([see(-half, 0, near), see(half, 0, near), see(half, 0, far), see(-half, 0, far)]), {
      fill: sheet.linear([
        [0, '#d88c52'],
        [0.3, '#9a5a3f'],
        [1, '#3a1d2a'],
      ]),
    }),
  ]
  for (let plank = -23; plank < 23; plank++) {
    for (let z = near; z < far;) {
      const end = z + rng.range(1, 3.4)
      const x = plank * 0.2
      parts.push(
        path(run([see(x, 0, z), see(x + 0.2, 0, z), see(x + 0.2, 0, Math.min(end, far)), see(x, 0, Math.min(end, far))]), {
          fill: rng.pick(['#1d0c1a', '#ffbe78', '#5a2c28', '#1d0c1a']),
          opacity: rng.range(0.02, 0.16),
        }),
      )
      z = end
    }
    parts.push(
      path(run([see(plank * 0.2, 0, near), see(plank * 0.2, 0, far)], false), {
        stroke: '#1d0c1a',
        'stroke-width': 0.8,
        opacity: 0.4,
      }),
    )
  }
  const [cx, cy] = see(0, 0, 6.7)
  for (const [rx, ry, fill] of [
    [452, 136, '#4a1a30'],
    [434, 129, '#d29a5c'],
    [422, 125, '#84293c'],
    [330, 96, '#c9804e'],
    [320, 93, '#64203a'],
    [170, 48, '#9c3d3f'],
  ] as const)
    parts.push(ellipse(cx, cy, rx, ry, { fill }))
  for (let petal = 0; petal < 28; petal++) {
    const turn = (petal / 28) * Math.PI * 2
    parts.push(ellipse(cx + Math.cos(turn) * 376, cy + Math.sin(turn) * 110, 12, 7, { fill: '#e6b36e', opacity: 0.7 }))
  }
  for (const side of [-1, 1])
    for (let z = 4.4; z < far; z += 2.1) {
      const [x, y] = see(side * 2.5, 0, z)
      parts.push(
        ellipse(x, y, 230 / z, 400 / z, {
          fill: sheet.radial([
            [0, '#ffd08a', 0.5],
            [1, '#ffb060', 0],
          ]),
          style: 'mix-blend-mode:screen',
        }),
      )
    }
  return parts.join('')
}

function ladder(): string {
  const foot = (z: number): Point => see(-3.5, 0, z)
  const top = (z: number): Point => see(-4.5, 4.5, z)
  const along = (z: number, t: number): Point => [
    foot(z)[0] + (top(z)[0] - foot(z)[0]) * t,
    foot(z)[1] + (top(z)[1] - foot(z)[1]) * t,
  ]
  const rails = [6, 6.8].map(
    (z) =>
      path(run([foot(z), top(z)], false), { stroke: '#2a1220', 'stroke-width': 8, 'stroke-linecap': 'round' }) +
      path(run([foot(z), top(z)], false), { stroke: '#d08a52', 'stroke-width': 2 }),
  )
  const rungs = Array.from({ length: 12 }, (_, rung) =>
    path(run([along(6, (rung + 0.6) / 12.4), along(6.8, (rung + 0.6) / 12.4)], false), { stroke: '#7a4530', 'stroke-width': 5 }),
  )
  return group({}, ...rungs, ...rails)
}

function story(sheet: Sheet): string {
  const [x, y] = see(0, 0, 8.9)
  const rng = random(17)
  const motes = Array.from({ length: 190 }, (_, mote) => {
    const rise = rng.next()
    const mx = x + Math.sin(rise * 7 + mote) * (30 + rise * 120) + rng.range(-14, 14)
    const my = y - 96 - rise * 230
    if (Math.hypot(mx - x, (my - y + 134) * 0.8) < 30) return ''
    return (
      ellipse(mx, my, 1.8 - rise, 1.8 - rise, { fill: '#fff2c4', opacity: 1 - rise * 0.8 }) +
      glow(sheet, mx, my, 9, '#ffc66e', 0.6 * (1 - rise))
    )
  })
  return group(
    { transform: `translate(${x} ${y}) scale(1.42) translate(${-x} ${-y})` },
    glow(sheet, x, y - 90, 240, '#ffb85c', 0.42),
    ellipse(x, y + 4, 92, 17, { fill: '#1d0c1a', opacity: 0.5 }),
    path(d`M${x - 66} ${y}V${y - 92}Q${x - 66} ${y - 176} ${x} ${y - 178}Q${x + 66} ${y - 176} ${x + 66} ${y - 92}V${y}Z`, {
      fill: sheet.radial(
        [
          [0, '#4f8078'],
          [1, '#1f4048'],
        ],
        0.5,
        0.35,
        0.7,
      ),
    }),
    path(d`M${x - 78} ${y + 2}V${y - 66}q14 -18 28 0v68Z M${x + 78} ${y + 2}V${y - 66}q-14 -18 -28 0v68Z`, { fill: '#2a545a' }),
    path(
      d`M${x - 34} ${y}C${x - 44} ${y - 50} ${x - 40} ${y - 104} ${x - 12} ${y - 112}H${x + 12}C${x + 40} ${y - 104} ${x + 44} ${y - 50} ${x + 34} ${y}Z`,
      { fill: '#2f3f66' },
    ),
    path(d`M${x - 12} ${y - 2}l6 -44M${x + 14} ${y - 2}l-4 -40`, { stroke: '#1f2a4a', 'stroke-width': 2, opacity: 0.7 }),
    rect(x - 6, y - 122, 12, 14, { fill: '#b5714e' }),
    ellipse(x, y - 134, 17, 20, { fill: '#c98a60' }),
    path(
      d`M${x - 20} ${y - 130}C${x - 24} ${y - 168} ${x + 24} ${y - 168} ${x + 20} ${y - 130}Q${x + 14} ${y - 150} ${x} ${y - 149}Q${x - 14} ${y - 150} ${x - 20} ${y - 130}Z`,
      { fill: '#e8ddd0' },
    ),
    ellipse(x, y - 162, 9, 8, { fill: '#e8ddd0' }),
    ...[-7, 7].map(
      (dx) =>
        ellipse(x + dx, y - 134, 5.2, 5, { fill: '#fff3cf', 'fill-opacity': 0.35, stroke: '#4a2430', 'stroke-width': 1.1 }) +
        path(d`M${x + dx - 3} ${y - 134}q3 2.6 6 0`, { fill: 'none', stroke: '#4a2430', 'stroke-width': 1.3 }),
    ),
    path(d`M${x - 2} ${y - 135}h4`, { stroke: '#4a2430', 'stroke-width': 1.1 }),
    path(d`M${x - 5} ${y - 122}q5 4 10 0`, { stroke: '#7a3a30', 'stroke-width': 1.6, fill: 'none' }),
    glow(sheet, x, y - 88, 74, '#ffd68a', 0.5),
    path(
      d`M${x} ${y - 66}Q${x - 24} ${y - 84} ${x - 46} ${y - 72}V${y - 100}Q${x - 22} ${y - 110} ${x} ${y - 94}Q${x + 22} ${y - 110} ${x + 46} ${y - 100}V${y - 72}Q${x + 24} ${y - 84} ${x} ${y - 66}Z`,
      { fill: '#8c2f3e' },
    ),
    path(
      d`M${x} ${y - 94}Q${x - 22} ${y - 112} ${x - 43} ${y - 103}L${x - 40} ${y - 99}Q${x - 20} ${y - 106} ${x} ${y - 90}Q${x + 20} ${y - 106} ${x + 40} ${y - 99}L${x + 43} ${y - 103}Q${x + 22} ${y - 112} ${x} ${y - 94}Z`,
      { fill: '#fff3cf' },
    ),
    ...motes,
  )
}

function listeners(): string {
  const rows: readonly (readonly [x: number, z: number, size: number, kind: number, cloth: string])[] = [
    [-2.05, 7.6, 0.8, 0, '#3a3d68'],
    [2.1, 7.5, 0.8, 1, '#74443c'],
    [-2.5, 6.5, 1.15, 2, '#4a2f52'],
    [2.6, 6.4, 1.15, 3, '#2c4652'],
    [-1.45, 6.4, 0.8, 1, '#7c4a34'],
    [1.4, 6.3, 0.82, 0, '#5c2f4a'],
    [-1.9, 5.2, 0.86, 0, '#2f4a56'],
    [1.75, 5.1, 0.84, 1, '#6a3a3a'],
    [-0.75, 5.3, 0.8, 1, '#4d3a63'],
    [0.62, 5.3, 0.8, 0, '#7a4b30'],
    [-1.0, 4.15, 1.02, 4, '#33284c'],
    [0.1, 4.3, 0.78, 0, '#733a42'],
    [1.55, 4.05, 1.02, 2, '#3d2a40'],
    [-2.35, 4.1, 0.82, 1, '#3b4258'],
    [2.45, 4.3, 0.8, 0, '#2e4450'],
  ]
  return [...rows]
    .sort((one, other) => other[1] - one[1])
    .map(([x, z, size, kind, cloth]) => {
      const [px, py] = see(x, 0, z)
      const draw = (fill?: string): string =>
        kind === 0
          ? smallOne(true, fill)
          : kind === 1
            ? smallOne(false, fill)
            : grownUp(kind === 2 ? 'bun' : kind === 3 ? 'hat' : 'short', fill)
      const scale = (size * 520) / z / 100
      const near = (7.6 - z) / 4
      const side = x < 0 ? 1 : -1
      return (
        ellipse(px, py + 4, 74 * scale, 17 * scale, { fill: '#1d0c1a', opacity: 0.6 }) +
        stand(
          draw(mix(cloth, '#1a0c22', near * 0.8)),
          px,
          py - 78 * scale,
          scale * 100,
          {
            fill: mix('#43202c', '#1a0b1c', near),
            rim: mix('#ffc27a', '#c2704a', near),
            from: [side * Math.min(2, Math.abs(x)), -1.8],
          },
          false,
          draw(),
        )
      )
    })
    .join('')
}

export function readingRoom(): string {
  const sheet = new Sheet(1200, 900)
  const lamps: string[] = []
  for (let z = 12.8; z > 4; z -= 2.1)
    for (const side of [-1, 1]) {
      const [x, y] = see(side * 2.5, 4.15, z)
      const [, hook] = see(side * 2.5, 6.9, z)
      lamps.push(
        path(d`M${x} ${y}V${hook}`, { stroke: '#2a1220', 'stroke-width': 14 / z }),
        globe(sheet, x, y, 175 / z, flames[2] ?? flames[0], 4.4),
      )
    }
  return sheet.finish(
    rect(-60, -60, 1320, 1020, { fill: '#26132a' }),
    group({ filter: cutEdge(sheet, 2) }, vault(), backWall(sheet), floor(sheet), shelves(-1), shelves(1), ladder()),
    sheet.all({
      fill: sheet.radial(
        [
          [0, '#ffb060', 0.12],
          [0.45, '#7a2f4a', 0.12],
          [1, '#0c0526', 0.72],
        ],
        0.5,
        0.5,
        0.72,
      ),
    }),
    group({ filter: cutEdge(sheet, 1.6) }, story(sheet)),
    path(
      run([
        [528, 270],
        [672, 270],
        [980, 690],
        [420, 690],
      ]),
      {
        fill: sheet.linear([
          [0, '#8fa0ff', 0.34],
          [1, '#8fa0ff', 0],
        ]),
        style: 'mix-blend-mode:screen',
        filter: blur(sheet, 14),
      },
    ),
    ...lamps,
    listeners(),
    finishCoat(sheet, '#0d0616', 0.6),
  )
}
