import type { Frame } from '../drawing/frame.ts'
import type { Rgb } from '../colour/oklch.ts'

/**
 * The pixels of a painting: three channels of 0–1, in the encoding of screens. Floats, because many thin coats of
 * bytes would show bands.
 */
export type Canvas = { width: number; height: number; data: Float32Array }

/** One channel a pixel. */
export type Plane = { width: number; height: number; data: Float32Array }

export function createCanvas(frame: Frame, colour?: Rgb): Canvas {
  const canvas = {
    width: frame.pixelWidth,
    height: frame.pixelHeight,
    data: new Float32Array(frame.pixelWidth * frame.pixelHeight * 3),
  }
  if (colour) for (let index = 0; index < canvas.data.length; index++) canvas.data[index] = colour[index % 3] ?? 0
  return canvas
}

export function createPlane(width: number, height: number): Plane {
  return { width, height, data: new Float32Array(width * height) }
}

export function copyCanvas(canvas: Canvas): Canvas {
  return { ...canvas, data: canvas.data.slice() }
}

/** Perceived brightness of one pixel, 0–1. */
export function brightness(canvas: Canvas, pixel: number): number {
  const at = pixel * 3
  return 0.299 * (canvas.data[at] ?? 0) + 0.587 * (canvas.data[at + 1] ?? 0) + 0.114 * (canvas.data[at + 2] ?? 0)
}

export function clamp01(value: number): number {
  return value < 0 ? 0 : value > 1 ? 1 : value
}

/** 0 below `from`, 1 above `to`, an S between. */
export function step(from: number, to: number, value: number): number {
  const t = clamp01((value - from) / (to - from))
  return t * t * (3 - 2 * t)
}
