import { renderShareNotFound } from '@atrium/web/share/render-share-page'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { styleHash } from './style-hash.ts'

interface NotFoundPage {
  html: string
  headers: Record<string, string>
}

let page: NotFoundPage | undefined

/** The page in place of one that is not there: always the same. */
export function sharePageNotFound(): NotFoundPage {
  if (page) return page
  const { html, csp } = renderShareNotFound(styleHash)
  const headers = { 'content-security-policy': csp, 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' }
  return (page = { html, headers })
}

/** Whether the address is that of a share page, whatever stands in the id's place. */
export function isSharePage({ method, raw }: FastifyRequest): boolean {
  const path = (raw.url ?? '').split('?', 1)[0]!
  return (method === 'GET' || method === 'HEAD') && /^\/v1\/collections\/[^/]*\/render$/.test(path)
}

/** For an id that is too long or badly escaped, so that the router finds no operation: what people open is answered with a page. */
export function answerSharePageNotFound(req: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { html, headers } = sharePageNotFound()
  return reply
    .code(404)
    .headers({ ...headers, 'x-request-id': req.id, 'x-content-type-options': 'nosniff' })
    .header('content-type', 'text/html; charset=utf-8')
    .send(html)
}
