interface SpaceCallErrorFields {
  status: number
  error: string
  message: string
  reason?: string | undefined
  retryAfterSeconds?: number | undefined
  headers?: Headers | undefined
  cause?: unknown
}

/** A failed call of the Space endpoint: an error response, or no response. */
export class SpaceCallError extends Error {
  override readonly name = 'SpaceCallError'
  /** The HTTP status; 0 without a response. */
  readonly status: number
  /** The contract's code; network_error without a response; unexpected_answer if the response is not the service's. */
  readonly error: string
  /** The failed check, such as `not_on_list` or `token: expired`; empty if the response names none. */
  readonly reason: string
  /** Retry-After (RFC 9110), rounded up. */
  readonly retryAfterSeconds: number | undefined
  /** The request id of the answer. */
  readonly headers: Headers | undefined

  constructor({ status, error, message, reason = '', retryAfterSeconds, headers, cause }: SpaceCallErrorFields) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.error = error
    this.reason = reason
    this.retryAfterSeconds = retryAfterSeconds
    this.headers = headers
  }

  /**
   * Whether the same call may succeed at any later time. This includes faults of the service, which may be repaired.
   */
  get isPassing(): boolean {
    // A success with an invalid body comes from a proxy.
    return this.status < 400 || this.status === 408 || this.status === 429 || this.status >= 500
  }
}
