import { limits } from '@atrium/contract/limits'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { cutPage, readCursor } from '#http/cursor.ts'
import { epochView } from '../epoch.ts'
import { listEpochs as listRows } from '../store.ts'

export const getEpoch: HandlerOf<'getEpoch'> = async ({ ctx, params }) => {
  const epoch = await ctx.epochs.find(params.epoch)
  if (!epoch) throw new ApiError('not_found')
  return { status: 200, data: epochView(epoch) }
}

const list = 'epochs'

export const listEpochs: HandlerOf<'listEpochs'> = async ({ ctx, query }) => {
  const limit = query.limit ?? limits.pageDefault
  const rows = await listRows(ctx.db, readCursor(list, query.cursor), limit + 1)
  const { page, nextCursor } = cutPage(list, rows, limit)
  return { status: 200, data: page.map(epochView), nextCursor }
}
