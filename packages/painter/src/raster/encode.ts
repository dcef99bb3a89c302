import sharp from 'sharp'
import type { Canvas } from './canvas.ts'

/** A PNG without metadata: the same pixels give the same bytes. */
export async function encodePng(canvas: Canvas): Promise<Buffer> {
  const { width, height, data } = canvas
  const bytes = new Uint8Array(data.length)
  for (let index = 0; index < data.length; index++) {
    const value = data[index] ?? 0
    bytes[index] = value <= 0 ? 0 : value >= 1 ? 255 : Math.round(value * 255)
  }
  return sharp(bytes, { raw: { width, height, channels: 3 } })
    .png({ compressionLevel: 6, adaptiveFiltering: false, palette: false })
    .toBuffer()
}
