import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { allowPause, onceOver } from '@atrium/traffic/unread-answers'
import { releaseChunk } from './release-chunk.ts'

/** A player that is paused stops reading; one that does so for longer asks again when it goes on. */
const idleMs = 120_000

/**
 * Sends the rest of an answer whose head is written: the next chunk once the last has gone out, and its memory given back at once. The stream must
 * be ours alone. Fails when the stream does, never because the client left. Says how many bytes went out.
 */
export async function sendStream(res: ServerResponse, stream: Readable): Promise<number> {
  res.setTimeout(idleMs, () => res.destroy())
  allowPause(res, idleMs)
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
    if (res.destroyed || res.req.socket.destroyed) return resolve(false)
    // What waits behind another answer on its connection would never be called back.
    const off = onceOver(res, () => resolve(false))
    res.write(chunk, (error) => {
      off()
      resolve(!error)
    })
  })
}
