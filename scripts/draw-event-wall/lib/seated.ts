/** People who sit, seen from behind, a bench and a cat. They are drawn larger than the crowd and in more detail. */
import { d, ellipse, group, path, rect } from './svg.ts'

const ink = { fill: 'currentColor' }

/** An adult's back, 190 tall, with the seat at y = 70. */
export function grownUp(hair: 'bun' | 'hat' | 'short', cloth = 'currentColor'): string {
  const tops = {
    bun: ellipse(2, -116, 14, 13, ink) + path('M-24-80C-28-118 28-118 24-80Q0-52-24-80Z', ink),
    hat: path('M-46-92Q0-76 46-92Q28-98 26-100L22-124Q0-134-22-124L-26-100Q-28-98-46-92Z', ink),
    short: path('M-24-82C-28-120 28-120 24-82Q22-60 0-58Q-22-60-24-82Z', ink),
  }
  return group(
    {},
    path('M-66 70C-58 24-58-14-42-32C-30-44-14-46-9-56L9-56C14-46 30-44 42-32C58-14 58 24 66 70Q62 84 0 84Q-62 84-66 70Z', {
      fill: cloth,
    }),
    ellipse(0, -82, 22, 28, ink),
    tops[hair],
    path('M-34-32Q0-60 34-32Q0-20-34-32Z', { fill: cloth }),
  )
}

/** A child's back with a bobble hat, or curls. */
export function smallOne(hat: boolean, cloth = 'currentColor'): string {
  const top = hat
    ? path('M-23-66C-25-102 25-102 23-66Q0-60-23-66Z', ink) + ellipse(0, -100, 8, 8, ink)
    : [
        [-16, -82],
        [-4, -92],
        [10, -90],
        [19, -78],
        [-20, -68],
        [21, -64],
      ]
        .map(([x = 0, y = 0]) => ellipse(x, y, 10, 10, ink))
        .join('')
  return group(
    {},
    path('M-50 68C-42 30-40-6-28-22C-20-32-9-34-7-42L7-42C9-34 20-32 28-22C40-6 42 30 50 68Q46 82 0 82Q-46 82-50 68Z', {
      fill: cloth,
    }),
    ellipse(0, -64, 21, 25, ink),
    top,
  )
}

/** A cat from behind with a hanging tail: 70 tall, seat at y = 0. */
export const cat = group(
  {},
  path('M-24 0C-30-26-20-44-12-50C-18-60-18-70-16-82L-7-74Q0-77 7-74L16-82C18-70 18-60 12-50C20-44 30-26 24 0Q0 7-24 0Z', ink),
  path('M18-4C34 0 36 18 28 34C24 44 32 50 36 44', {
    fill: 'none',
    stroke: 'currentColor',
    'stroke-width': 7,
    'stroke-linecap': 'round',
  }),
)

/** A slatted bench from behind, with its seat at y = 0. */
export function bench(width: number): string {
  const half = width / 2
  return group(
    {},
    ...[-46, -24, -2].map((y) => rect(-half, y, width, 14, { rx: 3, ...ink })),
    rect(-half - 8, 20, width + 16, 9, { rx: 3, ...ink }),
    ...[-half + 16, half - 26].map((x) => path(d`M${x} -52h10l4 128h-12Z`, ink)),
  )
}
