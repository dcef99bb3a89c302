import type { ErrorCode, ErrorDetail } from '@atrium/contract/errors'

/** The codes that the client adds: no response arrived, or the response is not the API's. */
export type ClientErrorCode = 'network_error' | 'unexpected_answer'

export interface AtriumErrorFields {
  status: number
  code: string
  message: string
  docUrl?: string | undefined
  requestId?: string | undefined
  reason?: string | undefined
  details?: ErrorDetail[] | undefined
  retryAfterSeconds?: number | undefined
  cause?: unknown
}

/**
 * A call that failed. Each code has its own class in errors.ts, such as InsufficientCreditError. A code that this
 * version of the client does not have is a plain AtriumError.
 */
export class AtriumError extends Error {
  override readonly name: string = 'AtriumError'
  /** The HTTP status; 0 without a response. */
  readonly status: number
  /** The code, for programs. Further codes may be added. Each has a page in docs/errors. */
  readonly code: ErrorCode | ClientErrorCode | (string & {})
  /** The page about the code: its cause and its remedy. */
  readonly docUrl: string | undefined
  /** Id of the request in the server's log. */
  readonly requestId: string | undefined
  /** The check that failed, for not_authorized and for errors of the Space endpoint. */
  readonly reason: string | undefined
  /** The problems of the request, one per place. Empty if the server named none. */
  readonly details: ErrorDetail[]
  /** Seconds to wait before a retry (Retry-After, RFC 9110), rounded up. */
  readonly retryAfterSeconds: number | undefined

  constructor({ status, code, message, docUrl, requestId, reason, details, retryAfterSeconds, cause }: AtriumErrorFields) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.code = code
    this.docUrl = docUrl
    this.requestId = requestId
    this.reason = reason
    this.details = details ?? []
    this.retryAfterSeconds = retryAfterSeconds
  }
}
