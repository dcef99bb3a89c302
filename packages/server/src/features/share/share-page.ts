import { createHash } from 'node:crypto'
import { renderShareNotFound } from '@atrium/web/share/render-share-page'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** The styles of a page depend only on its theme. Themes are few, so their hashes are cached. */
const hashes = new Map<string, string>()
const maxHashes = 1_000

/** Returns the SHA-256 of a style in base64, for the page's content security policy. */
export function styleHash(style: string): string {
  let hash = hashes.get(style)
  if (hash === undefined) {
    hash = createHash('sha256').update(style).digest('base64')
    if (hashes.size >= maxHashes) hashes.clear()
    hashes.set(style, hash)
  }
  return hash
}

interface NotFoundPage {
  html: string
  headers: Record<string, string>
}

let notFoundPage: NotFoundPage | undefined

/** The page for an unknown collection. It is constant, so it is rendered once. */
export function sharePageNotFound(): NotFoundPage {
  if (notFoundPage) return notFoundPage
  const { html, csp } = renderShareNotFound(styleHash)
  const headers = { 'content-security-policy': csp, 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' }
  return (notFoundPage = { html, headers })
}

/** Whether the address has the form of a share page, with any text in place of the id. */
export function isSharePage({ method, raw }: FastifyRequest): boolean {
  const [path = ''] = (raw.url ?? '').split('?', 1)
  return (method === 'GET' || method === 'HEAD') && /^\/v1\/collections\/[^/]*\/render$/.test(path)
}

/**
 * Answers an id that is too long or badly escaped, for which the router finds no operation: a reader gets a page, not
 * JSON.
 */
export function answerSharePageNotFound(req: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { html, headers } = sharePageNotFound()
  return reply
    .code(404)
    .headers({ ...headers, 'x-request-id': req.id, 'x-content-type-options': 'nosniff' })
    .header('content-type', 'text/html; charset=utf-8')
    .send(html)
}
