import { timeOfId } from '@atrium/contract/tokens'
import { listKeyIdsByHint, listKeysById, notifyKeyChange } from '#features/keys/store.ts'
import { findLogsRequests, updateLogsRequests } from '#features/tenants/store.ts'
import { docUrl } from '#http/error-body.ts'
import { readTimeQuery } from '#http/time-page.ts'
import type { HandlerOf, Handlers } from '../handler.ts'
import { listLoggedRequests } from './list-requests.ts'
import { summariseLog } from './summarise.ts'

/** The statuses that `404`, `4xx` or `errors` names. */
function statusesOf(status = ''): readonly [number, number] {
  if (status === '') return [0, 599]
  if (status === 'errors') return [400, 599]
  if (!status.endsWith('xx')) return [Number(status), Number(status)]
  const first = Number(status[0]) * 100
  return [first, first + 99]
}

const listRequests: HandlerOf<'listRequests'> = async ({ ctx, tenantId, query }) => {
  const { request_id: requestId, status, method, path, key_hint: keyHint } = query
  const { range, limit, cursorAfter } = readTimeQuery(`requests:${tenantId}`, query)
  // A caller who makes a request and then looks for it must find it.
  await ctx.requestLog.flush()
  const keyIds = keyHint === undefined ? undefined : await listKeyIdsByHint(ctx.db, tenantId, keyHint)
  const startedAt = requestId === undefined ? undefined : new Date(timeOfId(requestId)).toISOString()
  const filter = { requestId, startedAt, statuses: statusesOf(status), method, path, keyIds }
  const days = ctx.config.retentionDays.requests
  const { requests, last } = await listLoggedRequests(ctx.db, tenantId, range, filter, days, limit)
  const keys = await listKeysById(ctx.db, tenantId, [...new Set(requests.map(({ keyId }) => keyId))])
  return {
    status: 200,
    data: requests.map((row) => ({
      request_id: row.requestId,
      created_at: row.createdAt,
      method: row.method,
      path: row.path,
      status: row.status,
      code: row.code,
      doc_url: row.code === null ? null : docUrl(row.code, ctx.config.publicUrl),
      key_id: row.keyId,
      key_hint: keys.get(row.keyId)?.hint ?? null,
      duration_ms: row.durationMs,
      origin: row.origin,
    })),
    nextCursor: cursorAfter(last),
  }
}

const summariseRequests: HandlerOf<'summariseRequests'> = async ({ ctx, tenantId, query }) => {
  const days = ctx.config.retentionDays.requests
  const enabled = days > 0 && (await findLogsRequests(ctx.db, tenantId))
  await ctx.requestLog.flush()
  return { status: 200, data: { enabled, ...(await summariseLog(ctx.db, tenantId, query.by ?? 'hour', days)) } }
}

const getRequestLogSettings: HandlerOf<'getRequestLogSettings'> = async ({ ctx, tenantId }) => {
  const days = ctx.config.retentionDays.requests
  return { status: 200, data: { enabled: days > 0 && (await findLogsRequests(ctx.db, tenantId)), days } }
}

const setRequestLogSettings: HandlerOf<'setRequestLogSettings'> = async ({ ctx, tx, tenantId, body }) => {
  const days = ctx.config.retentionDays.requests
  await updateLogsRequests(tx, tenantId, body.enabled)
  notifyKeyChange(tx, tenantId)
  return { status: 200, data: { enabled: days > 0 && body.enabled, days } }
}

export const requestLogHandlers = {
  listRequests,
  summariseRequests,
  getRequestLogSettings,
  setRequestLogSettings,
} satisfies Partial<Handlers>
