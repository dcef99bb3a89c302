import type { ErrorCode, ErrorDetail } from '@atrium/contract/errors'

/** Codes of the client's own: no answer came, or one that is not the API's. */
export type ClientErrorCode = 'network_error' | 'unexpected_answer'

interface AtriumErrorFields {
  status: number
  code: string
  message: string
  requestId?: string | undefined
  reason?: string | undefined
  details?: ErrorDetail[] | undefined
  retryAfterSeconds?: number | undefined
  cause?: unknown
}

/** A call that did not go well. `status` is 0 where no answer came. */
export class AtriumError extends Error {
  override readonly name = 'AtriumError'
  readonly status: number
  /** For programs; further codes may be added. */
  readonly code: ErrorCode | ClientErrorCode | (string & {})
  /** Names the request in the server's log. */
  readonly requestId: string | undefined
  /** With not_authorized: which check failed. */
  readonly reason: string | undefined
  readonly details: ErrorDetail[]
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

/** The error that an answer says: in the envelope, flat as the Space endpoint has it, or something else's altogether. */
export function errorOfAnswer(res: Response, text: string): AtriumError {
  const answer = { status: res.status, retryAfterSeconds: retryAfterSecondsOf(res.headers) }
  const requestId = res.headers.get('x-request-id') ?? undefined
  const body = parseObject(text)
  if (typeof body?.error === 'string') {
    const reason = typeof body.reason === 'string' ? body.reason : undefined
    return new AtriumError({
      ...answer,
      requestId,
      code: body.error,
      message: reason ? `${body.error}: ${reason}` : body.error,
      reason,
    })
  }
  const error = body?.error as Record<string, unknown> | null | undefined
  if (typeof error !== 'object' || error === null || typeof error.code !== 'string') {
    return new AtriumError({
      ...answer,
      requestId,
      code: 'unexpected_answer',
      message: `The server answered ${res.status} without an error code`,
    })
  }
  return new AtriumError({
    ...answer,
    code: error.code,
    message: typeof error.message === 'string' ? error.message : error.code,
    requestId: typeof error.request_id === 'string' ? error.request_id : requestId,
    reason: typeof error.reason === 'string' ? error.reason : undefined,
    details: Array.isArray(error.details) ? (error.details as ErrorDetail[]) : undefined,
  })
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    // A proxy's page, or nothing: the status says what there is to say.
    return undefined
  }
}

/** Retry-After in its two forms (RFC 9110): seconds, or a date. */
function retryAfterSecondsOf(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim()
  if (!value) return undefined
  if (/^\d+$/.test(value)) return Number(value)
  const atMs = Date.parse(value)
  return Number.isNaN(atMs) ? undefined : Math.max(0, Math.ceil((atMs - Date.now()) / 1000))
}
