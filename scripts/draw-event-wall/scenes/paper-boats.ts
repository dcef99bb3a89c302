/** Boats folded from old catalogue cards, passing under the humpbacked bridge. */
import { random } from '../lib/random.ts'
import { houses, skyline } from '../lib/houses.ts'
import { boat, flames, garland, globe } from '../lib/lanterns.ts'
import { grass, stars, tree } from '../lib/nature.ts'
import { person, stand, townsfolk } from '../lib/people.ts'
import { d, ellipse, group, path, rect, run, Sheet, type Point } from '../lib/svg.ts'
import { cloud, cutEdge, finishCoat, glow } from '../lib/surface.ts'
import { crests, water } from '../lib/water.ts'

const line = 486
/** The top of the parapet over x. */
const hump = (x: number): number => 258 - 104 * Math.exp(-(((x - 600) / 330) ** 2))

function sky(sheet: Sheet): string {
  return group(
    {},
    rect(-60, -60, 1320, 600, {
      fill: sheet.linear([
        [0, '#04142b'],
        [0.35, '#0d3350'],
        [0.62, '#256374'],
        [0.8, '#79958a'],
        [0.92, '#e9b982'],
        [1, '#ffd79a'],
      ]),
    }),
    stars(sheet, random(14), 240, 330),
    group({ opacity: 0.7 }, cloud(sheet, { colour: [120, 176, 178], frequency: '0.0022 0.012', seed: 4, cover: -0.25 })),
    glow(sheet, 600, 470, 520, '#ffc27a', 0.5),
  )
}

/** The library's turret, far down the canal. */
const tower = (x: number, y: number): string =>
  group(
    { fill: '#3f6c72' },
    rect(x - 52, y - 72, 104, 72, {}),
    rect(x - 16, y - 132, 32, 62, {}),
    rect(x - 12, y - 150, 24, 20, {}),
    path(d`M${x - 14} ${y - 150}Q${x - 13} ${y - 166} ${x} ${y - 178}Q${x + 13} ${y - 166} ${x + 14} ${y - 150}Z`, {}),
    ellipse(x, y - 114, 9, 9, { fill: '#ffe6b0' }),
    ...[-40, -24, -8, 8, 24, 40].map((dx) => rect(x + dx - 4, y - 52, 8, 34, { rx: 4, fill: '#ffd48c' })),
  )

function beyond(sheet: Sheet): string {
  const walls = [
    ['#1b4356', '#5f6a62'],
    ['#234a5c', '#7d735f'],
    ['#183b52', '#4f6264'],
  ] as const
  const pane = ['#3c6a76', '#163c50', '#0c2a3e'] as const
  const lampAt = (x: number, y: number): string =>
    glow(sheet, x, y, 60, '#ffc978', 0.8) + ellipse(x, y, 3, 3.4, { fill: '#fff4d0' })
  return group(
    {},
    skyline(sheet, random(61), line - 4, '#4f7b7c', 1200),
    group(
      { filter: cutEdge(sheet, 2.4) },
      houses(sheet, random(71), { from: -50, to: 420, base: line + 4, tall: [140, 205], pane, walls, lit: 0.5, moonFrom: 1 }),
      houses(sheet, random(72), { from: 790, to: 1260, base: line + 4, tall: [140, 210], pane, walls, lit: 0.5, moonFrom: -1 }),
    ),
    tower(600, line - 4),
    rect(-60, line - 8, 1320, 12, { fill: '#7c8a78' }),
    rect(-60, 330, 1320, 170, {
      fill: sheet.linear([
        [0, '#f2c48c', 0],
        [1, '#f2c48c', 0.5],
      ]),
    }),
    ...[452, 494, 540, 584, 628, 668, 712, 754].map((x) => lampAt(x, 464)),
  )
}

