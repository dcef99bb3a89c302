import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { BlobContent, SizedStream } from '#ports/blobs/blobs.ts'

export const mebibyte = 1024 * 1024

/** No two parts are equal, so a part that is moved or repeated is detected. */
export function bytesOf(length: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(length)
  let state = seed
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    bytes[i] = state >>> 24
  }
  return bytes
}

/** A stream that repeats the chunk `count` times and never holds more than one of them. */
export function repeated(chunk: Buffer, count: number): SizedStream {
  const chunks = (function* () {
    for (let i = 0; i < count; i++) yield chunk
  })()
  return { stream: Readable.from(chunks, { objectMode: false }), bytes: chunk.length * count }
}

export function contentOf(content: BlobContent): Promise<Buffer> {
  return buffer(content.stream)
}

export function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Runs a function and returns the most by which the process grew meanwhile. */
export async function peakGrowth(work: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage.rss()
  let peak = before
  const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 5)
  await work().finally(() => clearInterval(timer))
  return Math.max(peak, process.memoryUsage.rss()) - before
}
