/** Filters that make flat shapes look painted: glow, cut edges, washes, clouds, grain. */
import { el, ellipse, group, type Sheet } from './svg.ts'

/** The light around a lamp. It is additive, so glows may overlap. */
export function glow(sheet: Sheet, x: number, y: number, radius: number, colour: string, strength = 0.6, flat = 1): string {
  const fill = sheet.radial([
    [0, colour, strength],
    [0.25, colour, strength * 0.48],
    [0.55, colour, strength * 0.14],
    [1, colour, 0],
  ])
  return ellipse(x, y, radius, radius * flat, { fill, style: 'mix-blend-mode:screen' })
}

const turbulence = (frequency: string, octaves: number, seed: number, result = 'noise'): string =>
  el('feTurbulence', { type: 'fractalNoise', baseFrequency: frequency, numOctaves: octaves, seed, result })

/** Displaces edges slightly, as scissors or a dry brush would. */
export function cutEdge(sheet: Sheet, scale: number, frequency = 0.035, seed = 3): string {
  return sheet.filter(
    turbulence(String(frequency), 3, seed),
    el('feDisplacementMap', { in: 'SourceGraphic', in2: 'noise', scale, xChannelSelector: 'R', yChannelSelector: 'G' }),
  )
}

export function blur(sheet: Sheet, x: number, y = x): string {
  return sheet.filter(el('feGaussianBlur', { stdDeviation: `${x} ${y}` }))
}

/** Water: smears a picture downwards, then breaks it into ripples. */
export function ripple(sheet: Sheet, scale: number, frequency: string, smear: string, seed: number): string {
  return sheet.filter(
    el('feGaussianBlur', { stdDeviation: smear, result: 'soft' }),
    turbulence(frequency, 3, seed),
    el('feDisplacementMap', { in: 'soft', in2: 'noise', scale, xChannelSelector: 'R', yChannelSelector: 'G' }),
  )
}

export interface Cloud {
  colour: readonly [red: number, green: number, blue: number]
  frequency: string
  seed: number
  /** Greater: denser. About 0 leaves a few wisps. */
  cover: number
  contrast?: number
  octaves?: number
}

/** Noise in one colour with an irregular alpha: clouds, mist, stains, plaster. */
export function cloud(sheet: Sheet, { colour, frequency, seed, cover, contrast = 3.4, octaves = 5 }: Cloud): string {
  const [red, green, blue] = colour.map((part) => Math.round((part / 255) * 1000) / 1000)
  const bias = Math.round((cover - contrast * 0.5) * 1000) / 1000
  const values = `0 0 0 0 ${red} 0 0 0 0 ${green} 0 0 0 0 ${blue} ${contrast} 0 0 0 ${bias}`
  const filter = sheet.filter(turbulence(frequency, octaves, seed), el('feColorMatrix', { type: 'matrix', values }))
  return sheet.all({ fill: '#000', filter })
}

/** The last coat: broad brush marks, paper grain and darkened corners. */
export function finishCoat(sheet: Sheet, corner = '#050716', strength = 0.55): string {
  const grey = (contrast: number): string => {
    const row = `${contrast} 0 0 0 ${(1 - contrast) / 2}`
    return el('feColorMatrix', { type: 'matrix', values: `${row} ${row} ${row} 0 0 0 0 1` })
  }
  const grain = sheet.filter(turbulence('0.62', 2, 11), grey(1.5))
  const brush = sheet.filter(turbulence('0.006 0.028', 4, 23), grey(1.7))
  const vignette = sheet.radial(
    [
      [0, corner, 0],
      [0.62, corner, 0],
      [1, corner, strength],
    ],
    0.5,
    0.48,
    0.74,
  )
  return group(
    {},
    sheet.all({ filter: brush, opacity: 0.2, style: 'mix-blend-mode:soft-light' }),
    sheet.all({ filter: grain, opacity: 0.17, style: 'mix-blend-mode:overlay' }),
    sheet.all({ fill: vignette }),
  )
}
