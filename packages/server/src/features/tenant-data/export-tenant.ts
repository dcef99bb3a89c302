import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { limits } from '@atrium/contract/limits'
import { ApiError } from '#errors/api-error.ts'
import { tenantView as auditView } from '#features/audit-log/audit-entry.ts'
import { listAuditEntries } from '#features/audit-log/audit-log-store.ts'
import { recordAudit, recordRefusal } from '#features/audit-log/record-audit.ts'
import type { Context } from '#features/context.ts'
import type { HandlerOf } from '#features/handler.ts'
import { openAccessList } from '#features/items/access-list.ts'
import { recordAnswer } from '#features/record-answer.ts'
import { findDeletion } from '#features/tenants/deletion-store.ts'
import { findTenant } from '#features/tenants/store.ts'
import { ExportSlots } from '#http/export-slots.ts'
import { type SendTerms, sendStream, writeHead } from '#http/send-stream.ts'
import { BlobError } from '#ports/blobs/blobs.ts'
import { exportedTables, readTenantRows } from './export-store.ts'
import { watchCaller } from './watch-caller.ts'

/** Each open export has at most one page in memory. */
const ofOperators = new ExportSlots({ slots: 8, slotsPerTenant: 4 })
/** Apart, so that owners who read slowly do not keep an operator from exporting. */
const ofOwners = new ExportSlots({ slots: 4, slotsPerTenant: 1 })

/** A multiple of three, so that the base64 of the pieces can be decoded one by one. */
const pieceBytes = 48 * 1024

export const exportTenant: HandlerOf<'exportTenant'> = (call) => sendExport(call, call.params.tenant_id, ofOperators)

/** Of an owner. */
export const exportOwnTenant: HandlerOf<'exportOwnTenant'> = (call) => sendExport(call, call.tenantId, ofOwners)

type ExportCall = Pick<
  Parameters<HandlerOf<'exportTenant'>>[0],
  'ctx' | 'req' | 'reply' | 'audit' | 'query' | 'assertStillAllowed'
>

async function sendExport(call: ExportCall, tenantId: string, slots: ExportSlots): Promise<FastifyReply> {
  const { ctx, req, reply, audit, query, assertStillAllowed } = call
  const tenant = await findTenant(ctx.db, tenantId)
  if (!tenant) throw new ApiError('not_found')
  const deletion = await findDeletion(ctx.db, tenantId)
  const wasRemoved = deletion !== undefined && deletion.finishedAt !== null
  if (deletion?.startedAt && !wasRemoved) throw new ApiError('state_conflict', { message: removedInPart })
  reply.headers({
    'content-type': 'application/x-ndjson',
    'content-disposition': `attachment; filename="${tenant.id}.ndjson"`,
    'cache-control': 'no-store',
    // What a proxy has buffered is out of reach when an export is cut.
    'x-accel-buffering': 'no',
  })
  // An empty stream, because without a body Fastify would set Content-Length to 0.
  if (req.method === 'HEAD') return reply.send(Readable.from([]))
  const send = async (terms: SendTerms) => {
    // Recorded before the first byte, so that an interrupted export is recorded too.
    await ctx.db.transaction((tx) => recordAudit(tx, audit))
    reply.hijack()
    const res = reply.raw
    if (res.destroyed || req.socket.destroyed) return
    writeHead(reply, 200)
    recordAnswer(ctx, req, reply, req.routeOptions.config.operationId, 200)
    const { id, name, email, createdAt } = tenant
    const head = { format: 'atrium.tenant', version: 1, tenant_id: id, exported_at: new Date().toISOString() }
    const first = {
      table: 'tenants',
      row: { id, name, email, roles: tenant.roles, status: tenant.status, created_at: createdAt },
    }
    const lines = linesOf(ctx, id, { withBlobs: query.blobs === true, first: [head, first], wasRemoved })
    const stopWatch = watchCaller(assertStillAllowed, ({ code }) => {
      // With a reset, the system also discards what the reader has not fetched yet.
      req.raw.socket.resetAndDestroy()
      req.log.info({ request_id: req.id, code }, 'an export of a tenant was cut: the caller may not read on')
      if (audit) recordRefusal(ctx.db, audit, code).catch((error: unknown) => req.log.error({ request_id: req.id, err: error }))
    })
    await sendStream(res, Readable.from(lines, { highWaterMark: 1 }), terms)
      .finally(stopWatch)
      .catch((error: unknown) => req.log.error({ request_id: req.id, err: error }, 'an export of a tenant was sent incompletely'))
  }
  await slots.run(tenant.id, req, send).catch((error: unknown) => {
    for (const name of ['content-type', 'content-disposition', 'x-accel-buffering']) reply.removeHeader(name)
    throw error
  })
  return reply
}

