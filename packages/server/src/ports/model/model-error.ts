export type ModelErrorCode = 'no_key' | 'quota_exceeded' | 'refused' | 'unauthorized' | 'unavailable' | 'bad_answer'

interface Options {
  /** Whether the same request may succeed in a while. */
  retryable?: boolean
  /** What the provider asked for; absent when it did not say. */
  retryAfterSeconds?: number | undefined
}

/**
 * Why a model gave no answer. The message may be shown to the people in the room: it holds no key, no address and
 * nothing that the provider wrote. For the same reason there is no `cause`: a log that prints this error prints only
 * what is in it.
 */
export class ModelError extends Error {
  override readonly name = 'ModelError'
  readonly code: ModelErrorCode
  readonly retryable: boolean
  readonly retryAfterSeconds: number | undefined

  constructor(code: ModelErrorCode, message: string, { retryable = false, retryAfterSeconds }: Options = {}) {
    super(message)
    this.code = code
    this.retryable = retryable
    this.retryAfterSeconds = retryAfterSeconds
  }
}
