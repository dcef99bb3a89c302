import sharp, { type Sharp } from 'sharp'
import { pictureLimits } from './assert-acceptable.ts'

/**
 * The only formats that are decoded. Each further loader, such as SVG or PDF, is code that untrusted input could
 * reach.
 */
const loaders = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif']

/** The settings of a process that decodes untrusted pictures. */
export function takeOnlyPictures(): void {
  sharp.block({ operation: ['VipsForeignLoad'] })
  sharp.unblock({ operation: loaders.map((name) => `VipsForeignLoad${name}`) })
  sharp.cache(false)
  sharp.concurrency(1)
}

export function openImage(path: string, options: { animated?: boolean } = {}): Sharp {
  return sharp(path, { failOn: 'error', sequentialRead: true, limitInputPixels: pictureLimits.framePixels, ...options })
}
