import { readPageText } from '@atrium/web/page-text/page-text'
import { renderShareBusy, renderShareMistake, renderShareNotFound, type RenderedPage } from '@atrium/web/share/render-share-page'
import type { FastifyRequest } from 'fastify'
import { ApiError } from '#errors/api-error.ts'
import { inlineHash, isSharePage, pageHeaders, type ErrorPage } from '#features/share/share-page.ts'
import { acceptsHtml, pathOf } from '#http/parse.ts'

const plainMessage = new ApiError('not_found').message

/**
 * The page that a browser gets instead of the JSON of an error. undefined: the caller is a program, the route is an
 * operation other than a share page or wall, or there is no page for the status, such as 403.
 */
export function errorPage(req: FastifyRequest, error: ApiError): ErrorPage | undefined {
  const isShared = isSharePage(req)
  if (!acceptsHtml(req) || (req.routeOptions.config?.operationId !== undefined && !isShared)) return undefined
  const text = readPageText(req.headers['accept-language'])
  const { status, message } = error
  let page: RenderedPage
  if (status === 429 || status >= 500) page = renderShareBusy(inlineHash, text)
  else if (isShared) page = renderShareMistake(lastPartOf(req), inlineHash, text)
  // A message other than the usual one suggests the right address.
  else if (status === 404) page = renderShareNotFound(inlineHash, text, message === plainMessage ? undefined : message)
  else if (status === 400) page = renderShareNotFound(inlineHash, text)
  else return undefined
  return { html: page.html, headers: pageHeaders(page.csp, text) }
}

function lastPartOf(req: FastifyRequest): string {
  const path = pathOf(req.raw.url ?? '')
  return path.slice(path.lastIndexOf('/') + 1)
}
