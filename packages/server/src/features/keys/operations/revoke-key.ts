import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { recordEvent } from '#features/events/record-event.ts'
import { isActive } from '../key.ts'
import { listKeysForUpdate, notifyKeyChange, revokeKey as revokeRow } from '../store.ts'

export const revokeKey: HandlerOf<'revokeKey'> = async ({ tx, tenantId, params }) => {
  const keys = await listKeysForUpdate(tx, tenantId)
  const key = keys.find(({ id }) => id === params.keyId)
  if (!key) throw new ApiError('not_found')
  const nowMs = Date.now()
  const others = keys.some((other) => other.id !== key.id && other.kind === 'secret' && isActive(other, nowMs))
  if (key.kind === 'secret' && isActive(key, nowMs) && !others) throw new ApiError('last_secret_key')
  if (key.revokedAt !== null) return { status: 204 }
  await revokeRow(tx, tenantId, key.id)
  await notifyKeyChange(tx, tenantId)
  await recordEvent(tx, tenantId, 'key.revoked', { key_id: key.id, kind: key.kind })
  return { status: 204 }
}
