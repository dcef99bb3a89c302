import type { Light } from '../colour/light.ts'
import type { Hand, Picture } from '../drawing/picture.ts'
import type { Random } from '../random.ts'
import type { Canvas } from '../raster/canvas.ts'

export type Style = {
  /** For the picture's description: "…, as a woodblock print". */
  words: string
  hand: (light: Light, random: Random) => Hand
  paint: (picture: Picture) => Promise<Canvas>
}
