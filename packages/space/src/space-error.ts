/** Flat errors of the Space endpoint, by the `error` they answer. */
const statuses = {
  invalid_request: 400,
  not_authorized: 403,
  not_found: 404,
  room_exists: 409,
  payload_too_large: 413,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
} as const

export type SpaceErrorName = keyof typeof statuses

/**
 * A rejection: `{error, reason}` with its status. Nothing was stored, except possibly for the reason
 * outcome_unknown.
 */
export class SpaceError extends Error {
  readonly error: SpaceErrorName
  readonly reason: string
  readonly retryAfterSeconds: number | undefined

  constructor(error: SpaceErrorName, reason: string, retryAfterSeconds?: number) {
    super(`${error}: ${reason}`)
    this.error = error
    this.reason = reason
    this.retryAfterSeconds = retryAfterSeconds
  }

  get status(): number {
    return statuses[this.error]
  }
}

export function tooManyUnread(): SpaceError {
  return new SpaceError('unavailable', 'too many large answers wait to be read', 5)
}

/**
 * The stored lines are not those that were written. It is answered as an internal error, and logged without any
 * content.
 */
export class DamagedRoom extends Error {
  constructor(room: string, seq: number, problem: string) {
    super(`room ${room} is damaged at line ${seq}: ${problem}`)
  }
}