const removedInPart = 'The deletion of the tenant has begun: an export would have only what is not removed yet.'

function lineOf(value: object): string {
  return `${JSON.stringify(value)}\n`
}

async function* linesOf(
  ctx: Context,
  tenantId: string,
  { withBlobs, first, wasRemoved }: { withBlobs: boolean; first: object[]; wasRemoved: boolean },
): AsyncGenerator<Buffer> {
  yield Buffer.from(first.map(lineOf).join(''))
  let rows = 1
  for (const table of exportedTables)
    for await (const page of readTenantRows(ctx.db, table, tenantId)) {
      rows += page.length
      yield Buffer.from(
        page
          .map(({ text, id, access_list: sealed }) => {
            const list = sealed && id !== null ? accessListOf(ctx, tenantId, table, id, sealed) : ''
            return `{"table":"${table}","row":${text}${list}}\n`
          })
          .join(''),
      )
    }
  for await (const page of auditPages(ctx, tenantId)) {
    rows += page.length
    yield Buffer.from(page.map((row) => lineOf({ table: 'audit_log', row })).join(''))
  }
  let blobs = 0
  if (withBlobs)
    for await (const { line, isLast } of blobLines(ctx, tenantId)) {
      if (isLast) blobs++
      yield Buffer.from(line)
    }
  // A deletion may have begun, and even ended, since the export began.
  const deletion = await findDeletion(ctx.db, tenantId)
  if (deletion?.startedAt && !wasRemoved) throw new Error(removedInPart)
  yield Buffer.from(lineOf({ end: true, rows, blobs }))
}

function accessListOf(ctx: Context, tenantId: string, table: string, id: string, sealed: Buffer): string {
  const listed = { tenantId, table: table as 'items' | 'artifacts', id }
  const accounts = [...openAccessList(ctx.vault, listed, sealed)].map(([email, status]) => ({ email, status }))
  return `,"access_list":${JSON.stringify(accounts)}`
}

async function* auditPages({ db }: Context, tenantId: string) {
  const range = { after: { createdAt: 'infinity', id: '' }, from: '-infinity' }
  for (;;) {
    const entries = await listAuditEntries(db, tenantId, range, limits.pageMax)
    const last = entries.at(-1)
    if (!last) return
    yield entries.map(auditView)
    range.after = last
  }
}

/**
 * The stored originals, in pieces. Smaller pictures are derived from them, and incomplete uploads are not artifacts.
 */
async function* blobLines({ blobs }: Context, tenantId: string) {
  let cursor: string | undefined
  do {
    const page = await blobs.list(`${tenantId}/`, { cursor })
    for (const { key } of page.blobs) {
      if (!key.endsWith('/original')) continue
      const content = await blobs.read(key).catch((error: unknown) => {
        // It was deleted since.
        if (error instanceof BlobError && error.code === 'not_found') return undefined
        throw error
      })
      if (!content) continue
      let offset = 0
      for await (const piece of piecesOf(content.stream)) {
        const blob = { key, bytes: content.bytes, offset, base64: piece.toString('base64') }
        offset += piece.length
        yield { line: lineOf({ blob }), isLast: offset === content.bytes }
      }
    }
    cursor = page.cursor
  } while (cursor !== undefined)
}

async function* piecesOf(stream: Readable): AsyncGenerator<Buffer> {
  let kept = Buffer.alloc(0)
  for await (const chunk of stream) {
    kept = Buffer.concat([kept, chunk as Buffer])
    for (; kept.length >= pieceBytes; kept = kept.subarray(pieceBytes)) yield kept.subarray(0, pieceBytes)
  }
  if (kept.length > 0) yield kept
}
