import type { SentCursor } from './event-streams.ts'
import { writeHead } from '#http/send-stream.ts'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf, Handlers } from '../handler.ts'
import { listSuspendedTenants } from '../tenants/store.ts'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import { recordAnswer } from '../record-answer.ts'
import { findLimits } from '../limits/limits.ts'
import type { ChannelTarget } from './channel.ts'
import type { StreamGuard } from './stream-guard.ts'

const streamCollection: HandlerOf<'streamCollection'> = async (call) => {
  const { tenantId, keyHash, collection, owner } = call
  const guard = { tenantId, keyHash, collectionId: collection.id }
  const isBox = collection.boxRecipient !== null
  const target = { kind: owner ? 'owner' : 'open', tenantId, collectionId: collection.id, isBox } as const
  return openStream(call, target, owner ? { ...guard, adminTokenHash: collection.adminTokenHash } : guard)
}

const streamWall: HandlerOf<'streamWall'> = async (call) => {
  const { ctx, params } = call
  const collection = await ctx.collections.findAnyTenant(params.id)
  if (!collection?.wall) throw new ApiError('not_found')
  const { tenantId, id: collectionId, state } = collection
  // Without a key, the suspension of the tenant has not been checked yet.
  if ((await listSuspendedTenants(ctx.db, [tenantId])).has(tenantId)) throw new ApiError('not_found')
  call.reply.header('collection-state', state)
  return openStream(call, { kind: 'wall', tenantId, collectionId }, { tenantId, collectionId, wallState: state })
}

const streamEvents: HandlerOf<'streamEvents'> = async (call) => {
  const { tenantId, keyHash } = call
  return openStream(call, { kind: 'tenant', tenantId }, { tenantId, keyHash })
}

interface Asked {
  ctx: Context
  headers: Record<string, string | string[] | undefined>
  query: { cursor?: string }
  address: string
  req: FastifyRequest
  reply: FastifyReply
}

/** Answers a request for a stream, which then stays open as long as its guard allows. */
async function openStream(asked: Asked, target: ChannelTarget, guard: StreamGuard): Promise<FastifyReply> {
  const { ctx, req, reply } = asked
  const { streams } = ctx
  const cursor = cursorOf(asked)
  const position = cursor === undefined ? undefined : streams.readCursor(target, cursor)
  // Tells proxies not to buffer the answer.
  reply.headers({ 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
  // An empty stream, because without a body Fastify would set Content-Length to 0.
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
    writeHead(reply, 200)
    recordAnswer(ctx, req, reply, req.routeOptions.config.operationId, 200)
    ctx.usageCounter.answered(tenantId, 0)
    const onSent = (bytes: number) => ctx.usageCounter.sent(tenantId, bytes)
    streams.open({ res, channel, guard, position, onSent, onClosed: release })
    return reply
  } catch (error) {
    release()
    for (const name of ['content-type', 'x-accel-buffering', 'collection-state']) reply.removeHeader(name)
    throw error
  }
}

/** An EventSource that reconnects sends the newer cursor in the header, while its address still has the first one. */
function cursorOf({ headers, query }: Asked): SentCursor | undefined {
  const lastEventId = headers['last-event-id']
  // EventSource sends an empty id before the first message.
  if (typeof lastEventId === 'string' && lastEventId !== '') return { cursor: lastEventId, sentAs: 'Last-Event-ID' }
  return query.cursor === undefined ? undefined : { cursor: query.cursor, sentAs: '/cursor' }
}

export const streamHandlers = { streamCollection, streamEvents, streamWall } satisfies Partial<Handlers>
