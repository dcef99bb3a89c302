import { recycleChunk } from '#ports/blobs/disk/read-file.ts'

/** Node types the chunks of a stream as any. */
export function assertBytes(chunk: unknown): asserts chunk is Buffer {
  if (!Buffer.isBuffer(chunk)) throw new TypeError('a stream of bytes contains another value')
}

/**
 * Frees the memory of a chunk that is no longer used. The garbage collector accounts for memory outside its heap late:
 * 50 uploads left 90 to 130 MiB, and 20 MiB with this function (measured). Chunks of files are read into again. A chunk
 * that shares its memory with others is not freed.
 */
export function releaseChunk(chunk: Buffer): void {
  if (recycleChunk(chunk)) return
  if (chunk.byteLength === chunk.buffer.byteLength && chunk.buffer instanceof ArrayBuffer) chunk.buffer.transfer(0)
}
