interface SpaceCallErrorFields {
  status: number
  error: string
  message: string
  reason?: string | undefined
  retryAfterSeconds?: number | undefined
  headers?: Headers | undefined
  cause?: unknown
}

/** A call of the Space endpoint that failed: what the service answered, or that no answer came. */
export class SpaceCallError extends Error {
  override readonly name = 'SpaceCallError'
  /** Of HTTP; 0 where no answer came. */
  readonly status: number
  /** The contract's code; network_error where no answer came; unexpected_answer where it is not the service's. */
  readonly error: string
  /** Which check failed, such as `not_on_list` or `token: expired`; empty where the answer names none. */
  readonly reason: string
  /** Retry-After (RFC 9110), rounded up. */
  readonly retryAfterSeconds: number | undefined
  /** Of the answer. */
  readonly headers: Headers | undefined

  constructor({ status, error, message, reason = '', retryAfterSeconds, headers, cause }: SpaceCallErrorFields) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.error = error
    this.reason = reason
    this.retryAfterSeconds = retryAfterSeconds
    this.headers = headers
  }

  /** Whether the same call may succeed later, for those who wait as long as it takes: also a fault of the service may be repaired. */
  get isPassing(): boolean {
    // A success that cannot be read comes from whatever stands in between.
    return this.status < 400 || this.status === 408 || this.status === 429 || this.status >= 500
  }
}
