import type { Time } from '../reading/reading.ts'
import type { Lch } from './oklch.ts'

export type Recipe = {
  /** Name for the description of the picture. */
  words: string
  /** From the zenith down to the horizon. */
  sky: readonly Lch[]
  haze: Lch
  mist: number
  /** The disc of the sun or moon, and the light around it. */
  face: Lch
  glow: Lch
  glowStrength: number
  cloudLit: Lch
  cloudShade: Lch
  /** Own colours are multiplied by the first two, and shifted towards the hue by `pull`. */
  ambient: { lightness: number; chroma: number; hue: number; pull: number }
  /** Lamps and windows are on. */
  lit: boolean
  lamp: Lch
  /** The darkest colour, for shapes against the light. */
  dark: Lch
}

const LAMP: Lch = [0.87, 0.135, 80]

const day = (words: string, sky: Lch[], haze: Lch, cloudShade: Lch, dark: Lch, hue: number): Recipe => ({
  words,
  sky,
  haze,
  mist: 0.74,
  face: [0.985, 0.03, 95],
  glow: [0.97, 0.05, 90],
  glowStrength: 0.5,
  cloudLit: [0.985, 0.012, 85],
  cloudShade,
  ambient: { lightness: 1, chroma: 1, hue, pull: 0.06 },
  lit: false,
  lamp: LAMP,
  dark,
})

const low = (
  words: string,
  sky: Lch[],
  haze: Lch,
  glow: Lch,
  cloudLit: Lch,
  cloudShade: Lch,
  hue: number,
  dusk: boolean,
): Recipe => ({
  words,
  sky,
  haze,
  mist: 0.8,
  face: dusk ? [0.95, 0.1, 80] : [0.98, 0.05, 85],
  glow,
  glowStrength: 0.85,
  cloudLit,
  cloudShade,
  ambient: { lightness: dusk ? 0.66 : 0.86, chroma: dusk ? 0.9 : 0.82, hue, pull: dusk ? 0.3 : 0.22 },
  lit: dusk,
  lamp: LAMP,
  dark: [dusk ? 0.2 : 0.3, 0.06, hue],
})

const night = (words: string, sky: Lch[], haze: Lch, cloudLit: Lch, hue: number): Recipe => ({
  words,
  sky,
  haze,
  mist: 0.72,
  face: [0.965, 0.045, 95],
  glow: [0.8, 0.07, hue],
  glowStrength: 0.42,
  cloudLit,
  cloudShade: [0.25, 0.05, hue],
  ambient: { lightness: 0.53, chroma: 0.66, hue, pull: 0.42 },
  lit: true,
  lamp: LAMP,
  dark: [0.14, 0.04, hue],
})

export const LIGHTS: Record<Time, readonly Recipe[]> = {
  day: [
    day(
      'clear daylight',
      [
        [0.66, 0.11, 245],
        [0.78, 0.08, 232],
        [0.89, 0.045, 210],
        [0.955, 0.03, 95],
      ],
      [0.9, 0.03, 215],
      [0.8, 0.035, 245],
      [0.3, 0.05, 255],
      240,
    ),
    day(
      'soft golden light',
      [
        [0.75, 0.075, 228],
        [0.86, 0.05, 200],
        [0.935, 0.055, 92],
        [0.95, 0.07, 80],
      ],
      [0.92, 0.05, 88],
      [0.83, 0.04, 60],
      [0.32, 0.055, 50],
      75,
    ),
    day(
      'fresh morning light',
      [
        [0.72, 0.08, 215],
        [0.84, 0.06, 195],
        [0.93, 0.035, 160],
        [0.965, 0.03, 105],
      ],
      [0.91, 0.035, 180],
      [0.82, 0.03, 220],
      [0.3, 0.05, 225],
      190,
    ),
  ],
  dawn: [
    low(
      'rose light of early morning',
      [
        [0.63, 0.075, 258],
        [0.75, 0.065, 300],
        [0.86, 0.075, 25],
        [0.945, 0.07, 75],
      ],
      [0.86, 0.06, 40],
      [0.97, 0.08, 75],
      [0.93, 0.06, 40],
      [0.66, 0.065, 300],
      300,
      false,
    ),
    low(
      'pale lemon light of daybreak',
      [
        [0.6, 0.065, 225],
        [0.76, 0.05, 205],
        [0.9, 0.06, 100],
        [0.96, 0.075, 90],
      ],
      [0.89, 0.05, 100],
      [0.98, 0.075, 92],
      [0.95, 0.05, 80],
      [0.68, 0.04, 230],
      225,
      false,
    ),
  ],
  dusk: [
    low(
      'violet and peach dusk',
      [
        [0.36, 0.11, 282],
        [0.5, 0.125, 315],
        [0.69, 0.13, 10],
        [0.86, 0.12, 65],
      ],
      [0.68, 0.11, 12],
      [0.92, 0.12, 65],
      [0.82, 0.12, 35],
      [0.44, 0.11, 305],
      295,
      true,
    ),
    low(
      'teal and coral dusk',
      [
        [0.37, 0.07, 235],
        [0.53, 0.07, 215],
        [0.75, 0.075, 60],
        [0.83, 0.135, 48],
      ],
      [0.67, 0.075, 45],
      [0.9, 0.13, 60],
      [0.83, 0.12, 45],
      [0.44, 0.055, 245],
      240,
      true,
    ),
    low(
      'crimson and gold dusk',
      [
        [0.31, 0.1, 315],
        [0.45, 0.14, 350],
        [0.65, 0.17, 30],
        [0.86, 0.14, 82],
      ],
      [0.64, 0.14, 30],
      [0.92, 0.14, 82],
      [0.83, 0.14, 60],
      [0.38, 0.115, 340],
      335,
      true,
    ),
  ],
  night: [
    night(
      'indigo night',
      [
        [0.17, 0.07, 275],
        [0.245, 0.09, 275],
        [0.34, 0.105, 278],
        [0.455, 0.1, 290],
      ],
      [0.37, 0.09, 280],
      [0.43, 0.085, 285],
      275,
    ),
    night(
      'deep blue-green night',
      [
        [0.16, 0.045, 235],
        [0.23, 0.06, 225],
        [0.33, 0.07, 215],
        [0.46, 0.07, 190],
      ],
      [0.37, 0.065, 210],
      [0.42, 0.055, 215],
      225,
    ),
    night(
      'plum-coloured night',
      [
        [0.17, 0.07, 300],
        [0.25, 0.095, 305],
        [0.36, 0.115, 325],
        [0.5, 0.115, 350],
      ],
      [0.39, 0.1, 325],
      [0.45, 0.095, 330],
      305,
    ),
  ],
}
