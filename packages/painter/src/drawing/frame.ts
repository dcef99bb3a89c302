/** The picture's pixels, and the units it is composed in: whatever its shape, it is a million of them in area. */
export type Frame = { pixelWidth: number; pixelHeight: number; width: number; height: number; scale: number }

export function createFrame(pixelWidth: number, pixelHeight: number): Frame {
  const scale = Math.sqrt(pixelWidth * pixelHeight) / 1000
  return { pixelWidth, pixelHeight, width: pixelWidth / scale, height: pixelHeight / scale, scale }
}
