import type { Random } from '../random.ts'
import type { Reading, Time } from '../reading/reading.ts'
import { mix, shift, type Lch } from './oklch.ts'
import { LIGHTS, type Recipe } from './lights.ts'

/**
 * The effect of the time of day and the weather on every colour of a picture. A picture has one light for all its
 * shapes.
 */
export type Light = Recipe & {
  time: Time
  /** Where it comes from: -1 left, 1 right. */
  side: -1 | 1
  /** 0 clear, 1 covered. */
  clouds: number
  /** How much the far fades into the air, 0–1. */
  mist: number
  wet: boolean
}

export function chooseLight(reading: Reading, random: Random): Light {
  const recipe = random.pick(LIGHTS[reading.time])
  const turn = random.around(0, 9)
  const warmth = reading.warmth
  const tune = (colour: Lch): Lch => warm(shift(colour, 0, 1, turn), warmth)
  const covered = reading.weather === 'storm' || reading.weather === 'rain' || reading.weather === 'mist'
  const grey = (colour: Lch): Lch => (covered ? cover(colour, reading.weather === 'mist' ? 0.04 : -0.05) : colour)
  return {
    ...recipe,
    sky: recipe.sky.map((colour) => grey(tune(colour))),
    haze: grey(tune(recipe.haze)),
    glow: grey(tune(recipe.glow)),
    cloudLit: grey(tune(recipe.cloudLit)),
    cloudShade: grey(tune(recipe.cloudShade)),
    ambient: covered
      ? { ...recipe.ambient, chroma: recipe.ambient.chroma * 0.72, lightness: recipe.ambient.lightness * 0.93 }
      : recipe.ambient,
    time: reading.time,
    side: random.chance(0.5) ? -1 : 1,
    clouds: covered ? random.between(0.62, 0.8) : reading.calm ? random.between(0.1, 0.35) : random.between(0.2, 0.5),
    mist: reading.weather === 'mist' ? 0.95 : recipe.mist,
    wet: reading.weather === 'rain' || reading.weather === 'storm',
  }
}

function warm(colour: Lch, warmth: number): Lch {
  if (warmth === 0) return colour
  return mix(colour, [colour[0], Math.max(0.05, colour[1]), warmth > 0 ? 55 : 250], Math.abs(warmth) * 0.35)
}

function cover(colour: Lch, lighter: number): Lch {
  return [colour[0] * 0.92 + lighter, colour[1] * 0.5, colour[2]]
}

/**
 * An object's own colour as it looks in this light. `depth` is 0 for the far distance (all air) to 1 for the
 * foreground.
 */
export function inLight(light: Light, own: Lch, depth: number): Lch {
  const { lightness, chroma, hue, pull } = light.ambient
  // Colours near white keep more of their lightness, so that snow and plaster stand out in the dark.
  const kept = lightness + (1 - lightness) * 0.3 * own[0] ** 5
  const dimmed: Lch = [own[0] * kept, own[1] * chroma, own[2]]
  const tinted = mix(dimmed, [dimmed[0], Math.max(dimmed[1], 0.06), hue], pull)
  return mix(tinted, light.haze, light.mist * (1 - depth) ** 1.25)
}
