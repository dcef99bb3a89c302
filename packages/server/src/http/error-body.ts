import { errors, type ErrorBody, type ErrorCode } from '@atrium/contract/errors'
import { ApiError } from '#errors/api-error.ts'

/** The body of an error response (see the contract's errors.ts). `publicUrl` is the origin of the API. */
export function errorBody(error: ApiError, requestId: string, publicUrl: string): ErrorBody {
  const details = error.details ?? (error.status === 400 ? [{ path: '', message: error.message }] : undefined)
  return {
    error: {
      code: error.code,
      message: error.message,
      doc_url: docUrl(error.code, publicUrl),
      request_id: requestId,
      ...(error.reason === undefined ? {} : { reason: error.reason }),
      ...(details === undefined ? {} : { details }),
    },
  }
}

/** The page about an error. */
export function docUrl(code: string, publicUrl: string): string {
  return `${publicUrl}/docs/errors/${code}`
}

/** A complete HTTP answer for a connection on which no request could be read. */
export function rawErrorAnswer(code: ErrorCode, requestId: string, publicUrl: string, message?: string): string {
  const { status } = errors[code]
  const error = message === undefined ? new ApiError(code) : new ApiError(code, { message })
  const body = JSON.stringify(errorBody(error, requestId, publicUrl))
  return [
    `HTTP/1.1 ${status} ${reasonPhrases[status] ?? 'Error'}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'cache-control: no-store',
    'access-control-allow-origin: *',
    'connection: close',
    '',
    body,
  ].join('\r\n')
}

const reasonPhrases: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}
