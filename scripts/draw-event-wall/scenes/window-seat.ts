/** A sketch for the poster that was not used: rain, the town out of focus, the library cat. */
import { random } from '../lib/random.ts'
import { cat } from '../lib/seated.ts'
import { stand } from '../lib/people.ts'
import { d, ellipse, group, path, rect, Sheet } from '../lib/svg.ts'
import { blur, cloud, finishCoat, glow } from '../lib/surface.ts'

const sill = 690

function outside(sheet: Sheet): string {
  const rng = random(70)
  const bokeh: string[] = []
  for (let light = 0; light < 120; light++) {
    const x = rng.range(-20, 1220)
    const y = sill - 20 - rng.next() ** 1.6 * 420
    const r = rng.range(10, 44) * (0.55 + (y / sill) * 0.6)
    const colour = rng.pick(['#ffb454', '#ff8f5a', '#ffd78a', '#f06a6a', '#7fd0c4', '#ffe3b0', '#ff9f4a'])
    bokeh.push(
      ellipse(x, y, r, r, {
        fill: sheet.radial([
          [0, colour, 0.5],
          [0.82, colour, 0.62],
          [0.93, colour, 0.85],
          [1, colour, 0],
        ]),
        opacity: rng.range(0.2, 0.75),
        style: 'mix-blend-mode:screen',
      }),
    )
  }
  return group(
    {},
    rect(-60, -60, 1320, 860, {
      fill: sheet.linear([
        [0, '#08112e'],
        [0.5, '#1d2c5c'],
        [0.8, '#4a4576'],
        [1, '#7c5478'],
      ]),
    }),
    group(
      { filter: blur(sheet, 14) },
      path('M-60 700V360H120V290H260V420H420V330L500 250L580 330V460H760V300H900V400H1040V340H1260V700Z', { fill: '#141d48' }),
    ),
    ...bokeh,
  )
}

function rain(sheet: Sheet): string {
  const rng = random(18)
  const drops: string[] = []
  const bead = sheet.linear([
    [0, '#0a1433', 0.75],
    [0.5, '#7c8cc8', 0.25],
    [1, '#fff2d4', 0.9],
  ])
  for (let drop = 0; drop < 640; drop++) {
    const x = rng.range(-10, 1210)
    const y = rng.range(-10, sill)
    const r = 1 + rng.next() ** 4 * 7.5
    drops.push(
      ellipse(x, y, r * 0.86, r, { fill: bead }),
      ellipse(x - r * 0.25, y - r * 0.4, r * 0.2, r * 0.16, { fill: '#fff', opacity: 0.8 }),
    )
  }
  for (let track = 0; track < 26; track++) {
    const x = rng.range(0, 1200)
    const y = rng.range(0, 440)
    const long = rng.range(60, 240)
    const sway = rng.range(-7, 7)
    drops.push(
      path(
        d`M${x - 1.4} ${y}Q${x + sway} ${y + long * 0.5} ${x + sway * 0.4 - 3} ${y + long}h6Q${x + sway + 4} ${y + long * 0.5} ${x + 1.4} ${y}Z`,
        {
          fill: sheet.linear([
            [0, '#cfd6ff', 0],
            [1, '#ffe6c0', 0.4],
          ]),
        },
      ),
      ellipse(x + sway * 0.4, y + long, 5, 7.5, { fill: bead }),
    )
  }
  return group({}, ...drops)
}

function frame(sheet: Sheet): string {
  const wood = sheet.linear(
    [
      [0, '#3a1f2c'],
      [0.5, '#6d3f38'],
      [1, '#2a1422'],
    ],
    [0, 0, 1, 0],
  )
  const level = sheet.linear([
    [0, '#7c4a3c'],
    [1, '#2a1422'],
  ])
  const uprights = [-30, 384, 790, 1176].map(
    (x) => rect(x, -60, 26, sill + 60, { fill: wood }) + rect(x, -60, 2.5, sill + 60, { fill: '#f0a868', opacity: 0.5 }),
  )
  const rails = [-26, 208].map(
    (y) => rect(-60, y, 1320, 20, { fill: level }) + rect(-60, y, 1320, 2, { fill: '#f0a868', opacity: 0.4 }),
  )
  const curtain = 'M1260-60H1030C1080 80 1046 220 1092 380C1120 500 1084 600 1104 760H1260Z'
  const folds = [1076, 1110, 1146, 1184].map((x, fold) =>
    path(d`M${x} -60C${x + 40} 200 ${x - 14} 420 ${x + 26 - fold * 3} 760`, {
      fill: 'none',
      stroke: fold % 2 === 0 ? '#2c0f26' : '#d0705a',
      'stroke-width': 14,
      opacity: 0.3,
      filter: blur(sheet, 5),
    }),
  )
  return group(
    {},
    ...rails,
    ...uprights,
    path(curtain, {
      fill: sheet.linear(
        [
          [0, '#9c3f48'],
          [1, '#4a1830'],
        ],
        [0, 0, 1, 0.2],
      ),
    }),
    ...folds,
  )
}

