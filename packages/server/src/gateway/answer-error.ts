import { codeOf, fieldOf } from '#errors/caught.ts'
import { Overloaded } from '@atrium/traffic/overloaded'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '#features/context.ts'
import { recordAnswer } from '#features/record-answer.ts'
import { apiErrorOfSql } from '#db/sql-errors.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import { errorBody } from '#http/error-body.ts'
import { applyCorsToError } from '#http/cors.ts'
import { countUsage } from './count-usage.ts'

/** Answers whatever was thrown. Only an ApiError's own words go out; the rest is logged under the request's id. */
export function answerError(ctx: Context, error: unknown, req: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = asApiError(error)
  if (!known || known.status >= 500) {
    const fault = known?.cause ?? error
    const said = { request_id: req.id, method: req.method, route: req.routeOptions.url }
    // Under pressure there are many of these, and no stack tells more.
    if (fault instanceof Overloaded) ctx.log.warn(said, `refused: ${fault.message}`)
    else ctx.log.error({ ...said, err: fault }, 'request failed')
  }
  const answer = known ?? new ApiError('internal_error')
  recordAnswer(ctx, req, reply, req.routeOptions.config?.operationId, answer.status)
  const body = JSON.stringify(errorBody(answer, req.id, ctx.config.publicUrl))
  countUsage(ctx, req, body)
  applyCorsToError(reply)
  if (answer.status === 401) reply.header('www-authenticate', challengeFor(req))
  if (answer.retryAfterSeconds !== undefined) reply.header('retry-after', answer.retryAfterSeconds)
  return reply
    .code(answer.status)
    .header('x-request-id', req.id)
    .header('cache-control', 'no-store')
    .header('content-type', 'application/json; charset=utf-8')
    .send(body)
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
  const code = codeOf(error)
  return code === 'ENOSPC' || code === 'EDQUOT' ? new ApiError('unavailable', { retryAfterSeconds: 30, cause: error }) : undefined
}

/** Fastify's own refusals, before any code of ours ran. */
function fromFastify(error: unknown): ApiError | undefined {
  if (!codeOf(error)?.startsWith('FST_')) return undefined
  const statusCode = fieldOf(error, 'statusCode')
  if (statusCode === 413) return new ApiError('payload_too_large')
  if (statusCode === 415) return invalid('Content-Type', 'must be application/json')
  if (statusCode === 404) return new ApiError('not_found')
  // Not in its own words: they quote the address.
  if (typeof statusCode === 'number' && statusCode < 500) return invalid('', 'the request is not well-formed')
  return undefined
}
