import { errors, type ErrorCode, type ErrorDetail } from '@atrium/contract/errors'

interface ApiErrorOptions {
  message?: string
  details?: ErrorDetail[]
  reason?: string
  retryAfterSeconds?: number
  cause?: unknown
}

/** An error response: a code of the contract's table, with details for this caller. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetail[] | undefined
  readonly reason: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(code: ErrorCode, options: ApiErrorOptions = {}) {
    super(options.message ?? `${errors[code].title}. ${errors[code].remedy}`, { cause: options.cause })
    this.code = code
    this.details = options.details
    this.reason = options.reason
    this.retryAfterSeconds = options.retryAfterSeconds
  }

  get status(): number {
    return errors[this.code].status
  }
}

/** The error for one invalid field. */
export function invalid(path: string, message: string): ApiError {
  return new ApiError('invalid_request', { message: path ? `${path}: ${message}` : message, details: [{ path, message }] })
}

/**
 * The error of an operation that the operator has not configured. Clients wait for a Retry-After of up to a minute and
 * repeat the call, which fails again. With an hour, they report the error at once.
 */
export function notConfigured(message: string): ApiError {
  return new ApiError('unavailable', { message, retryAfterSeconds: 3_600 })
}
