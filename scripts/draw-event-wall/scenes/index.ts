/** Every picture by the name of its file. */
import { courtyardDance } from './courtyard-dance.ts'
import { firstLight } from './first-light.ts'
import { hero } from './hero.ts'
import { paperBoats } from './paper-boats.ts'
import { readingRoom } from './reading-room.ts'
import { windowSeat } from './window-seat.ts'

export const scenes: Readonly<Record<string, () => string>> = {
  'quay-at-night': hero,
  'reading-room': readingRoom,
  'paper-boats': paperBoats,
  'courtyard-dance': courtyardDance,
  'first-light': firstLight,
  'window-seat': windowSeat,
}
