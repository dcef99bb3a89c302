import { Readable } from 'node:stream'
import { ApiError } from '#errors/api-error.ts'
import type { Collection } from '#features/collections/collection.ts'
import type { Context } from '#features/context.ts'
import type { HandlerOf } from '#features/handler.ts'
import { refusalOf } from '#features/keys/key.ts'
import { recordAnswer } from '#features/record-answer.ts'
import { ExportSlots } from '#http/export-slots.ts'
import { type SendTerms, sendStream, writeHead } from '#http/send-stream.ts'
import { findLastSeq, listItemsBySeq, listItemsWithin } from '../store.ts'
import { readFilters } from './read-items.ts'
import { Semaphore } from '@atrium/traffic/semaphore'
import type { Db } from '#db/database.ts'
import { scannedPage } from '#http/scanned-page.ts'
import { type Item, itemView } from '../item.ts'
import { type ItemFilters, type SeqRange, countWithin, findSeqRange, searchItems } from '../search-store.ts'

/** Each open export has at most two pages in memory: the one that is sent, and the next. */
const exports = new ExportSlots({ slots: 20, slotsPerTenant: 5 })

/** How often an export checks its key, tenant and token again. A revocation ends it within 15 s. */
const checkIntervalMs = 2_500

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
      await assertAllowed(checkIntervalMs)
      items += page.items
      if (page.lines.length > 0) yield page.lines
    }
    // If the collection was deleted meanwhile, the end of the list is not the end of the export.
    await assertAllowed(0)
    yield lineOf({ end: true, items })
  }

  const send = async (terms: SendTerms) => {
    reply.hijack()
    const res = reply.raw
    if (res.destroyed || req.socket.destroyed) return
    writeHead(reply, 200)
    recordAnswer(ctx, req, reply, req.routeOptions.config.operationId, 200)
    ctx.usageCounter.answered(tenantId, 0)
    await sendStream(res, Readable.from(chunks(), { highWaterMark: 1 }), terms).then(
      (bytes) => ctx.usageCounter.sent(tenantId, bytes),
      (error: unknown) => {
        if (error instanceof ApiError) req.log.info({ request_id: req.id, code: error.code }, 'an export was ended')
        else req.log.error({ request_id: req.id, err: error }, 'an export was sent incompletely')
      },
    )
  }
  await exports.run(tenantId, req, send).catch((error: unknown) => {
    for (const name of ['content-type', 'content-disposition']) reply.removeHeader(name)
    throw error
  })
  return reply
}

/**
 * Throws if the key, the tenant, the owner token or the collection is no longer valid. Checks again only if the last
 * check is older than the interval.
 */
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

/** A page ends with the item whose content reaches this size, because a slow reader keeps its page in memory. */
const pageBytes = 256 * 1024
/** So many of the largest items are 1 MiB, which the database reads even if the page ends sooner. */
const minRows = 16
const maxRows = 500

/**
 * The number of pages that exports read at once in a process, so that most connections stay available for short
 * calls.
 */
const pageTurns = new Semaphore(2)

interface Exported {
  tenantId: string
  collectionId: string
  filters: ItemFilters | undefined
  /** The position of the last item to be exported: items that are added later do not belong to the export. */
  lastSeq: number
}

interface ExportPage {
  /** A line of JSON for each item, or a space that precedes the next line. */
  lines: Buffer
  items: number
}

/**
 * The items up to `lastSeq`, oldest first. Each page is read on demand, by its own queries: between two pages the
 * export holds no connection and no snapshot of the database. A page may be empty.
 */
async function* exportPages(db: Db, exported: Exported): AsyncGenerator<ExportPage, void, undefined> {
  const { tenantId, collectionId, filters, lastSeq } = exported
  const end = lastSeq + 1
  const range = filters ? await findSeqRange(db, tenantId, collectionId, filters) : { after: 0, before: end }
  range.before = Math.min(range.before, end)
  for (let limit = minRows; range.after + 1 < range.before;) {
    const { items, last } = await pageTurns.run(() => readPage(db, exported, range, limit))
    // A client gives up a silent connection, and one that has gone is noticed only by a write. JSON permits a space before
    // a value.
    const held = items.length === 0 && last !== undefined ? ' ' : ''
    const lines = Buffer.from(items.map((item) => `${JSON.stringify(itemView(item))}\n`).join('') + held)
    yield { lines, items: items.length }
    if (last === undefined) return
    range.after = last
    if (items.length > 0) limit = rowsOf(lines.length / items.length)
  }
}

/** How many items of this size fill a page. */
function rowsOf(bytesEach: number): number {
  return Math.min(maxRows, Math.max(minRows, Math.floor(pageBytes / bytesEach)))
}

interface Read {
  items: Item[]
  /** The seq after which the next page begins; undefined: nothing follows. */
  last: number | undefined
}

function readPage(db: Db, exported: Exported, range: SeqRange, limit: number): Promise<Read> {
  const { filters, ...of } = exported
  return filters ? readFiltered(db, of, filters, range, limit) : readPlain(db, of, range, limit)
}

type Of = Pick<Exported, 'tenantId' | 'collectionId'>

async function readPlain(db: Db, { tenantId, collectionId }: Of, { after, before }: SeqRange, limit: number): Promise<Read> {
  const bounds = { afterSeq: after, limit: limit + 1, maxBytes: pageBytes }
  const { items: rows, end = limit } = await listItemsWithin(db, tenantId, collectionId, bounds)
  const items = rows.slice(0, end).filter(({ seq }) => seq < before)
  return { items, last: rows.length > end ? items.at(-1)?.seq : undefined }
}

async function readFiltered(
  db: Db,
  { tenantId, collectionId }: Of,
  filters: ItemFilters,
  range: SeqRange,
  limit: number,
): Promise<Read> {
  const found = await searchItems(db, tenantId, collectionId, { filters, order: 'oldest', range, limit: limit + 1 })
  const { page, last } = scannedPage(found, Math.min(limit, countWithin(found, pageBytes)))
  const seqs = page.map(({ seq }) => seq)
  const items = seqs.length === 0 ? [] : await listItemsBySeq(db, tenantId, collectionId, seqs)
  return { items, last: last?.seq }
}
