import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { recordEvent } from '#features/events/record-event.ts'
import { isLiving } from '../key.ts'
import { announceKeyChange, listKeysForUpdate, revokeKey as revokeRow } from '../store.ts'

export const revokeKey: HandlerOf<'revokeKey'> = (ctx, { tenant, params }) =>
  ctx.db.lane(tenant).transaction(async (tx) => {
    const keys = await listKeysForUpdate(tx, tenant)
    const key = keys.find(({ id }) => id === params.keyId)
    if (!key) throw new ApiError('not_found')
    const nowMs = Date.now()
    const others = keys.some((other) => other.id !== key.id && other.kind === 'secret' && isLiving(other, nowMs))
    if (key.kind === 'secret' && isLiving(key, nowMs) && !others) throw new ApiError('last_secret_key')
    if (key.revokedAt !== null) return { status: 204 }
    await revokeRow(tx, tenant, key.id)
    await announceKeyChange(tx, tenant)
    await recordEvent(tx, tenant, 'key.revoked', { key_id: key.id, kind: key.kind })
    return { status: 204 }
  })
