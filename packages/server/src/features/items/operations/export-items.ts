import type { OutgoingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { FairSemaphore } from '@atrium/media/pictures/fair-semaphore'
import { ApiError } from '#errors/api-error.ts'
import type { Collection } from '#features/collections/collection.ts'
import type { Context } from '#features/context.ts'
import type { HandlerOf } from '#features/handler.ts'
import { refusalOf } from '#features/keys/key.ts'
import { recordAnswer } from '#features/record-answer.ts'
import { sendStream } from '#http/send-stream.ts'
import { exportPages } from '../export-pages.ts'
import { findLastSeq } from '../store.ts'
import { readFilters } from './read-items.ts'

/** Exports that are open in this process. Each holds two pages in memory at the most: one that is sent, and the next. */
const exports = new FairSemaphore({
  permits: 20,
  permitsPerTenant: 5,
  // An export takes long: a caller is told at once.
  maxWaiting: 0,
  maxWaitingPerTenant: 0,
  timeoutMs: 0,
  busy: () =>
    new ApiError('rate_limited', { message: 'Too many exports are open. Try again when one has ended.', retryAfterSeconds: 10 }),
})

/** How long an export goes on without a look at what it was allowed by. Revocation ends it within 15 s. */
const checkEveryMs = 2_500

export const exportItems: HandlerOf<'exportItems'> = async (call) => {
  const { ctx, req, reply, tenantId, keyHash, collection, query } = call
  const filters = readFilters(query)
  reply.headers({
    'content-type': 'application/x-ndjson',
    'content-disposition': `attachment; filename="${collection.id}.ndjson"`,
    'cache-control': 'no-store',
  })
  // An empty stream, because without a body Fastify would set Content-Length to 0.
  if (req.method === 'HEAD') return reply.send(Readable.from([]))

  const assertAllowed = guardOf(ctx, keyHash, collection)
  const lastSeq = await findLastSeq(ctx.db, tenantId, collection.id)
  async function* chunks() {
    const head = {
      format: 'atrium.items',
      version: 1,
      collection_id: collection.id,
      exported_at: new Date().toISOString(),
      filters: query,
    }
    yield lineOf(head)
    let items = 0
    for await (const page of exportPages(ctx.db, { tenantId, collectionId: collection.id, filters, lastSeq })) {
      await assertAllowed(checkEveryMs)
      items += page.items
      if (page.items > 0) yield page.lines
    }
    // A collection that was deleted meanwhile had no more items for this reason alone.
    await assertAllowed(0)
    yield lineOf({ end: true, items })
  }

  const send = async () => {
    reply.hijack()
    const res = reply.raw
    if (res.destroyed || req.socket.destroyed) return
    res.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders)
    recordAnswer(ctx, req, reply, req.routeOptions.config.operationId, 200)
    ctx.usageCounter.answered(tenantId, 0)
    await sendStream(res, Readable.from(chunks(), { highWaterMark: 1 })).then(
      (bytes) => ctx.usageCounter.count(tenantId, 'bytes', bytes),
      (error: unknown) => {
        if (error instanceof ApiError) req.log.info({ request_id: req.id, code: error.code }, 'an export was ended')
        else req.log.error({ request_id: req.id, err: error }, 'an export was sent incompletely')
      },
    )
  }
  await exports.run(tenantId, 1, send).catch((error: unknown) => {
    for (const name of ['content-type', 'content-disposition']) reply.removeHeader(name)
    throw error
  })
  return reply
}

/** Throws once the key, the tenant, the owner token or the collection has ended. Looks if the last look is older. */
function guardOf(
  ctx: Context,
  keyHash: string,
  { tenantId, id, adminTokenHash }: Collection,
): (olderThanMs: number) => Promise<void> {
  let checkedAtMs = performance.now()
  return async (olderThanMs) => {
    const nowMs = performance.now()
    if (nowMs - checkedAtMs < olderThanMs) return
    checkedAtMs = nowMs
    const refusal = refusalOf(await ctx.keyCache.resolve(keyHash), Date.now())
    if (refusal) throw new ApiError(refusal)
    const collection = await ctx.collections.get(tenantId, id)
    if (!collection.adminTokenHash.equals(adminTokenHash)) throw new ApiError('owner_token_required')
  }
}

function lineOf(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`)
}
