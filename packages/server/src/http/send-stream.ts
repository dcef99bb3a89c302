import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { allowPause, onceOver, pieceBytes } from '@atrium/traffic/unread-answers'
import type { ReaderPace } from './reader-pace.ts'
import { releaseChunk, assertBytes } from './release-chunk.ts'

/** A paused media player stops reading. After a longer pause it sends a new request. */
const idleMs = 120_000

export interface SendTerms {
  /** A reader that takes no piece in this time is disconnected. */
  pauseMs: number
  /** Measures how fast the reader takes the pieces. */
  pace: ReaderPace
}

/** Writes the head of an answer that no longer belongs to Fastify (`reply.hijack()`), with the headers set on it. */
export function writeHead(reply: FastifyReply, status = reply.statusCode): void {
  // Fastify's type also allows an undefined value, which Node refuses and nobody sets.
  reply.raw.writeHead(status, reply.getHeaders() as OutgoingHttpHeaders)
}

/**
 * Sends the body of an answer whose head is written. Each chunk is sent after the previous one, in pieces, and its memory
 * is freed at once, so the stream must not be shared. Rejects if the stream fails, not if the client disconnects.
 * Resolves to the number of bytes sent.
 */
export async function sendStream(res: ServerResponse, stream: Readable, terms?: SendTerms): Promise<number> {
  res.setTimeout(idleMs, () => res.destroy())
  allowPause(res, idleMs)
  let sent = 0
  try {
    for await (const chunk of stream) {
      assertBytes(chunk)
      const { length } = chunk
      for (let at = 0; at < length; at += pieceBytes) {
        const piece = chunk.subarray(at, at + pieceBytes)
        if (!(await written(res, piece, terms))) return sent
        sent += piece.length
      }
      releaseChunk(chunk)
    }
    res.end()
    return sent
  } catch (error) {
    // In the middle of a body an error can only be signalled by closing the connection.
    res.destroy()
    throw error
  }
}

/** Whether the piece was sent; false if the client has disconnected. */
function written(res: ServerResponse, piece: Buffer, terms: SendTerms | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const { socket } = res.req
    if (res.destroyed || socket.destroyed) return resolve(false)
    const timer = terms && setTimeout(() => socket.resetAndDestroy(), terms.pauseMs)
    terms?.pace.begin()
    const end = (isSent: boolean) => {
      clearTimeout(timer)
      resolve(isSent)
    }
    // The write callback of an answer that is queued behind another on its connection would never run.
    const off = onceOver(res, () => end(false))
    res.write(piece, (error) => {
      off()
      if (!error) terms?.pace.took(piece.length)
      end(!error)
    })
  })
}
