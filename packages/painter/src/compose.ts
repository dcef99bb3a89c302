import { chooseLight } from './colour/light.ts'
import { createFrame } from './drawing/frame.ts'
import { createPen } from './drawing/pen.ts'
import type { Body, Picture } from './drawing/picture.ts'
import type { Stage } from './drawing/stage.ts'
import type { Random } from './random.ts'
import type { Reading, Subject } from './reading/reading.ts'
import { STYLE_OF } from './styles/styles.ts'
import { drawAbstract } from './subjects/abstract.ts'
import { drawBough } from './subjects/bough.ts'
import { drawCity } from './subjects/city.ts'
import { drawDesert } from './subjects/desert.ts'
import { drawFields } from './subjects/fields.ts'
import { drawForest } from './subjects/forest.ts'
import { drawGarden } from './subjects/garden.ts'
import { drawHarbour } from './subjects/harbour.ts'
import { drawLanterns } from './subjects/lanterns.ts'
import { drawMountains } from './subjects/mountains.ts'
import { drawNightSky } from './subjects/nightsky.ts'
import { drawRiver } from './subjects/river.ts'
import { drawSea } from './subjects/sea.ts'
import { drawStillLife } from './subjects/still-life.ts'
import { drawStreet } from './subjects/street.ts'
import { drawVillage } from './subjects/village.ts'

type Scene = { draw: (stage: Stage) => void; horizon: number }

/** Each scene and the height of its horizon: a third from the top or bottom, or lower if the sky is the subject. */
const SCENES: Record<Subject, Scene> = {
  harbour: { draw: drawHarbour, horizon: 0.5 },
  sea: { draw: drawSea, horizon: 0.5 },
  mountains: { draw: drawMountains, horizon: 0.6 },
  forest: { draw: drawForest, horizon: 0.6 },
  city: { draw: drawCity, horizon: 0.62 },
  garden: { draw: drawGarden, horizon: 0.42 },
  lanterns: { draw: drawLanterns, horizon: 0.6 },
  nightsky: { draw: drawNightSky, horizon: 0.78 },
  desert: { draw: drawDesert, horizon: 0.5 },
  village: { draw: drawVillage, horizon: 0.42 },
  street: { draw: drawStreet, horizon: 0.6 },
  bough: { draw: drawBough, horizon: 1 },
  river: { draw: drawRiver, horizon: 0.5 },
  fields: { draw: drawFields, horizon: 0.38 },
  stilllife: { draw: drawStillLife, horizon: 0.66 },
  abstract: { draw: drawAbstract, horizon: 0.6 },
}

/** Composes the picture as plates and light, before a style paints it, and describes it in words. */
export function compose(
  reading: Reading,
  random: Random,
  width: number,
  height: number,
): { picture: Picture; words: string[]; light: string } {
  const frame = createFrame(width, height)
  const light = chooseLight(reading, random.fork('light'))
  const style = STYLE_OF[reading.style]
  const hand = style.hand(light, random.fork('hand'))
  const scene = SCENES[reading.subject]
  const pen = createPen(frame, light, hand, random.fork('drawing'))
  const place = random.fork('place')
  const horizon = frame.height * (scene.horizon + place.around(0, 0.025))
  const focus = frame.width * (light.side === -1 ? 0.645 : 0.355) + place.around(0, 18)
  const body = placeBody(reading, place, {
    width: frame.width,
    height: frame.height,
    horizon,
    side: light.side,
    covered: light.clouds > 0.6,
  })
  const stage: Stage = { pen, reading, horizon, focus, body, plates: [], words: [] }
  scene.draw(stage)
  if (reading.weather === 'snow') stage.plates.push({ kind: 'fall', what: 'snow' })
  if (light.wet) stage.plates.push({ kind: 'fall', what: 'rain' })
  return {
    picture: { frame, light, hand, horizon, body, plates: stage.plates, random: random.fork('paint') },
    words: stage.words,
    light: light.words,
  }
}

type Room = { width: number; height: number; horizon: number; side: -1 | 1; covered: boolean }

/** The light is on the third opposite the focus: low at dusk and dawn, high by day. */
function placeBody(reading: Reading, random: Random, { width, height, horizon, side, covered }: Room): Body {
  const moon = reading.time === 'night' || (reading.extras.has('moon') && reading.time !== 'day')
  const low = (reading.time === 'dusk' || reading.time === 'dawn') && !moon
  const span = Math.min(width, height)
  const large = reading.subject === 'bough' ? 2.9 : reading.extras.has('moon') || reading.extras.has('sun') ? 1.35 : 1
  const radius = span * random.between(0.036, 0.048) * large
  const level = reading.subject === 'bough' ? 0.36 : low ? random.between(0.68, 0.84) : random.between(0.2, 0.34)
  const x = width * (side === -1 ? 0.3 : 0.7) + random.around(0, 26)
  return {
    x,
    y: Math.max(radius * 1.6, horizon * level),
    radius,
    moon,
    shown: !(covered && reading.weather !== 'mist') && reading.subject !== 'stilllife',
  }
}
