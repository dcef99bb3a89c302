export type PaintRequest = {
  prompt: string
  /** Pixels wanted. A provider that makes only certain sizes answers with the one nearest in shape. */
  width: number
  height: number
  /**
   * A whole number from 0. The built-in painter makes the same picture for the same seed; few providers promise that.
   */
  seed: number
  /** Stops the work; the promise then rejects with the signal's reason. */
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
  /** The manner in which it was painted, where the painter chooses one. */
  style?: string
  /** What is to be seen, for people who cannot see it. */
  alt: string
}

/** Makes a picture from words. */
export interface Painter {
  paint(request: PaintRequest): Promise<Painted>
}

export const PAINT_SIZE = { min: 256, max: 2048 }

/** Asserts what no painter takes: sizes and seeds are checked before, so a wrong one here is a fault of ours. */
export function assertPaintable({ width, height, seed }: PaintRequest): void {
  for (const side of [width, height]) {
    if (!Number.isInteger(side) || side < PAINT_SIZE.min || side > PAINT_SIZE.max)
      throw new RangeError(`a picture cannot be ${side} pixels wide or high`)
  }
  if (!Number.isSafeInteger(seed) || seed < 0) throw new RangeError('a seed is a whole number from 0')
}
