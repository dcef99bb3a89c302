export type ModelErrorCode = 'no_key' | 'quota_exceeded' | 'refused' | 'unauthorized' | 'unavailable' | 'bad_answer'

interface Options {
  /** Whether the same request may succeed later. */
  retryable?: boolean
  /** The pause that the provider asks for; absent if it names none. */
  retryAfterSeconds?: number | undefined
}

/**
 * Why a model gave no answer. The message may be shown to the people in the room: it contains no key, no address and
 * no text of the provider. For the same reason there is no `cause`: a log that prints this error prints only its own
 * text.
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
