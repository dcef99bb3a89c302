import { createHash } from 'node:crypto'
import { renderShareNotFound, renderSharePage } from '@atrium/web/share/render-share-page'
import type { HandlerOf } from '../../../http/call.ts'
import { findShareInput } from '../share-input.ts'

/** The styles of a page depend on its theme, and there are few: their hashes are kept. */
const styleHashes = new Map<string, string>()
const maxStyleHashes = 1_000

function sha256Base64(text: string): string {
  let hash = styleHashes.get(text)
  if (hash === undefined) {
    hash = createHash('sha256').update(text).digest('base64')
    if (styleHashes.size >= maxStyleHashes) styleHashes.clear()
    styleHashes.set(text, hash)
  }
  return hash
}

export const renderCollection: HandlerOf<'renderCollection'> = async (ctx, { params }) => {
  const input = await findShareInput(ctx, params.id)
  if (!input) {
    const { html, csp } = renderShareNotFound(sha256Base64)
    return { status: 404, data: html, headers: { 'content-security-policy': csp, 'referrer-policy': 'no-referrer' } }
  }
  const { html, csp } = renderSharePage(input, sha256Base64)
  // Asked for anew each time, because curation shows at once; an unchanged page costs a 304.
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
