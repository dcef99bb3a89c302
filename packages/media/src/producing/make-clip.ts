import { setImmediate } from 'node:timers/promises'
import sharp from 'sharp'
import { guarded, openPicture } from './open-picture.ts'
import { ProduceError } from './produce-error.ts'

export type ClipRequest = {
  /**
   * 1 to 50 pictures in order, encoded by a picture process and so trusted. They must have the width of
   * `clipPictureWidth`, because all are in memory at once.
   */
  pictures: readonly Uint8Array[]
  /** Aborts the work between two pictures; the promise then rejects with the signal's reason. */
  signal?: AbortSignal | undefined
}

export type Clip = { webp: Buffer; width: number; height: number }

export const MAX_CLIP_PICTURES = 50
const MAX_SIDE = 1024
/** Width divided by height. */
const WIDEST = 1.91
const TALLEST = 0.56
/** All frames are in memory at once, three bytes per pixel: 40 million pixels are 120 MB. */
const MAX_TOTAL_PIXELS = 40_000_000
/**
 * A picture is cropped to fill the clip if its shape differs by no more than this: the natural logarithm of the
 * ratio between the two aspect ratios. Otherwise it is shown whole.
 */
const MAX_SHAPE_DIFFERENCE = 0.25
/** How long each picture is shown. */
const PICTURE_MS = 2_200
const FADE_FRAMES = 4
const FADE_MS = 60

/** Makes an animated WebP of the pictures. Each fades into the next and the last into the first, in a loop. */
export async function makeClip({ pictures, signal }: ClipRequest): Promise<Clip> {
  if (pictures.length < 1 || pictures.length > MAX_CLIP_PICTURES)
    throw new ProduceError(`A clip is made of 1 to ${MAX_CLIP_PICTURES} pictures.`)
  const shape = await chooseShape(pictures)
  const fades =
    pictures.length > 1
      ? Math.min(FADE_FRAMES, Math.floor(MAX_TOTAL_PIXELS / (shape.width * shape.height) / pictures.length) - 1)
      : 0
  const framesPerPicture = 1 + Math.max(0, fades)
  const film = createFilm(shape, pictures.length * framesPerPicture)
  // One after the other, because fifty decoders at once would need fifty times the memory.
  for (const [index, bytes] of pictures.entries()) {
    signal?.throwIfAborted()
    ;(await renderFrame(bytes, shape)).copy(film.frame(index * framesPerPicture))
  }
  for (const index of pictures.keys()) {
    // Yields to other work in this process between computations over millions of pixels.
    await setImmediate()
    signal?.throwIfAborted()
    addFade(film, index, pictures.length, framesPerPicture)
  }
  const delays = Array.from({ length: film.count }, (_, index) => (index % framesPerPicture === 0 ? PICTURE_MS : FADE_MS))
  const { width, height } = shape
  const webp = await sharp(film.pixels, { raw: { width, height: height * film.count, channels: 3, pageHeight: height } })
    .webp({ quality: 82, effort: 2, loop: 0, delay: delays })
    .toBuffer()
  return { webp, width, height }
}

type Shape = { width: number; height: number }

/**
 * The width at which to decode a picture of this shape, so that it fills a clip of so many pictures without being
 * enlarged.
 */
export function clipPictureWidth(pictures: number, { width, height }: Shape): number {
  const side = longestSide(pictures, WIDEST) * Math.exp(MAX_SHAPE_DIFFERENCE)
  return Math.ceil(width >= height ? side : (side * width) / height)
}

/**
 * The longest side at which three frames per picture fit into the memory: the picture and at least two frames of its
 * fade.
 */
function longestSide(pictures: number, ratio: number): number {
  return Math.min(MAX_SIDE, Math.sqrt((MAX_TOTAL_PIXELS / (pictures * 3)) * Math.max(ratio, 1 / ratio)))
}

/** The median shape of the pictures, within limits; smaller the more pictures there are. */
async function chooseShape(pictures: readonly Uint8Array[]): Promise<Shape> {
  const ratios: number[] = []
  let largest = 0
  for (const bytes of pictures) {
    const { width, height } = await openPicture(bytes)
    ratios.push(width / height)
    largest = Math.max(largest, width, height)
  }
  const sorted = ratios.sort((a, b) => a - b)
  const ratio = Math.min(WIDEST, Math.max(TALLEST, sorted[Math.floor(sorted.length / 2)] ?? 1))
  const side = Math.min(Math.max(64, largest), longestSide(pictures.length, ratio))
  const even = (length: number): number => Math.max(16, Math.round(length / 2) * 2)
  return ratio >= 1 ? { width: even(side), height: even(side / ratio) } : { width: even(side * ratio), height: even(side) }
}

/**
 * Crops the picture to fill the frame if little is lost; otherwise shows all of it on a dark, blurred enlargement of
 * itself.
 */
async function renderFrame(bytes: Uint8Array, { width, height }: Shape): Promise<Buffer> {
  const { image, width: own, height: tall } = await openPicture(bytes)
  const shapeDifference = Math.abs(Math.log((own / tall) * (height / width)))
  const flat = { background: '#101014' }
  if (shapeDifference < MAX_SHAPE_DIFFERENCE)
    return guarded(image.resize(width, height, { fit: 'cover' }).flatten(flat).removeAlpha().raw().toBuffer())
  const whole = await guarded(
    image.clone().resize(width, height, { fit: 'inside' }).flatten(flat).removeAlpha().png({ compressionLevel: 1 }).toBuffer(),
  )
  const behind = await guarded(
    image.resize(width, height, { fit: 'cover' }).flatten(flat).removeAlpha().png({ compressionLevel: 1 }).toBuffer(),
  )
  const dimmed = await sharp(behind)
    .blur(Math.max(4, width / 40))
    .modulate({ brightness: 0.5 })
    .png({ compressionLevel: 1 })
    .toBuffer()
  return sharp(dimmed)
    .composite([{ input: whole, gravity: 'centre' }])
    .removeAlpha()
    .raw()
    .toBuffer()
}

/** All frames in one buffer, one below the other, as the encoder requires. */
type Film = { pixels: Buffer; count: number; frame: (index: number) => Buffer }

function createFilm({ width, height }: Shape, count: number): Film {
  const size = width * height * 3
  const pixels = Buffer.alloc(size * count)
  return { pixels, count, frame: (index) => pixels.subarray(index * size, (index + 1) * size) }
}

/** The frames between a picture and the next. */
function addFade(film: Film, index: number, pictures: number, framesPerPicture: number): void {
  const from = film.frame(index * framesPerPicture)
  const to = film.frame(((index + 1) % pictures) * framesPerPicture)
  for (let fade = 1; fade < framesPerPicture; fade++)
    blend(from, to, fade / framesPerPicture, film.frame(index * framesPerPicture + fade))
}

function blend(from: Buffer, to: Buffer, share: number, into: Buffer): void {
  const part = Math.round(share * 256)
  for (let at = 0; at < from.length; at++) into[at] = ((from[at] ?? 0) * (256 - part) + (to[at] ?? 0) * part) >> 8
}
