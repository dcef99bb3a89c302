import { limits } from '@atrium/contract/limits'
import { ApiError, invalid } from '#errors/api-error.ts'
import { recordEvent } from '#features/events/record-event.ts'
import type { HandlerOf, Handlers } from '#features/handler.ts'
import { makeTimeCursor, readTimeCursor } from '#http/cursor.ts'
import { futureTime } from '#http/request-time.ts'
import { issueKey } from './issue-key.ts'
import { byAge, endOf, keyView } from './key.ts'
import {
  findKeyAndSecretsForUpdate,
  findKeysForUpdate,
  listKeys as listRows,
  notifyKeyChange,
  replaceKey,
  revokeKey as revokeRow,
} from './store.ts'

export const createKey: HandlerOf<'createKey'> = async ({ tx, tenantId, body }) => {
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

export const listKeys: HandlerOf<'listKeys'> = async ({ ctx, tenantId, query }) => {
  const list = `keys:${tenantId}`
  const { limit = limits.keysPageDefault } = query
  const rows = await listRows(ctx.db, tenantId, readTimeCursor(list, query.cursor), limit + 1)
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    status: 200,
    data: page.toSorted(byAge).map(keyView),
    nextCursor: rows.length > limit && last ? makeTimeCursor(list, { createdAt: endOf(last), id: last.id }) : undefined,
  }
}

export const revokeKey: HandlerOf<'revokeKey'> = async ({ tx, tenantId, params }) => {
  const keys = await findKeyAndSecretsForUpdate(tx, tenantId, params.keyId)
  const key = keys.find(({ id }) => id === params.keyId)
  if (!key) throw new ApiError('not_found')
  const others = keys.some((other) => other.id !== key.id && other.kind === 'secret' && other.isActive)
  if (key.kind === 'secret' && key.isActive && !others) throw new ApiError('last_secret_key')
  if (key.revokedAt !== null) return { status: 204 }
  await revokeRow(tx, tenantId, key.id)
  notifyKeyChange(tx, tenantId)
  await recordEvent(tx, tenantId, 'key.revoked', { key_id: key.id, kind: key.kind })
  return { status: 204 }
}

export const keyHandlers = { listKeys, createKey, revokeKey } satisfies Partial<Handlers>
