import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { futureTime } from '#http/future-time.ts'
import { assertSoundKey, readEpochKey } from '#features/credits/blind-token.ts'
import { insertEpoch } from '../store.ts'

export const publishEpoch: HandlerOf<'publishEpoch'> = async ({ tx, tenantId, body }) => {
  const { epoch: id, publicKey } = readEpochKey(body.public_key)
  assertSoundKey(publicKey)
  const expiresAt = body.expires_at === undefined ? undefined : futureTime(body.expires_at, '/expires_at')
  const isNew = await insertEpoch(tx, { id, tenantId, publicKey, valueCredits: body.value, expiresAt })
  if (!isNew) {
    const message = `This key was published before, as epoch ${id}. An epoch cannot be changed: make a new key.`
    throw new ApiError('state_conflict', { message })
  }
  return { status: 201, data: { epoch: id } }
}
