import { readFile } from 'node:fs/promises'
import sharp, { type Sharp } from 'sharp'

/** Stands in every kind of metadata that a sample has. */
export const secret = 'SECRET-OF-THE-CAMERA'

const exif = {
  IFD0: { Copyright: secret, ImageDescription: secret, Make: secret },
  IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 3230/100', GPSLongitudeRef: 'W', GPSLongitude: '0/1 7/1 4366/100' },
}
const xmp = `<x:xmpmeta xmlns:x="adobe:ns:meta/"><a>${secret}</a></x:xmpmeta>`

/** A gradient: left is red, right is blue. */
export function gradient(width = 800, height = 600): Sharp {
  const pixels = Buffer.alloc(width * height * 3)
  for (let at = 0; at < pixels.length; at += 3) {
    const x = (at / 3) % width
    pixels[at] = 255 - Math.round((x * 255) / width)
    pixels[at + 2] = Math.round((x * 255) / width)
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
}

export type Still = 'png' | 'jpeg' | 'webp' | 'avif'

/** A picture with a location in its metadata. */
export function located(format: Still, orientation = 1): Promise<Buffer> {
  const told = gradient().toFormat(format, { quality: 80 }).withExif(exif).withXmp(xmp)
  return (orientation === 1 ? told : told.withMetadata({ orientation })).toBuffer()
}

export async function animation(format: 'gif' | 'webp', frames: number, width = 64, height = 48): Promise<Buffer> {
  const colours = Array.from({ length: frames }, (_, i) => ({ r: (i * 37) % 256, g: (i * 91) % 256, b: (i * 53) % 256 }))
  const pages = await Promise.all(
    colours.map((background) =>
      sharp({ create: { width, height, channels: 3, background } })
        .png()
        .toBuffer(),
    ),
  )
  return sharp(pages, { join: { animated: true } })
    .toFormat(format, { delay: frames > 1 ? colours.map(() => 80) : 80, loop: 3 })
    .toBuffer()
}

/** Recorded by a browser: 64 × 48, less than a second. */
export function clip(type: 'webm' | 'mp4'): Promise<Buffer> {
  return readFile(new URL(`clips/tiny.${type}`, import.meta.url))
}
