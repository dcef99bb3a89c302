import { limits } from '@atrium/contract/limits'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { cutPage, readCursor } from '#http/cursor.ts'
import { futureTime } from '#http/request-time.ts'
import { assertSoundKey, readEpochKey } from '../blind-token.ts'
import { epochView } from './epoch.ts'
import { insertEpoch, listEpochs as listRows } from './store.ts'

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

export const getEpoch: HandlerOf<'getEpoch'> = async ({ ctx, params }) => {
  const epoch = await ctx.epochs.find(params.epoch)
  if (!epoch) throw new ApiError('not_found')
  return { status: 200, data: epochView(epoch, ctx.config.publicUrl) }
}

const list = 'epochs'

export const listEpochs: HandlerOf<'listEpochs'> = async ({ ctx, query }) => {
  const limit = query.limit ?? limits.pageDefault
  const rows = await listRows(ctx.db, readCursor(list, query.cursor), limit + 1)
  const { page, nextCursor } = cutPage(list, rows, limit)
  return { status: 200, data: page.map((epoch) => epochView(epoch, ctx.config.publicUrl)), nextCursor }
}
