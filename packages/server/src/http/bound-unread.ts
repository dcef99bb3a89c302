import { inPieces, onceOver, pieceBytes, UnreadAnswers } from '@atrium/traffic/unread-answers'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ServerResponse } from 'node:http'
import { ApiError } from '#errors/api-error.ts'
import { CollectLarge } from './collect-large.ts'
import { pathOf } from './parse.ts'

declare module 'fastify' {
  interface FastifyInstance {
    unread: UnreadAnswers
  }
}

/** Answers up to this size are not counted, because the kernel's socket buffer nearly always takes them whole. */
const smallBytes = pieceBytes
/** Above this size, an answer leaves enough garbage to need a collection. */
const largeBytes = 256 * 1024

/**
 * The size of the last large answer for each address and reader: the lists of two tenants have one address. If the
 * budget has no room for that size, the answer is not computed again: computing pages only to reject them produced
 * garbage faster than it was collected (measured: 250 MiB).
 */
class LastSizes {
  readonly #bytes = new Map<string, number>()

  of(req: FastifyRequest, reader: string): number {
    return this.#bytes.get(`${reader} ${pathOf(req.url)}`) ?? 0
  }

  note(req: FastifyRequest, reader: string, bytes: number): void {
    const key = `${reader} ${pathOf(req.url)}`
    this.#bytes.delete(key)
    const [oldest] = this.#bytes.keys()
    if (this.#bytes.size >= 1_000 && oldest !== undefined) this.#bytes.delete(oldest)
    this.#bytes.set(key, bytes)
  }
}

/**
 * How much of the budget the answers of each reader have. A reader may have as much as stays free for all others, so a
 * new answer counts twice: once as taken, once as kept free. With a fixed share, two tenants whose clients do not read
 * used the whole budget.
 */
class Shares {
  readonly #bytes = new Map<string, number>()

  hasRoom(reader: string, bytes: number, unread: UnreadAnswers): boolean {
    return unread.bytes === 0 || unread.hasRoom(2 * bytes + (this.#bytes.get(reader) ?? 0))
  }

  add(reader: string, res: ServerResponse, bytes: number): void {
    if (res.destroyed || res.req.socket.destroyed) return
    this.#change(reader, bytes)
    onceOver(res, () => this.#change(reader, -bytes))
  }

  #change(reader: string, bytes: number): void {
    const held = (this.#bytes.get(reader) ?? 0) + bytes
    if (held === 0) this.#bytes.delete(reader)
    else this.#bytes.set(reader, held)
  }
}

const shares = new Shares()
/** Callers without a key are one reader together, because a caller can have any number of addresses. */
export const keyless = ''

/** One per process, because the budget is the memory of the process. */
const sizes = new LastSizes()
const collector = new CollectLarge()

/** Closes connections whose client does not read, and counts the bytes that wait for them. */
export function boundUnread(app: FastifyInstance): void {
  const unread = new UnreadAnswers()
  app.decorate('unread', unread)
  unread.watch(app.server)
}

/**
 * Sends a body. A large one is sent in pieces and counts against a budget until it has been sent. Beyond the budget a
 * GET is answered 503. Answers to other methods are always sent, because their effect is committed. This is not a
 * hook, which would cost time for each small answer.
 */
export function sendBody(req: FastifyRequest, reply: FastifyReply, body: string | Buffer, reader = keyless): FastifyReply {
  if (body.length <= smallBytes || req.method === 'HEAD') return reply.send(body)
  const isText = typeof body === 'string'
  if (isText && body.length > largeBytes) collector.note(body.length)
  if (isText && req.method === 'GET') sizes.note(req, reader, body.length)
  const bytes = isText ? Buffer.from(body) : body
  // Text is made for this answer alone. The bytes of cached files are shared by all readers.
  const held = isText ? bytes.length : pieceBytes
  const { unread } = req.server
  if (req.method === 'GET' && !shares.hasRoom(reader, held, unread)) throw tooManyUnread(reply)
  if (unread.take(reply.raw, held)) shares.add(reader, reply.raw, held)
  return reply.header('content-length', bytes.length).send(inPieces(bytes))
}

/** Throws when the budget has no room for the size of the last answer to this address and reader. */
export function assertRoom(req: FastifyRequest, reply: FastifyReply, reader: string): void {
  const { unread } = req.server
  const bytes = sizes.of(req, reader)
  // No earlier answer shows that this one will be large.
  if (bytes === 0) return
  if (!shares.hasRoom(reader, bytes, unread)) throw tooManyUnread(reply)
}

/** The error that replaces an answer. Removes the headers that were set for that answer. */
function tooManyUnread(reply: FastifyReply): ApiError {
  for (const name of ['etag', 'cache-control', 'content-length', 'content-type', 'last-modified']) reply.removeHeader(name)
  return new ApiError('unavailable', { message: 'Too many large responses are waiting to be read.', retryAfterSeconds: 5 })
}
