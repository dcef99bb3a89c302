import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { allowPause, onceOver } from '@atrium/traffic/unread-answers'
import { releaseChunk, assertBytes } from './release-chunk.ts'

/** A paused media player stops reading. After a longer pause it sends a new request. */
const idleMs = 120_000

/** Writes the head of an answer that no longer belongs to Fastify (`reply.hijack()`), with the headers set on it. */
export function writeHead(reply: FastifyReply, status = reply.statusCode): void {
  // Fastify's type also allows an undefined value, which Node refuses and nobody sets.
  reply.raw.writeHead(status, reply.getHeaders() as OutgoingHttpHeaders)
}

/**
 * Sends the body of an answer whose head is written. Each chunk is sent after the previous one, and its memory is
 * freed at once, so the stream must not be shared. Rejects if the stream fails, not if the client disconnects.
 * Resolves to the number of bytes sent.
 */
export async function sendStream(res: ServerResponse, stream: Readable): Promise<number> {
  res.setTimeout(idleMs, () => res.destroy())
  allowPause(res, idleMs)
  let sent = 0
  try {
    for await (const chunk of stream) {
      assertBytes(chunk)
      const { length } = chunk
      if (!(await written(res, chunk))) return sent
      sent += length
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

/** Whether the chunk was sent; false if the client has disconnected. */
function written(res: ServerResponse, chunk: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    if (res.destroyed || res.req.socket.destroyed) return resolve(false)
    // The write callback of an answer that is queued behind another on its connection would never run.
    const off = onceOver(res, () => resolve(false))
    res.write(chunk, (error) => {
      off()
      resolve(!error)
    })
  })
}
