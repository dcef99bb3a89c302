import type { ErrorCode, ErrorDetail } from '@atrium/contract/errors'

/** Codes of the client's own: no answer came, or one that is not the API's. */
export type ClientErrorCode = 'network_error' | 'unexpected_answer'

export interface AtriumErrorFields {
  status: number
  code: string
  message: string
  requestId?: string | undefined
  reason?: string | undefined
  details?: ErrorDetail[] | undefined
  retryAfterSeconds?: number | undefined
  cause?: unknown
}

/**
 * A call that did not go well. Each code has a class of its own in errors.ts, such as InsufficientCreditError; a code that this client does
 * not know yet is a plain AtriumError.
 */
export class AtriumError extends Error {
  override readonly name: string = 'AtriumError'
  /** Of HTTP; 0 where no answer came. */
  readonly status: number
  /** For programs; further codes may be added. Each has a page in docs/errors. */
  readonly code: ErrorCode | ClientErrorCode | (string & {})
  /** Names the request in the server's log. */
  readonly requestId: string | undefined
  /** With not_authorized, and for errors of the Space endpoint: which check failed. */
  readonly reason: string | undefined
  /** What is wrong with the request, place by place; empty where the server named none. */
  readonly details: ErrorDetail[]
  /** How long the server asks to wait (Retry-After, RFC 9110), rounded up to whole seconds. */
  readonly retryAfterSeconds: number | undefined

  constructor({ status, code, message, requestId, reason, details, retryAfterSeconds, cause }: AtriumErrorFields) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.code = code
    this.requestId = requestId
    this.reason = reason
    this.details = details ?? []
    this.retryAfterSeconds = retryAfterSeconds
  }
}
