/**
 * `quota_exceeded`: what was paid for is used up. `provider_refused`: it will not do this, now or later. `provider_unavailable`: it may, later.
 * `bad_result`: it answered, but not with a picture that can be kept.
 */
export type PaintErrorCode = 'quota_exceeded' | 'provider_refused' | 'provider_unavailable' | 'bad_result'

/** The message is ours and safe to show. Nothing a provider said goes in, and no cause: both may repeat the key. */
export class PaintError extends Error {
  override readonly name = 'PaintError'
  readonly code: PaintErrorCode
  /** What the provider's server answered, if it answered. */
  readonly status: number | undefined

  constructor(code: PaintErrorCode, message: string, status?: number) {
    super(message)
    this.code = code
    this.status = status
  }
}
