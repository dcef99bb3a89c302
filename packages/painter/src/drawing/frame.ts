/**
 * The picture's size in pixels, and the units of its composition. Whatever its shape, its area is a million square
 * units.
 */
export type Frame = { pixelWidth: number; pixelHeight: number; width: number; height: number; scale: number }

export function createFrame(pixelWidth: number, pixelHeight: number): Frame {
  const scale = Math.sqrt(pixelWidth * pixelHeight) / 1000
  return { pixelWidth, pixelHeight, width: pixelWidth / scale, height: pixelHeight / scale, scale }
}
