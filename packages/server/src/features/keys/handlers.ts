import { limits } from '@atrium/contract/limits'
import { ApiError, invalid } from '#errors/api-error.ts'
import { recordEvent } from '#features/events/record-event.ts'
import type { HandlerOf, Handlers } from '#features/handler.ts'
import { cutPageBy, filteredList, makeTimeCursor, readTimeCursor } from '#http/cursor.ts'
import { futureTime, requestTime } from '#http/request-time.ts'
import { listExpiringKeys } from './expiry-store.ts'
import { issueKey } from './issue-key.ts'
import { byAge, endOf, keyView } from './key.ts'
import {
  findKeysForUpdate,
  hasOtherSecretKey,
  listKeys as listRows,
  lockTenant,
  notifyKeyChange,
  replaceKey,
  revokeKey as revokeRow,
} from './store.ts'

const createKey: HandlerOf<'createKey'> = async ({ tx, tenantId, body }) => {
  const { kind, name = null, rotates, overlap_seconds: overlapSeconds } = body
  const expiresAt = body.expires_at === undefined ? null : futureTime(body.expires_at, '/expires_at')
  if (overlapSeconds !== undefined && rotates === undefined)
    throw invalid('/overlap_seconds', 'is only valid together with rotates')
  if (rotates !== undefined) {
    const [old] = await findKeysForUpdate(tx, tenantId, [rotates])
    if (!old || old.revokedAt !== null)
      throw new ApiError('not_found', { message: 'There is no active key with the id in rotates.' })
    if (old.kind !== kind) throw invalid('/rotates', `is a ${old.kind} key; a key is rotated by one of its kind`)
  }
  const key = await issueKey(tx, tenantId, { kind, name, expiresAt })
  if (rotates !== undefined) {
    await replaceKey(tx, tenantId, { id: rotates, by: key.id, overlapSeconds: overlapSeconds ?? 0 })
    notifyKeyChange(tx, tenantId)
  }
  return { status: 201, data: { ...keyView(key), key: key.key } }
}

const listKeys: HandlerOf<'listKeys'> = async ({ ctx, tenantId, query }) => {
  const { limit = limits.keysPageDefault, cursor, ...filters } = query
  const list = filteredList(`keys:${tenantId}`, filters)
  const after = readTimeCursor(list, cursor)
  const before = filters.expiring_before && requestTime(filters.expiring_before, '/expiring_before')
  const rows = await (before === undefined
    ? listRows(ctx.db, tenantId, after, limit + 1)
    : listExpiringKeys(ctx.db, tenantId, { after, before }, limit + 1))
  const { page, nextCursor } = cutPageBy(rows, limit, (key) => makeTimeCursor(list, { createdAt: endOf(key), id: key.id }))
  return { status: 200, data: page.toSorted(byAge).map(keyView), nextCursor }
}

const revokeKey: HandlerOf<'revokeKey'> = async ({ tx, tenantId, params }) => {
  const [key] = await findKeysForUpdate(tx, tenantId, [params.keyId])
  if (!key) throw new ApiError('not_found')
  if (key.revokedAt !== null) return { status: 204 }
  if (key.kind === 'secret' && key.isActive) {
    // The lock of the tenant, so that of the last two keys one stays if both are revoked at once. A lock on the other
    // keys would do the same, but there may be many. The look at them comes after it, and sees what it waited for.
    await lockTenant(tx, tenantId)
    if (!(await hasOtherSecretKey(tx, tenantId, key.id))) throw new ApiError('last_secret_key')
  }
  await revokeRow(tx, tenantId, key.id)
  notifyKeyChange(tx, tenantId)
  await recordEvent(tx, tenantId, 'key.revoked', { key_id: key.id, kind: key.kind })
  return { status: 204 }
}

export const keyHandlers = { listKeys, createKey, revokeKey } satisfies Partial<Handlers>
