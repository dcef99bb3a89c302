import { paintInThread } from '@atrium/painter/paint-in-thread'
import { painterVersion } from '@atrium/painter/paint-picture'
import { assertPaintable, type Painter } from './painter.ts'
import { takePictureTurn } from './picture-work.ts'

/** The built-in painter: it needs no key, no network and no model. */
export function createLocalPainter(tenantId: string): Painter {
  return {
    paint: async (request) => {
      assertPaintable(request)
      const { prompt, width, height, seed, signal } = request
      const { png, style, alt } = await takePictureTurn(tenantId, signal, () =>
        paintInThread({ prompt, width, height, seed }, signal),
      )
      return {
        bytes: Buffer.from(png.buffer, png.byteOffset, png.byteLength),
        mime: 'image/png',
        width,
        height,
        provider: 'local',
        model: `atrium-painter-${painterVersion}`,
        seed,
        style,
        alt,
      }
    },
  }
}
