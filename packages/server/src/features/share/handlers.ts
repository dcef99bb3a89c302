import { oembedFor } from '@atrium/web/share/oembed'
import { renderSharePage } from '@atrium/web/share/render-share-page'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf, Handlers } from '#features/handler.ts'
import { collectionIdOfPage, findShareInput, sharePageNotFound, styleHash } from './share-page.ts'

export const renderCollection: HandlerOf<'renderCollection'> = async ({ ctx, params }) => {
  const input = await findShareInput(ctx, params.id)
  if (!input) {
    const { html, headers } = sharePageNotFound()
    return { status: 404, data: html, headers }
  }
  const { html, csp } = renderSharePage(input, styleHash)
  // Caches revalidate each time, because a curation is visible at once. An unchanged page costs a 304.
  return {
    status: 200,
    data: html,
    etag: true,
    headers: {
      'content-security-policy': csp,
      'referrer-policy': 'no-referrer',
      'cache-control': 'public, max-age=0, must-revalidate',
    },
  }
}

export const getOembed: HandlerOf<'getOembed'> = async ({ ctx, query }) => {
  const id = collectionIdOfPage(query.url, ctx.config.publicUrl)
  const input = id === undefined ? undefined : await findShareInput(ctx, id)
  if (!input) throw new ApiError('not_found')
  return { status: 200, data: oembedFor(input, { maxWidth: query.maxwidth, maxHeight: query.maxheight }) }
}

export const shareHandlers = { renderCollection, getOembed } satisfies Partial<Handlers>
