import { limitAddress } from '@atrium/traffic/client-address'
import { inPieces, pieceBytes, UnreadAnswers } from '@atrium/traffic/unread-answers'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '#errors/api-error.ts'
import { CollectLarge } from './collect-large.ts'
import { pathOf } from './parse.ts'
import { UnreadShares } from './unread-shares.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The answers of rooms that are forwarded, by address. They have a budget of their own. */
    unread: UnreadShares
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
 * One of each per process, because the budget is the memory of the process. Callers without a key have a budget of
 * their own, because one of them can have many addresses.
 */
const withKey = new UnreadShares({ maxBytes: 32 * 1024 * 1024 })
const withoutKey = new UnreadShares({ maxBytes: 32 * 1024 * 1024 })
const sizes = new LastSizes()
const collector = new CollectLarge()

/** Closes connections whose client does not read. Adds `app.unread`, the budget for the answers of forwarded rooms. */
export function boundUnread(app: FastifyInstance): void {
  new UnreadAnswers().watch(app.server)
  // No share stays free for other addresses: a school has one address, and many of its callers read their rooms at
  // once.
  app.decorate('unread', new UnreadShares({ maxBytes: 32 * 1024 * 1024, keepsFree: false }))
}

/** Whose answers are limited together: those of the caller's tenant or, without one, of its address. */
function sharesOf(req: FastifyRequest): { shares: UnreadShares; reader: string } {
  const keyed = req.tenantKey?.tenantId ?? (req.operator && 'operator')
  return keyed === undefined ? { shares: withoutKey, reader: limitAddress(req.ip) } : { shares: withKey, reader: keyed }
}

/**
 * Sends a body. A large one is sent in pieces and counts against a budget until it has been sent. Beyond the budget a
 * read is answered 503. The answer to a write is always sent, because its effect is committed. This is not a hook,
 * which would cost time for each small answer.
 */
export function sendBody(
  req: FastifyRequest,
  reply: FastifyReply,
  body: string | Buffer,
  isRead = req.method === 'GET',
): FastifyReply {
  if (body.length <= smallBytes || req.method === 'HEAD') return reply.send(body)
  const isText = typeof body === 'string'
  if (isText && body.length > largeBytes) collector.note(body.length)
  const { shares, reader } = sharesOf(req)
  if (isText && isRead) sizes.note(req, reader, body.length)
  const bytes = isText ? Buffer.from(body) : body
  // Text is made for this answer alone. The bytes of cached files are shared by all readers.
  const held = isText ? bytes.length : pieceBytes
  const hasRoom = shares.makeRoom(reader, held)
  if (!hasRoom && isRead) throw tooManyUnread(reply)
  if (hasRoom) shares.add(reader, reply.raw, held, isRead)
  return reply.header('content-length', bytes.length).send(inPieces(bytes))
}

/** Throws when the budget has no room for the size of the last answer to this address and reader. */
export function assertRoom(req: FastifyRequest, reply: FastifyReply): void {
  const { shares, reader } = sharesOf(req)
  const bytes = sizes.of(req, reader)
  // No earlier answer shows that this one will be large.
  if (bytes === 0) return
  if (!shares.mayHaveRoom(reader, bytes)) throw tooManyUnread(reply)
}

/** The headers that every answer has, also an error. All others were set for the answer that is not sent. */
const ofEveryAnswer = /^(?:connection|ratelimit|ratelimit-policy|vary|x-content-type-options|x-request-id|access-control-.+)$/

/** The error that replaces an answer. Removes the headers that were set for that answer. */
function tooManyUnread(reply: FastifyReply): ApiError {
  const { vary, ...others } = reply.getHeaders()
  for (const name of Object.keys(others)) if (!ofEveryAnswer.test(name)) reply.removeHeader(name)
  if (vary !== undefined) {
    // The error depends on the caller's credentials, as the answer does, but not on the form that the caller accepts.
    const kept = String(vary)
      .split(', ')
      .filter((name) => !/^accept\b/i.test(name))
    if (kept.length === 0) reply.removeHeader('vary')
    else reply.header('vary', kept.join(', '))
  }
  return new ApiError('unavailable', { message: 'Too many large responses are waiting to be read.', retryAfterSeconds: 5 })
}