function seat(sheet: Sheet): string {
  const rng = random(24)
  const lines = Array.from({ length: 18 }, (_, row) => {
    const left = row < 9
    const y = 752 + (row % 9) * 7.6
    const x0 = left ? 392 - (row % 9) * 4 : 548 + (row % 9) * 2
    return path(d`M${x0} ${y + (left ? 6 : -2)}q60 -8 ${rng.range(84, 118)} ${left ? -4 : 5}`, {
      fill: 'none',
      stroke: '#8a6450',
      'stroke-width': 1.8,
      opacity: 0.55,
    })
  })
  const steam = (
    [
      [742, 0],
      [760, 1],
      [776, 2],
    ] as const
  ).map(([x, at]) =>
    path(d`M${x} 716C${x - 22} 680 ${x + 24} 650 ${x - 4} 606C${x - 20} 576 ${x + 12} 556 ${x + 4} 526`, {
      fill: 'none',
      stroke: '#ffeedd',
      'stroke-width': 8 - at * 2,
      'stroke-linecap': 'round',
      opacity: 0.2,
      filter: blur(sheet, 5),
    }),
  )
  return group(
    {},
    rect(-60, sill, 1320, 300, {
      fill: sheet.linear([
        [0, '#b06c48'],
        [0.08, '#7c4438'],
        [1, '#2a1226'],
      ]),
    }),
    rect(-60, sill, 1320, 4, { fill: '#ffc98c', opacity: 0.75 }),
    group(
      { opacity: 0.5, 'clip-path': sheet.clip(rect(-60, sill + 4, 1320, 300, {})) },
      cloud(sheet, { colour: [40, 16, 30], frequency: '0.003 0.07', seed: 9, cover: -0.2 }),
    ),
    glow(sheet, 180, 720, 520, '#ff9f4a', 0.75, 0.4),
    path('M330 846L392 742Q470 722 530 744Q600 722 676 742L742 846Q620 822 534 850Q440 822 330 846Z', { fill: '#5a2030' }),
    path('M340 836L396 738Q470 716 530 740L534 842Q440 814 340 836Z', {
      fill: sheet.linear(
        [
          [0, '#ffe9c4'],
          [0.8, '#f6cf9a'],
          [1, '#b98460'],
        ],
        [0, 0, 1, 0],
      ),
    }),
    path('M730 836L670 738Q600 716 530 740L534 842Q630 814 730 836Z', {
      fill: sheet.linear(
        [
          [0, '#c99a70'],
          [0.2, '#ffe3b8'],
          [1, '#e8b884'],
        ],
        [0, 0, 1, 0],
      ),
    }),
    ...lines,
    ellipse(768, 806, 74, 17, { fill: '#1d0a1a', opacity: 0.5 }),
    path('M712 722Q716 806 746 806H788Q818 806 820 722Z', {
      fill: sheet.linear(
        [
          [0, '#f2c89a'],
          [0.3, '#4f8088'],
          [1, '#1d3a4e'],
        ],
        [0, 0, 1, 0],
      ),
    }),
    path('M818 736q34-2 30 26t-40 24', { fill: 'none', stroke: '#2c5260', 'stroke-width': 9 }),
    ellipse(766, 722, 54, 12, { fill: '#7fb0b0' }),
    ellipse(766, 723, 46, 9, { fill: '#6d2f24' }),
    ...steam,
  )
}

function lamp(sheet: Sheet): string {
  return group(
    {},
    rect(150, 470, 9, 240, { fill: '#2a1422' }),
    ellipse(154, 712, 62, 14, { fill: '#2a1422' }),
    path('M84 478L118 372H190L226 478Q154 500 84 478Z', {
      fill: sheet.linear([
        [0, '#f0a050'],
        [0.6, '#ffd68a'],
        [1, '#fff2cc'],
      ]),
    }),
    glow(sheet, 154, 450, 420, '#ffae54', 0.75),
  )
}

export function windowSeat(): string {
  const sheet = new Sheet(1200, 900)
  return sheet.finish(
    group({ filter: blur(sheet, 1.6) }, outside(sheet)),
    rain(sheet),
    frame(sheet),
    seat(sheet),
    stand(cat, 956, 726, 330, { fill: '#170b1c', rim: '#ffb066', from: [-1.3, -0.7] }),
    lamp(sheet),
    finishCoat(sheet, '#080412', 0.6),
  )
}
