import { readPageText } from '@atrium/web/page-text/page-text'
import { renderShareBusy, renderShareMistake, renderShareNotFound, type RenderedPage } from '@atrium/web/share/render-share-page'
import type { FastifyRequest } from 'fastify'
import { ApiError } from '#errors/api-error.ts'
import { inlineHash, isSharePage, pageHeaders, type ErrorPage } from '#features/share/share-page.ts'
import { acceptsHtml, pathOf } from '#http/parse.ts'

const plainMessage = new ApiError('not_found').message

/**
 * What a browser gets in place of the JSON of an error. undefined: a program asks, or the operation answers JSON to
 * everyone, as the contract says.
 */
export function errorPage(req: FastifyRequest, error: ApiError): ErrorPage | undefined {
  const isShared = isSharePage(req)
  if (!acceptsHtml(req) || (req.routeOptions.config?.operationId !== undefined && !isShared)) return undefined
  const text = readPageText(req.headers['accept-language'])
  const { status, message } = error
  let page: RenderedPage
  if (status === 429 || status >= 500) page = renderShareBusy(inlineHash, text)
  else if (isShared) page = renderShareMistake(lastPartOf(req), inlineHash, text)
  // The message says what the address should be.
  else if (status === 404) page = renderShareNotFound(inlineHash, text, message === plainMessage ? undefined : message)
  else if (status === 400) page = renderShareNotFound(inlineHash, text)
  else return undefined
  return { html: page.html, headers: pageHeaders(page.csp, text) }
}

function lastPartOf(req: FastifyRequest): string {
  const path = pathOf(req.raw.url ?? '')
  return path.slice(path.lastIndexOf('/') + 1)
}
