/**
 * `quota_exceeded`: the provider's quota is used up. `provider_refused`: a retry would fail too.
 * `provider_unavailable`: a retry may succeed. `bad_result`: the answer is not a usable picture.
 */
export type PaintErrorCode = 'quota_exceeded' | 'provider_refused' | 'provider_unavailable' | 'bad_result'

/**
 * The message is written here and safe to show. It contains no text of the provider and there is no cause, because
 * both may repeat the key.
 */
export class PaintError extends Error {
  override readonly name = 'PaintError'
  readonly code: PaintErrorCode
  /** The HTTP status of the provider's answer, if there was one. */
  readonly status: number | undefined

  constructor(code: PaintErrorCode, message: string, status?: number) {
    super(message)
    this.code = code
    this.status = status
  }
}
