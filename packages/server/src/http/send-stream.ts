import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { releaseChunk } from './release-chunk.ts'

/** A player that is paused stops reading; one that does so for longer asks again when it goes on. */
const idleMs = 120_000

/**
 * Sends the rest of an answer whose head is written: the next chunk once the last has gone out, and its memory given back at once. The stream must
 * be ours alone. Fails when the stream does, never because the client left. Says how many bytes went out.
 */
export async function sendStream(res: ServerResponse, stream: Readable): Promise<number> {
  res.setTimeout(idleMs, () => res.destroy())
  let sent = 0
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      const { length } = chunk
      if (!(await written(res, chunk))) return sent
      sent += length
      releaseChunk(chunk)
    }
    res.end()
    return sent
  } catch (error) {
    // In the middle of a body, only its missing rest can say that something broke.
    res.destroy()
    throw error
  }
}

/** Whether it went out; false: the client is gone. */
function written(res: ServerResponse, chunk: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    const gone = () => resolve(false)
    if (res.destroyed) return gone()
    // What waits behind another answer on its connection would never be called back.
    res.once('close', gone)
    res.write(chunk, (error) => {
      res.off('close', gone)
      resolve(!error)
    })
  })
}
