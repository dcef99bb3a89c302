import sharp, { type Sharp } from 'sharp'
import { pictureLimits } from './assert-acceptable.ts'

/** All that is ever opened here. SVG is a program, PDF a document, and each further loader is code that a stranger could reach. */
const loaders = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif']

/** For a process that opens strangers' pictures. */
export function takeOnlyPictures(): void {
  sharp.block({ operation: ['VipsForeignLoad'] })
  sharp.unblock({ operation: loaders.map((name) => `VipsForeignLoad${name}`) })
  sharp.cache(false)
  sharp.concurrency(1)
}

export function openImage(path: string, options: { animated?: boolean } = {}): Sharp {
  return sharp(path, { failOn: 'error', sequentialRead: true, limitInputPixels: pictureLimits.framePixels, ...options })
}
