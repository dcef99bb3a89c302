import type { IncomingMessage } from 'node:http'
import { rawErrorAnswer } from './error-body.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import { releaseChunk, assertBytes } from './release-chunk.ts'
import { allowSlowBody } from './slow-bodies.ts'

export interface Pace {
  /** The longest pause between two chunks. */
  idleMs: number
  /** The time limit of the whole body. */
  totalMs: number
  /** The origin of the API, for the error. */
  publicUrl: string
}

/**
 * Yields the body of a large request. Each chunk is valid until the next one is requested. The body has its own time
 * limits instead of the server's: one that arrives too slowly is answered 408, and its connection is closed because
 * its rest is not read.
 */
export async function* pacedBody(req: IncomingMessage, requestId: string, pace: Pace): AsyncGenerator<Buffer> {
  const { socket } = req
  const release = allowSlowBody(socket)
  let tooSlow = false
  const giveUp = () => {
    tooSlow = true
    socket.end(rawErrorAnswer('request_timeout', requestId, pace.publicUrl))
    req.destroy()
  }
  const idle = setTimeout(giveUp, pace.idleMs)
  const total = setTimeout(giveUp, pace.totalMs)
  try {
    // The connection stays open when the reader stops, so that the error can still be sent.
    for await (const chunk of req.iterator({ destroyOnReturn: false })) {
      idle.refresh()
      assertBytes(chunk)
      yield chunk
      releaseChunk(chunk)
    }
  } catch (error) {
    if (tooSlow) throw new ApiError('request_timeout', { cause: error })
    if (req.destroyed && !req.complete) throw invalid('', 'the body ended before its length')
    throw error
  } finally {
    clearTimeout(idle)
    clearTimeout(total)
    release()
  }
}
