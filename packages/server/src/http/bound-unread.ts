import { inPieces, pieceBytes, UnreadAnswers } from '@atrium/traffic/unread-answers'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from './api-error.ts'
import { CollectLarge } from './collect-large.ts'

declare module 'fastify' {
  interface FastifyInstance {
    unread: UnreadAnswers
  }
}

/** Up to this size an answer is not counted. */
const smallBytes = 16 * 1024

/**
 * Bounds what is in memory for those who do not read: large answers go out in pieces and count against a budget until they have, and who takes
 * nothing is cut off. Beyond the budget a GET is answered 503. An answer to anything else is sent in any case: what it tells of has happened.
 */
export function boundUnread(app: FastifyInstance): void {
  const unread = new UnreadAnswers()
  app.decorate('unread', unread)
  unread.watch(app.server)
  const sizes = new LastSizes()
  const collector = new CollectLarge()
  app.addHook('preHandler', (req, reply, done) => {
    if (unread.bytes === 0 || req.method !== 'GET' || unread.hasRoom(sizes.of(req))) return done()
    done(tooManyUnread(reply))
  })
  app.addHook('onSend', (req, reply, payload: unknown, done) => {
    const isText = typeof payload === 'string'
    if (!(isText || Buffer.isBuffer(payload)) || payload.length <= smallBytes || req.method === 'HEAD') return done(null, payload)
    if (isText) collector.note(payload.length)
    if (isText && req.method === 'GET') sizes.note(req, payload.length)
    const bytes = isText ? Buffer.from(payload) : payload
    // A text was made for this answer; the bytes of files that are kept are shared by all who read them.
    const held = isText ? bytes.length : Math.min(bytes.length, pieceBytes)
    if (!unread.take(reply.raw, held) && req.method === 'GET') return done(tooManyUnread(reply))
    if (bytes.length <= pieceBytes) return done(null, bytes)
    reply.header('content-length', bytes.length)
    done(null, inPieces(bytes))
  })
}

/**
 * What was answered under an address last, where that was large. Where there is no room for as much, it is not made again: making pages only to refuse
 * them leaves more behind than the collector keeps up with (measured: 250 MiB).
 */
class LastSizes {
  readonly #bytes = new Map<string, number>()

  of(req: FastifyRequest): number {
    return this.#bytes.get(pathOf(req)) ?? 0
  }

  note(req: FastifyRequest, bytes: number): void {
    const path = pathOf(req)
    this.#bytes.delete(path)
    if (this.#bytes.size >= 1_000) this.#bytes.delete(this.#bytes.keys().next().value!)
    this.#bytes.set(path, bytes)
  }
}

function pathOf(req: FastifyRequest): string {
  return req.url.split('?', 1)[0]!
}

/** In place of an answer that was about to be sent: nothing of its head may stay. */
function tooManyUnread(reply: FastifyReply): ApiError {
  for (const name of ['etag', 'cache-control', 'content-length', 'content-type', 'last-modified']) reply.removeHeader(name)
  return new ApiError('unavailable', { message: 'Too many large answers wait to be read.', retryAfterSeconds: 5 })
}
