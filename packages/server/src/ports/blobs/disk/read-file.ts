import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { ByteRange } from '../blobs.ts'

/**
 * The size of a read, four times Node's default: a read in another thread costs some 20 µs, whatever its size. Memory
 * that each read allocates anew would raise the peak with reads of this size; chunks that are read into again do not.
 */
const chunkBytes = 256 * 1024
/** 8 MiB, for as many downloads as send at the same moment. */
const maxFree = 32

const freeChunks: ArrayBuffer[] = []
/** Whether a chunk is in use. One that was given back twice would be read into by two downloads at once. */
const isInUse = new WeakMap<ArrayBufferLike, boolean>()

function takeChunk(): ArrayBuffer {
  const chunk = freeChunks.pop() ?? new ArrayBuffer(chunkBytes)
  isInUse.set(chunk, true)
  return chunk
}

/** Takes back the memory of a chunk of `readFile` that nobody uses any more. Returns false for any other chunk. */
export function recycleChunk({ buffer }: Buffer): boolean {
  if (!(buffer instanceof ArrayBuffer) || !isInUse.has(buffer)) return false
  if (!isInUse.get(buffer)) return true
  isInUse.set(buffer, false)
  if (freeChunks.length < maxFree) freeChunks.push(buffer)
  else buffer.transfer(0)
  return true
}

/**
 * Streams a range of an open file, and closes the file at the end. It reads one chunk at a time, when the reader asks for
 * it, so a slow reader holds the memory of one chunk. A chunk stays valid until it is recycled, if it ever is.
 */
export function readFile(file: FileHandle, { start, end }: ByteRange): Readable {
  let position = start
  let reading: Promise<void> | undefined

  async function readChunk(stream: Readable): Promise<void> {
    const length = Math.min(chunkBytes, end - position + 1)
    const chunk = length > 0 ? takeChunk() : undefined
    try {
      const { bytesRead } = chunk ? await file.read(new Uint8Array(chunk), 0, length, position) : { bytesRead: 0 }
      position += bytesRead
      stream.push(chunk && bytesRead > 0 ? Buffer.from(chunk, 0, bytesRead) : null)
    } catch (error) {
      stream.destroy(error as Error)
    }
  }

  return new Readable({
    // Nothing is read ahead.
    highWaterMark: 0,
    read() {
      reading = readChunk(this)
    },
    destroy(error, done) {
      // A descriptor that is closed during a read may already name another file when the read begins.
      void Promise.resolve(reading)
        .then(() => file.close())
        .then(
          () => done(error),
          (failure: Error) => done(error ?? failure),
        )
    },
  })
}
