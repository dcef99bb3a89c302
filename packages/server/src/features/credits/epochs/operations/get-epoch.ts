import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { epochView } from '../epoch.ts'

export const getEpoch: HandlerOf<'getEpoch'> = async ({ ctx, params }) => {
  const epoch = await ctx.epochs.find(params.epoch)
  if (!epoch) throw new ApiError('not_found')
  return { status: 200, data: epochView(epoch) }
}
