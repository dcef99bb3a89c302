import { oembedFor } from '@atrium/web/share/oembed'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { collectionIdOfPage, findShareInput } from '../share-input.ts'

export const getOembed: HandlerOf<'getOembed'> = async ({ ctx, query }) => {
  const id = collectionIdOfPage(query.url, ctx.config.publicUrl)
  const input = id === undefined ? undefined : await findShareInput(ctx, id)
  if (!input) throw new ApiError('not_found')
  return { status: 200, data: oembedFor(input, { maxWidth: query.maxwidth, maxHeight: query.maxheight }) }
}
