import { maxHeightRatio, type ShrunkFormat } from '@atrium/media/pictures/picture-job'
import { shrinkWorkBytes } from '@atrium/media/pictures/work-bytes'
import type { StoredArtifact } from './stored-artifact.ts'

export const variantWidths = [320, 640, 1_280, 1_920] as const

export interface Variant {
  width: number
  format: ShrunkFormat
}

/** Nothing is enlarged: all widths from the picture's own on give the same one, which is made and kept once. */
export function variantOf({ width }: Pick<StoredArtifact, 'width'>, asked: Variant): Variant {
  const smallest = variantWidths.find((one) => width !== null && one >= width) ?? asked.width
  return { ...asked, width: Math.min(asked.width, smallest) }
}

/** How many pixels are decoded for one; of what is not known, more than is quick. */
export function sourcePixels({ width, height }: StoredArtifact): number {
  return width === null || height === null ? Infinity : width * height
}

/** How much memory it takes to make one. */
export function variantWorkBytes(artifact: StoredArtifact, variant: Variant): number {
  // Of what is not known, the most that could be.
  const source = { mime: artifact.mime, width: artifact.width ?? variant.width, height: artifact.height ?? variant.width }
  const height = Math.min(maxHeightRatio * variant.width, Math.ceil((variant.width * source.height) / source.width))
  return shrinkWorkBytes(source, variant.width * height, variant.format)
}
