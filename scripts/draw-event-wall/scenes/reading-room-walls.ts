/** The room of the story hour, in perspective: walls, shelves, floor. */
import { mix } from '../lib/colour.ts'
import { random } from '../lib/random.ts'
import { stars } from '../lib/nature.ts'
import { d, ellipse, group, path, rect, run, Sheet, type Point } from '../lib/svg.ts'
import { glow } from '../lib/surface.ts'

const half = 4.6

const near = 2.6

const far = 15

/** Metres in the room (right, up, away) to pixels. */
export const see = (x: number, y: number, z: number): Point => [600 + (640 * x) / z, 430 - (640 * (y - 2.3)) / z]

function section(z: number): string {
  const arch: Point[] = Array.from({ length: 25 }, (_, step) => {
    const turn = Math.PI * (1 - step / 24)
    return see(Math.cos(turn) * half, 5 + Math.sin(turn) * 2.4, z)
  })
  return run([see(-half, 0, z), ...arch, see(half, 0, z)])
}

export function vault(): string {
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

export function shelves(side: -1 | 1): string {
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

export function backWall(sheet: Sheet): string {
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

export function floor(sheet: Sheet): string {
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

export function ladder(): string {
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
