import { renderSharePage } from '@atrium/web/share/render-share-page'
import type { HandlerOf } from '#features/handler.ts'
import { findShareInput } from '../share-input.ts'
import { sharePageNotFound, styleHash } from '../share-page.ts'

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
