import sharp from 'sharp'

/** Measurements of a picture that tests can check. */
export type Impression = {
  width: number
  height: number
  /** 0 black, 1 white. */
  brightness: number
  /** Red less blue, -1 to 1. */
  warmth: number
  /** The standard deviation of the brightness. */
  spread: number
  /**
   * How much a pixel differs from its neighbour, as a share of the spread: near 1 for noise, far below for a picture.
   */
  roughness: number
  /** The mean distance of a pixel's channels from its grey. */
  colour: number
}

export async function impressionOf(png: Uint8Array): Promise<Impression> {
  const { data, info } = await sharp(png).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  const { width, height } = info
  const grey = Float64Array.from(
    { length: width * height },
    (_, pixel) => (data[pixel * 3]! + data[pixel * 3 + 1]! + data[pixel * 3 + 2]!) / 765,
  )
  const brightness = mean(grey)
  let warmth = 0
  let colour = 0
  let step = 0
  for (let pixel = 0; pixel < grey.length; pixel++) {
    warmth += (data[pixel * 3]! - data[pixel * 3 + 2]!) / 255 / grey.length
    for (let part = 0; part < 3; part++) colour += Math.abs(data[pixel * 3 + part]! / 255 - grey[pixel]!) / 3 / grey.length
    if (pixel % width > 0) step += Math.abs(grey[pixel]! - grey[pixel - 1]!) / grey.length
  }
  const spread = Math.sqrt(mean(grey.map((value) => (value - brightness) ** 2)))
  return { width, height, brightness, warmth, spread, roughness: step / spread, colour }
}

function mean(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** The share of pixels that differ visibly between two pictures of the same size. */
export async function difference(one: Uint8Array, other: Uint8Array): Promise<number> {
  const [a, b] = await Promise.all([one, other].map(async (png) => sharp(png).removeAlpha().raw().toBuffer()))
  if (!a || !b || a.length !== b.length) return 1
  let count = 0
  for (let at = 0; at < a.length; at += 3)
    if (Math.abs(a[at]! - b[at]!) + Math.abs(a[at + 1]! - b[at + 1]!) + Math.abs(a[at + 2]! - b[at + 2]!) > 48) count++
  return count / (a.length / 3)
}

/** The names of a PNG's chunks. */
export function chunksOf(png: Buffer): string[] {
  const names: string[] = []
  for (let at = 8; at < png.length; at += png.readUInt32BE(at) + 12) names.push(png.toString('latin1', at + 4, at + 8))
  return names
}