function bridge(sheet: Sheet): string {
  const rng = random(23)
  const top: Point[] = Array.from({ length: 67 }, (_, step) => [step * 20 - 60, hump(step * 20 - 60)])
  const arch = d`M270 ${line + 10}V${line - 18}A330 262 0 0 1 930 ${line - 18}V${line + 10}Z`
  const body = `${run([...top, [1260, line + 10], [-60, line + 10]])}${arch}`
  const clip = sheet.clip(path(body, { 'clip-rule': 'evenodd' }))
  const stones: string[] = []
  for (let y = 150; y < line + 10; y += 19) {
    for (let x = -60; x < 1260;) {
      const w = rng.range(28, 62)
      stones.push(
        rect(x, y, w - 1.6, 17.4, {
          rx: 2.5,
          fill: rng.pick(['#0a2233', '#3f6068', '#5d6f6a', '#16384a', '#806f5a']),
          opacity: rng.range(0.1, 0.42),
        }),
      )
      x += w
    }
  }
  const voussoirs = Array.from({ length: 41 }, (_, at) => {
    const turn = Math.PI * (at / 41)
    const next = Math.PI * ((at + 0.9) / 41)
    const on = (angle: number, grow: number): Point => [
      600 - Math.cos(angle) * (330 + grow),
      line - 18 - Math.sin(angle) * (262 + grow),
    ]
    return path(run([on(turn, 0), on(turn, 26), on(next, 26), on(next, 0)]), {
      fill: rng.pick(['#3d5a62', '#486268', '#576a68', '#33525e']),
    })
  })
  return group(
    {},
    path(body, {
      fill: sheet.linear([
        [0, '#35545f'],
        [0.45, '#22404f'],
        [1, '#10293b'],
      ]),
      'fill-rule': 'evenodd',
    }),
    group({ 'clip-path': clip }, ...stones),
    ...voussoirs,
    path(d`M270 ${line + 10}V${line - 18}A330 262 0 0 1 930 ${line - 18}V${line + 10}`, {
      fill: 'none',
      stroke: '#ffcb86',
      'stroke-width': 4,
      opacity: 0.75,
    }),
    path(d`M286 ${line + 10}V${line - 18}A314 248 0 0 1 914 ${line - 18}V${line + 10}`, {
      fill: 'none',
      stroke: '#ffb868',
      'stroke-width': 22,
      opacity: 0.12,
    }),
    path(run(top, false), { fill: 'none', stroke: '#5d7a7c', 'stroke-width': 13 }),
    path(
      run(
        top.map(([x, y]): Point => [x, y - 6]),
        false,
      ),
      { fill: 'none', stroke: '#ffcf94', 'stroke-width': 2.2, opacity: 0.75 },
    ),
    path(
      run(
        top.map(([x, y]): Point => [x, y + 46]),
        false,
      ),
      { fill: 'none', stroke: '#0a2233', 'stroke-width': 4, opacity: 0.6 },
    ),
  )
}

function onlookers(sheet: Sheet): string {
  const rng = random(47)
  const parts: string[] = []
  for (let x = 90; x < 1120; x += rng.range(22, 58)) {
    const who = rng.pick(townsfolk)
    const tall = (who.child === true ? 84 : 112) * rng.range(0.94, 1.05)
    const hidden = who.child === true ? 26 : 44
    parts.push(
      stand(
        person(who),
        x,
        hump(x) + hidden,
        tall,
        { fill: '#0a1a2b', rim: '#ffbd74', from: [x < 600 ? 1.6 : -1.6, 1] },
        rng.chance(0.5),
      ),
    )
    if (rng.chance(0.34)) parts.push(globe(sheet, x + 16, hump(x) - 14, 10, rng.pick(flames), 6))
  }
  const wires = [
    [-40, 120, 250, 84],
    [250, 84, 600, 26],
    [600, 26, 950, 84],
    [950, 84, 1240, 120],
  ] as const
  const posts = [250, 600, 950].map((x) => rect(x - 2.5, hump(x) - 136, 5, 140, { fill: '#0a1a2b' }))
  return group(
    {},
    ...posts,
    ...wires.map(([x0, y0, x1, y1]) => garland(sheet, rng, [x0, y0], [x1, y1], 26, 17, 3, '#0a1a2b')),
    ...parts,
  )
}

