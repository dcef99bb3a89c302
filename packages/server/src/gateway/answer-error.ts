import { codeOf, fieldOf, isDiskFull } from '#errors/caught.ts'
import { Overloaded } from '@atrium/traffic/overloaded'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '#features/context.ts'
import { recordAnswer } from '#features/record-answer.ts'
import { apiErrorOfSql } from '#db/sql-errors.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import { errorBody } from '#http/error-body.ts'
import { applyCorsToError } from '#http/cors.ts'
import { countUsage } from './count-usage.ts'
import { errorPage } from './error-page.ts'

/**
 * Answers any thrown value. Only the message of an ApiError is sent; every other error is logged with the request's
 * id. A browser gets a page from share pages, walls and addresses that are not operations (see `errorPage`).
 */
export function answerError(ctx: Context, error: unknown, req: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = asApiError(error)
  if (!known || known.status >= 500) {
    const fault = known?.cause ?? error
    const said = { request_id: req.id, method: req.method, route: req.routeOptions.url }
    if (fault instanceof Overloaded) ctx.metrics.overloaded()
    // What is refused on purpose, under pressure or while the process stops: there may be many, and a stack adds nothing.
    const isDeliberate = fault instanceof Overloaded || (fault instanceof ApiError && fault.code === 'unavailable')
    if (isDeliberate) ctx.log.warn(said, `refused: ${fault.message}`)
    else ctx.log.error({ ...said, err: fault }, 'request failed')
  }
  if (known?.code === 'rate_limited') ctx.metrics.rateLimited(policyOf(reply))
  const answer = known ?? new ApiError('internal_error')
  recordAnswer(ctx, req, reply, req.routeOptions.config?.operationId, answer.status, answer.code)
  const page = errorPage(req, answer)
  const body = page?.html ?? JSON.stringify(errorBody(answer, req.id, ctx.config.publicUrl))
  countUsage(ctx, req, body)
  applyCorsToError(reply)
  if (answer.status === 401) reply.header('www-authenticate', challengeFor(req))
  if (answer.retryAfterSeconds !== undefined) reply.header('retry-after', answer.retryAfterSeconds)
  if (page) reply.headers(page.headers)
  return reply
    .code(answer.status)
    .header('x-request-id', req.id)
    .header('cache-control', 'no-store')
    .header('content-type', page ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8')
    .send(body)
}

/** The name of the policy in the RateLimit-Policy header, which the limit has set. */
function policyOf(reply: FastifyReply): string {
  return /^"([\w-]+)"/.exec(String(reply.getHeader('ratelimit-policy') ?? ''))?.[1] ?? 'other'
}

/** RFC 6750, section 3: a request without any credential gets no error code. */
function challengeFor({ headers }: FastifyRequest): string {
  const presented = headers.authorization ?? headers['x-api-key'] ?? headers['x-admin-token']
  return presented === undefined ? 'Bearer realm="Atrium"' : 'Bearer realm="Atrium", error="invalid_token"'
}

function asApiError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error
  return fromFastify(error) ?? fromFullDisk(error) ?? apiErrorOfSql(error)
}

/** The disk is full, wherever the file was written. A retry may succeed. */
function fromFullDisk(error: unknown): ApiError | undefined {
  return isDiskFull(error) ? new ApiError('unavailable', { retryAfterSeconds: 30, cause: error }) : undefined
}

/** Refusals of Fastify, from before any handler ran. */
function fromFastify(error: unknown): ApiError | undefined {
  if (!codeOf(error)?.startsWith('FST_')) return undefined
  const statusCode = fieldOf(error, 'statusCode')
  if (statusCode === 413) return new ApiError('payload_too_large')
  if (statusCode === 415) return invalid('Content-Type', 'must be application/json')
  if (statusCode === 404) return new ApiError('not_found')
  // Fastify's own message is not sent, because it quotes the address.
  if (typeof statusCode === 'number' && statusCode < 500) return invalid('', 'the request is not well-formed')
  return undefined
}
