import { uncachedSharp } from './uncached-sharp.ts'
import type { Frame } from '../drawing/frame.ts'
import { el, short } from '../drawing/svg.ts'
import type { Canvas } from './canvas.ts'

/**
 * Drawn shapes as pixels of red, green, blue and alpha, a byte each. `top` to `bottom` are the rows that are not
 * empty.
 */
export type Layer = { width: number; height: number; data: Uint8Array; top: number; bottom: number }

export async function rasterise(body: string, frame: Frame): Promise<Layer> {
  const { pixelWidth: width, pixelHeight: height } = frame
  const viewBox = `0 0 ${short(frame.width)} ${short(frame.height)}`
  const svg = el('svg', { xmlns: 'http://www.w3.org/2000/svg', width, height, viewBox, preserveAspectRatio: 'none' }, body)
  const { data } = await uncachedSharp(Buffer.from(svg), { unlimited: true })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  return { width, height, data, ...usedRows(data, width, height) }
}

/**
 * Frees a layer's memory at once. A picture has two dozen layers of six megabytes. The garbage collector sees only
 * their small handles and would let all of them accumulate. The layer cannot be read afterwards.
 */
export function release({ data }: Layer): void {
  if (data.buffer instanceof ArrayBuffer) data.buffer.transfer(0)
}

export async function layAndRelease(canvas: Canvas, body: string, frame: Frame): Promise<void> {
  const layer = await rasterise(body, frame)
  lay(canvas, layer)
  release(layer)
}

function usedRows(data: Uint8Array, width: number, height: number): { top: number; bottom: number } {
  const words = new Uint32Array(data.buffer, data.byteOffset, width * height)
  const isUsed = (row: number): boolean => {
    for (let at = row * width; at < (row + 1) * width; at++) if (words[at] !== 0) return true
    return false
  }
  let top = 0
  while (top < height && !isUsed(top)) top++
  let bottom = height
  while (bottom > top && !isUsed(bottom - 1)) bottom--
  return { top, bottom }
}

/** Lays the layer over the canvas. */
export function lay(canvas: Canvas, layer: Layer, opacity = 1): void {
  const { data } = canvas
  for (let pixel = layer.top * layer.width; pixel < layer.bottom * layer.width; pixel++) {
    const from = pixel * 4
    const alpha = ((layer.data[from + 3] ?? 0) / 255) * opacity
    if (alpha === 0) continue
    const to = pixel * 3
    for (let part = 0; part < 3; part++) {
      const under = data[to + part] ?? 0
      data[to + part] = under + ((layer.data[from + part] ?? 0) / 255 - under) * alpha
    }
  }
}
