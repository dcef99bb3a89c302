export type PaintRequest = {
  prompt: string
  /** The requested size in pixels. A provider with fixed sizes uses the nearest shape. */
  width: number
  height: number
  /**
   * A whole number from 0. The built-in painter makes the same picture for the same seed; few providers guarantee
   * that.
   */
  seed: number
  /** Aborts the painting; the promise then rejects with the signal's reason. */
  signal?: AbortSignal | undefined
}

export type Painted = {
  bytes: Buffer
  mime: string
  width: number
  height: number
  provider: string
  model: string
  seed: number
  /** The style of the picture, if the painter chooses one. */
  style?: string
  /** A description of the picture, for people who cannot see it. */
  alt: string
}

/** Makes a picture from a prompt. */
export interface Painter {
  paint(request: PaintRequest): Promise<Painted>
}

const PAINT_SIZE = { min: 256, max: 2048 }

/**
 * Throws on values that no painter accepts. Sizes and seeds of requests are checked earlier, so a wrong value here
 * is a defect.
 */
export function assertPaintable({ width, height, seed }: PaintRequest): void {
  for (const side of [width, height]) {
    if (!Number.isInteger(side) || side < PAINT_SIZE.min || side > PAINT_SIZE.max)
      throw new RangeError(`a picture cannot be ${side} pixels wide or high`)
  }
  if (!Number.isSafeInteger(seed) || seed < 0) throw new RangeError('a seed is a whole number from 0')
}