/** The nearest boat, close enough to show that its paper was a catalogue card. */
function nearest(sheet: Sheet): string {
  const rng = random(5)
  const typed = Array.from({ length: 6 }, (_, row) => {
    let at = -74 + row * 5
    const words: string[] = []
    while (at < 60 - row * 12) {
      const long = rng.range(8, 26)
      words.push(path(d`M${at} ${-34 + row * 8.5}h${long}`, { stroke: '#7a3a26', 'stroke-width': 2.2, opacity: 0.5 }))
      at += long + 6
    }
    return words.join('')
  })
  return group(
    {},
    boat(sheet, 372, 780, 118, flames[0], -3),
    group(
      { transform: 'translate(384 782) rotate(-3)' },
      ...typed,
      ellipse(64, -30, 5, 5, { fill: 'none', stroke: '#7a3a26', 'stroke-width': 2, opacity: 0.6 }),
    ),
  )
}

function fleet(sheet: Sheet): string {
  const rng = random(204)
  const placed: { x: number; y: number }[] = []
  for (let attempt = 0; attempt < 700 && placed.length < 34; attempt++) {
    const nearness = rng.next() ** 1.25
    const y = line + 10 + nearness * 350
    const x = 600 + nearness * 60 + (rng.next() + rng.next() - 1) * (210 + nearness * 620)
    if (x < 40 || x > 1160 || Math.hypot(x - 372, (y - 800) * 1.3) < 235) continue
    if (placed.some((other) => Math.hypot((other.x - x) * 0.7, (other.y - y) * 1.7) < 22 + nearness * 96)) continue
    placed.push({ x, y })
  }
  placed.sort((one, other) => one.y - other.y)
  return placed.map(({ x, y }) => boat(sheet, x, y, 6 + ((y - line) / 350) * 48, rng.pick(flames), rng.range(-6, 6))).join('')
}

export function paperBoats(): string {
  const sheet = new Sheet(1200, 900)
  const rng = random(19)
  const leaves = ['#061626', '#0a2433', '#12333d', '#2c4a45', '#6b5f45'] as const
  const frame = [
    [-30, 520, 560],
    [1236, 524, 600],
  ].map(([x = 0, y = 0, tall = 0]) =>
    tree(rng, { x, y, tall, spread: 0.5, bark: '#061020', leaves, thick: 6, leaf: 7, depth: 6 }),
  )
  const world = group(
    { id: 'world' },
    sky(sheet),
    beyond(sheet),
    group({ filter: cutEdge(sheet, 2) }, onlookers(sheet), bridge(sheet)),
    ...frame,
  )
  return sheet.finish(
    world,
    water(sheet, {
      of: 'world',
      line,
      tint: [
        [0, '#fff0d8'],
        [0.3, '#b8d2cf'],
        [0.75, '#5f95a3'],
        [1, '#245066'],
      ],
      strength: 0.9,
      seed: 15,
    }),
    crests(sheet, rng, line, 360, (x, y) =>
      Math.abs(x - 600) < 260 + (y - line) * 0.3 && rng.chance(0.6) ? '#ffd08c' : rng.chance(0.6) ? '#6fb0b8' : '#2b6a80',
    ),
    fleet(sheet),
    nearest(sheet),
    grass(rng, 760, 1230, (x) => 914 - Math.max(0, x - 780) * 0.12, 120, ['#041020', '#08202c', '#0c2c34'], 4),
    grass(rng, -20, 150, (x) => 900 + x * 0.25, 110, ['#041020', '#08202c'], 4),
    finishCoat(sheet, '#020a16', 0.6),
  )
}
