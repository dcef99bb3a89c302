import type { OutgoingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '#features/context.ts'
import { recordAnswer } from '#features/record-answer.ts'
import { findLimits } from '#features/limits/quota.ts'
import type { ChannelTarget } from './channel.ts'
import type { StreamGuard } from './stream-guard.ts'

interface Asked {
  ctx: Context
  headers: Record<string, string | string[] | undefined>
  query: { cursor?: string }
  address: string
  req: FastifyRequest
  reply: FastifyReply
}

/** Answers a request for a stream, which then stays open for as long as its guard holds. */
export async function openStream(asked: Asked, target: ChannelTarget, guard: StreamGuard): Promise<FastifyReply> {
  const { ctx, req, reply } = asked
  const { streams } = ctx
  const cursor = cursorOf(asked)
  const position = cursor === undefined ? undefined : streams.readCursor(target, cursor)
  // Proxies that gather an answer would hold back what is to come.
  reply.headers({ 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
  // As an empty stream: of no body at all, Fastify would say that its length is 0.
  if (req.method === 'HEAD') return reply.send(Readable.from([]))

  streams.assertOpen()
  const { tenantId } = target
  const { open_streams: tenantLimit } = await findLimits(ctx, ctx.db, tenantId)
  const release = streams.slots.take({ tenantId, address: asked.address, tenantLimit })
  try {
    const channel = await streams.join(target)
    streams.assertOpen()
    reply.hijack()
    const res = reply.raw
    if (res.destroyed || req.socket.destroyed) {
      release()
      return reply
    }
    res.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders)
    recordAnswer(ctx, req, reply, req.routeOptions.config.operationId, 200)
    ctx.usageCounter.answered(tenantId, 0)
    const onSent = (bytes: number) => ctx.usageCounter.count(tenantId, 'bytes', bytes)
    streams.open({ res, channel, guard, position, onSent, onClosed: release })
    return reply
  } catch (error) {
    release()
    for (const name of ['content-type', 'x-accel-buffering']) reply.removeHeader(name)
    throw error
  }
}

/** An EventSource that connects again sends the newer cursor in the header, and the first one in its address. */
function cursorOf({ headers, query }: Asked): string | undefined {
  const lastEventId = headers['last-event-id']
  // An empty id is what EventSource has before the first message.
  return typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : query.cursor
}
