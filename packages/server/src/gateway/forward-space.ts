import { http } from '#ports/node-http.ts'
import { bodyOf } from '#http/parse.ts'
import { request as requestTls } from 'node:https'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { limitAddress } from '@atrium/traffic/client-address'
import { pieceBytes } from '@atrium/traffic/unread-answers'
import type { Context } from '#features/context.ts'
import { recordAnswer } from '#features/record-answer.ts'
import type { HandlerOf } from '#features/handler.ts'
import { fieldOf } from '#errors/caught.ts'
import { ApiError } from '#errors/api-error.ts'

/** Longer than the longest held poll. */
const timeoutMs = 35_000
const agent = new http.Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets: 64 })

/**
 * Forwards a call to the Space service and its answer back, both unchanged. The service limits the caller by the
 * address in X-Forwarded-For. The body is not parsed, so this process never reads the room key.
 */
export const forwardSpace: HandlerOf<'callSpace'> = (call) => {
  const { ctx, req, reply } = call
  const { spaceOrigin } = ctx.config
  const { unread } = req.server
  const body = bodyOf(req) ?? Buffer.alloc(0)
  const isTls = spaceOrigin.startsWith('https:')
  const send = isTls ? requestTls : http.request
  return new Promise((resolve) => {
    const onError = (error: Error) => {
      // A caller who has left has ended the request: that is no fault of the service.
      if (reply.sent || reply.raw.destroyed) return
      ctx.log.error({ request_id: req.id, err: error }, 'the Space service cannot be reached')
      reply.header('retry-after', '1')
      resolve(flatError(call, 503, 'unavailable', 'the Space service cannot be reached'))
    }
    const upstream = send(
      `${spaceOrigin}/space`,
      {
        method: 'POST',
        ...(isTls ? {} : { agent }),
        timeout: timeoutMs,
        headers: {
          'content-type': 'application/json',
          'content-length': body.length,
          'x-forwarded-for': req.ip,
          ...ctx.tracing?.headers(),
        },
      },
      (answer) => {
        const { statusCode = 502 } = answer
        // Space never redirects: a proxy in front of it does, and the caller would get an address that is not for it.
        if (statusCode >= 300 && statusCode < 400) {
          answer.resume()
          const to = String(answer.headers.location)
          return onError(new Error(`${spaceOrigin} redirects to ${to}: set ATRIUM_SPACES_URL to the address that answers`))
        }
        // An answer longer than one piece, or of unknown length, is streamed and takes two buffers.
        const isLarge = !(Number(answer.headers['content-length']) <= pieceBytes)
        const reader = limitAddress(req.ip)
        if (isLarge && !unread.makeRoom(reader, 2 * pieceBytes)) {
          upstream.destroy()
          reply.header('retry-after', '5')
          resolve(flatError(call, 503, 'unavailable', 'too many large responses are waiting to be read'))
          return
        }
        // Only answers to reads are longer than one piece, and a caller can repeat a read. Answers to create, make and
        // remove are shorter. They are counted only if a proxy in front of Space omits the length; their repeat would be
        // refused.
        if (isLarge) unread.add(reader, reply.raw, 2 * pieceBytes, true)
        reply.code(statusCode)
        for (const name of ['content-type', 'content-length', 'cache-control', 'retry-after']) {
          const value = answer.headers[name]
          if (value !== undefined) reply.header(name, value)
        }
        recordAnswer(ctx, req, reply, 'callSpace', statusCode)
        resolve(reply.send(answer))
      },
    )
    upstream.on('timeout', () => upstream.destroy(new Error('no answer in time')))
    upstream.on('error', onError)
    // The caller has left: the service need not hold the poll any longer.
    reply.raw.once('close', () => upstream.destroy())
    upstream.end(body)
  })
}

/** Refuses a request that was not forwarded, in the Space endpoint's form of an error. */
export function answerFlatError(call: ForwardedCall, error: unknown): FastifyReply {
  const { ctx, req, reply } = call
  const status = error instanceof ApiError ? error.status : fieldOf(error, 'statusCode')
  if (status === 413) return flatError(call, 413, 'payload_too_large', 'a body goes up to 256 KiB')
  if (typeof status === 'number' && status < 500)
    return flatError(call, 400, 'invalid_request', 'the body must be application/json, not compressed')
  if (error instanceof ApiError && error.code === 'unavailable') {
    ctx.log.warn({ request_id: req.id }, `refused: ${error.message}`)
    reply.header('retry-after', '5')
    return flatError(call, 503, 'unavailable', 'too many bodies arrive at once')
  }
  ctx.log.error({ request_id: req.id, err: error }, 'request not forwarded')
  return flatError(call, 500, 'internal_error', 'fault')
}

interface ForwardedCall {
  ctx: Context
  req: FastifyRequest
  reply: FastifyReply
}

function flatError({ ctx, req, reply }: ForwardedCall, status: number, error: string, reason: string): FastifyReply {
  recordAnswer(ctx, req, reply, 'callSpace', status, error)
  return reply.code(status).header('cache-control', 'no-store').send({ error, reason })
}
