import type { IncomingMessage } from 'node:http'
import { rawErrorAnswer } from './error-body.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import { releaseChunk } from './release-chunk.ts'
import { allowSlowBody } from './slow-bodies.ts'

export interface Pace {
  /** How long nothing may come. */
  idleMs: number
  /** How long it may take in all. */
  totalMs: number
}

/**
 * The body of a large request, chunk by chunk, each good until the next is asked for. It has its own clock in place of the server's: one that
 * comes too slowly is answered 408 and its connection ended, for nobody would read on.
 */
export async function* pacedBody(req: IncomingMessage, requestId: string, pace: Pace): AsyncGenerator<Buffer> {
  const { socket } = req
  const release = allowSlowBody(socket)
  let tooSlow = false
  const giveUp = () => {
    tooSlow = true
    socket.end(rawErrorAnswer('request_timeout', requestId))
    req.destroy()
  }
  const idle = setTimeout(giveUp, pace.idleMs)
  const total = setTimeout(giveUp, pace.totalMs)
  try {
    // The connection stays when the reader stops, so that it can still be told why.
    for await (const chunk of req.iterator({ destroyOnReturn: false })) {
      idle.refresh()
      yield chunk as Buffer
      releaseChunk(chunk as Buffer)
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
