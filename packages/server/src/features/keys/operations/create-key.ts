import { ApiError, invalid } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { futureTime } from '#http/future-time.ts'
import { issueKey } from '../issue-key.ts'
import { keyView } from '../key.ts'
import { expireKeyIn, listKeysForUpdate, notifyKeyChange } from '../store.ts'

export const createKey: HandlerOf<'createKey'> = async ({ tx, tenantId, body }) => {
  const { kind, name = null, rotates, overlap_seconds: overlapSeconds } = body
  const expiresAt = body.expires_at === undefined ? null : futureTime(body.expires_at, '/expires_at')
  if (overlapSeconds !== undefined && rotates === undefined)
    throw invalid('/overlap_seconds', 'is only valid together with rotates')
  if (rotates !== undefined) {
    const old = (await listKeysForUpdate(tx, tenantId)).find((key) => key.id === rotates)
    if (!old || old.revokedAt !== null)
      throw new ApiError('not_found', { message: 'There is no active key with the id in rotates.' })
    if (old.kind !== kind) throw invalid('/rotates', `is a ${old.kind} key; a key is rotated by one of its kind`)
    await expireKeyIn(tx, tenantId, rotates, overlapSeconds ?? 0)
    await notifyKeyChange(tx, tenantId)
  }
  const key = await issueKey(tx, tenantId, { kind, name, expiresAt })
  return { status: 201, data: { ...keyView(key), key: key.key } }
}
