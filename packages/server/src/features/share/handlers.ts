import { readPageText } from '@atrium/web/page-text/page-text'
import { oembedFor, oembedForWall } from '@atrium/web/share/oembed'
import { renderSharePage } from '@atrium/web/share/render-share-page'
import { wallLayouts } from '@atrium/web/wall/layout'
import { renderWall as renderWallPage } from '@atrium/web/wall/render-wall'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf, Handlers } from '#features/handler.ts'
import { findShareInput, inlineHash, pageHeaders, readPageAddress, sharePageNotFound } from './share-page.ts'
import { findWall, loadWallInput, wallAddress } from './wall-page.ts'

const renderCollection: HandlerOf<'renderCollection'> = async ({ ctx, params, headers: asked }) => {
  const input = await findShareInput(ctx, params.id)
  if (!input) {
    const { html, headers } = sharePageNotFound(asked)
    return { status: 404, data: html, headers }
  }
  const text = readPageText(asked['accept-language'])
  const { html, csp } = renderSharePage(input, inlineHash, text)
  return { status: 200, data: html, etag: true, headers: pageHeaders(csp, text) }
}

const renderWall: HandlerOf<'renderWall'> = async ({ ctx, params, query, headers: asked }) => {
  const collection = await findWall(ctx, params.id)
  if (!collection) {
    const { html, headers } = sharePageNotFound(asked)
    return { status: 404, data: html, headers }
  }
  const text = readPageText(asked['accept-language'])
  const { html, etagOf, csp } = renderWallPage(await loadWallInput(ctx, collection, query), inlineHash, text)
  // The first master key sealed the page's cursor. A cached page has to be replaced before that key is removed, because
  // its stream would then refuse the cursor.
  const [keyId] = ctx.vault.keyIds
  return { status: 200, data: html, etag: etagOf + keyId.toString('hex'), headers: pageHeaders(csp, text) }
}

const getOembed: HandlerOf<'getOembed'> = async ({ ctx, query }) => {
  const page = readPageAddress(query.url, ctx.config.publicUrl)
  const limits = { maxWidth: query.maxwidth, maxHeight: query.maxheight }
  if (page?.isWall && !(await findWall(ctx, page.id))) throw new ApiError('not_found')
  const input = page && (await findShareInput(ctx, page.id))
  if (!input) throw new ApiError('not_found')
  if (!page.isWall) return { status: 200, data: oembedFor(input, limits) }
  // The layout is the only part of the query that the frame keeps.
  const layout = wallLayouts.find((name) => name === page.layout)
  const address = `${wallAddress(ctx.config.publicUrl, page.id)}${layout === undefined ? '' : `?layout=${layout}`}`
  return { status: 200, data: oembedForWall(input, address, limits) }
}

export const shareHandlers = { renderCollection, renderWall, getOembed } satisfies Partial<Handlers>
