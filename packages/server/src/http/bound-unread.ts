import { inPieces, pieceBytes, UnreadAnswers } from '@atrium/traffic/unread-answers'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '#errors/api-error.ts'
import { CollectLarge } from './collect-large.ts'

declare module 'fastify' {
  interface FastifyInstance {
    unread: UnreadAnswers
  }
}

/** Up to this size an answer is not counted: nearly always the kernel takes it whole. */
const smallBytes = pieceBytes
/** What leaves more than that behind is the collector's business. */
const largeBytes = 256 * 1024

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

/** What a process has of them is bounded for the process, whatever serves in it. */
const sizes = new LastSizes()
const collector = new CollectLarge()

/** Cuts off who takes nothing of what is being sent, and counts what waits for them. */
export function boundUnread(app: FastifyInstance): void {
  const unread = new UnreadAnswers()
  app.decorate('unread', unread)
  unread.watch(app.server)
}

/**
 * Sends a body. A large one goes out in pieces and counts against a budget until it has; beyond that a GET is answered 503. An answer to anything else
 * is sent in any case: what it tells of has happened. Not a hook: each small answer would pay for it.
 */
export function sendBody(req: FastifyRequest, reply: FastifyReply, body: string | Buffer): FastifyReply {
  if (body.length <= smallBytes || req.method === 'HEAD') return reply.send(body)
  const isText = typeof body === 'string'
  if (isText && body.length > largeBytes) collector.note(body.length)
  if (isText && req.method === 'GET') sizes.note(req, body.length)
  const bytes = isText ? Buffer.from(body) : body
  // A text was made for this answer; the bytes of files that are kept are shared by all who read them.
  const held = isText ? bytes.length : pieceBytes
  if (!req.server.unread.take(reply.raw, held) && req.method === 'GET') throw tooManyUnread(reply)
  return reply.header('content-length', bytes.length).send(inPieces(bytes))
}

/** Throws when there is no room for as much as was answered here last. */
export function assertRoom(req: FastifyRequest, reply: FastifyReply): void {
  const { unread } = req.server
  if (unread.bytes > 0 && !unread.hasRoom(sizes.of(req))) throw tooManyUnread(reply)
}

/** In place of an answer that was about to be sent: nothing of its head may stay. */
function tooManyUnread(reply: FastifyReply): ApiError {
  for (const name of ['etag', 'cache-control', 'content-length', 'content-type', 'last-modified']) reply.removeHeader(name)
  return new ApiError('unavailable', { message: 'Too many large answers wait to be read.', retryAfterSeconds: 5 })
}
