import { setImmediate } from 'node:timers/promises'
import sharp from 'sharp'
import { guarded, openPicture } from './open-picture.ts'
import { ProduceError } from './produce-error.ts'

export type ClipRequest = {
  /**
   * 1 to 50, in order, encoded by a picture process: nothing that a stranger sent. As wide as `clipPictureWidth` says,
   * for all are held at once.
   */
  pictures: readonly Uint8Array[]
  /** How long each stays, in milliseconds. */
  delayMs?: number | undefined
  /** Stops the work between two pictures; the promise then rejects with the signal's reason. */
  signal?: AbortSignal | undefined
}

export type Clip = { webp: Buffer; width: number; height: number; frames: number; durationMs: number }

export const MAX_CLIP_PICTURES = 50
const MAX_SIDE = 1024
/** Width to height. */
const WIDEST = 1.91
const TALLEST = 0.56
/** All frames are held at once, three bytes a pixel: 40 million are 120 MB. */
const MAX_TOTAL_PIXELS = 40_000_000
/**
 * A picture fills the film where no more than this is cut off; its other side is then so much shorter than the film's.
 */
const FILLING = 0.25
const FADE_FRAMES = 4
const FADE_MS = 60

/** An animated WebP of the pictures, one fading into the next and the last into the first, for ever. */
export async function makeClip({ pictures, delayMs = 2200, signal }: ClipRequest): Promise<Clip> {
  if (pictures.length < 1 || pictures.length > MAX_CLIP_PICTURES)
    throw new ProduceError(`A clip is made of 1 to ${MAX_CLIP_PICTURES} pictures.`)
  if (!Number.isInteger(delayMs) || delayMs < 100 || delayMs > 10_000)
    throw new ProduceError('A picture stays between 0.1 and 10 seconds.')
  const shape = await chooseShape(pictures)
  const fades =
    pictures.length > 1
      ? Math.min(FADE_FRAMES, Math.floor(MAX_TOTAL_PIXELS / (shape.width * shape.height) / pictures.length) - 1)
      : 0
  const each = 1 + Math.max(0, fades)
  const film = createFilm(shape, pictures.length * each)
  // One after another: fifty decoders at once would need fifty times the memory.
  for (const [index, bytes] of pictures.entries()) {
    signal?.throwIfAborted()
    ;(await still(bytes, shape)).copy(film.frame(index * each))
  }
  for (const index of pictures.keys()) {
    // Arithmetic over millions of pixels: others in this process have their turn in between.
    await setImmediate()
    signal?.throwIfAborted()
    addFade(film, index, pictures.length, each)
  }
  const delays = Array.from({ length: film.count }, (_, index) => (index % each === 0 ? delayMs : FADE_MS))
  const { width, height } = shape
  const webp = await sharp(film.pixels, { raw: { width, height: height * film.count, channels: 3, pageHeight: height } })
    .webp({ quality: 82, effort: 2, loop: 0, delay: delays })
    .toBuffer()
  // Frames that are alike become one that stays longer.
  const { pages } = await sharp(webp, { animated: true }).metadata()
  return { webp, width, height, frames: pages ?? 1, durationMs: delays.reduce((sum, delay) => sum + delay, 0) }
}

type Shape = { width: number; height: number }

/** How wide a picture of this shape is to be read, so that it fills a film of so many without being enlarged. */
export function clipPictureWidth(pictures: number, { width, height }: Shape): number {
  const side = longestSide(pictures, WIDEST) * Math.exp(FILLING)
  return Math.ceil(width >= height ? side : (side * width) / height)
}

/** Room for each picture and at least two frames of its fade. */
function longestSide(pictures: number, ratio: number): number {
  return Math.min(MAX_SIDE, Math.sqrt((MAX_TOTAL_PIXELS / (pictures * 3)) * Math.max(ratio, 1 / ratio)))
}

/** The middle one of the pictures' shapes, neither a strip nor a tower, and smaller the more pictures there are. */
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

/** Filled where little is lost by it; otherwise whole, on a dim and blurred enlargement of itself. */
async function still(bytes: Uint8Array, { width, height }: Shape): Promise<Buffer> {
  const { image, width: own, height: tall } = await openPicture(bytes)
  const lost = Math.abs(Math.log((own / tall) * (height / width)))
  const flat = { background: '#101014' }
  if (lost < FILLING) return guarded(image.resize(width, height, { fit: 'cover' }).flatten(flat).removeAlpha().raw().toBuffer())
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

/** Every frame in one piece of memory, one below another, as the encoder wants them. */
type Film = { pixels: Buffer; count: number; frame: (index: number) => Buffer }

function createFilm({ width, height }: Shape, count: number): Film {
  const size = width * height * 3
  const pixels = Buffer.alloc(size * count)
  return { pixels, count, frame: (index) => pixels.subarray(index * size, (index + 1) * size) }
}

/** The frames between a picture and the next. */
function addFade(film: Film, index: number, pictures: number, each: number): void {
  const from = film.frame(index * each)
  const to = film.frame(((index + 1) % pictures) * each)
  for (let fade = 1; fade < each; fade++) blend(from, to, fade / each, film.frame(index * each + fade))
}

function blend(from: Buffer, to: Buffer, share: number, into: Buffer): void {
  const part = Math.round(share * 256)
  for (let at = 0; at < from.length; at++) into[at] = ((from[at] ?? 0) * (256 - part) + (to[at] ?? 0) * part) >> 8
}
