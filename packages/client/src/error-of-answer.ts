import type { ErrorDetail } from '@atrium/contract/errors'
import { isJsonObject, type JsonObject } from '@atrium/contract/strict-json'
import { retryAfterSecondsOf } from '@atrium/room-client/retry'
import { AtriumError, type AtriumErrorFields } from './atrium-error.ts'
import { errorClasses } from './errors.ts'

/** Makes an error of the class for its code. */
export function makeError(fields: AtriumErrorFields): AtriumError {
  const Class = Object.hasOwn(errorClasses, fields.code) ? errorClasses[fields.code as keyof typeof errorClasses] : AtriumError
  return new Class(fields)
}

/** The error of a response: in the envelope, flat (Space endpoint), or not from the API. */
export function errorOfAnswer(res: Response, text: string): AtriumError {
  const requestId = res.headers.get('x-request-id') ?? undefined
  const answer = { status: res.status, retryAfterSeconds: retryAfterSecondsOf(res.headers), requestId }
  const body = parseObject(text)
  if (typeof body?.error === 'string') {
    const reason = textOf(body.reason)
    return makeError({ ...answer, code: body.error, message: reason ? `${body.error}: ${reason}` : body.error, reason })
  }
  const error = isJsonObject(body?.error) ? body.error : undefined
  if (!error || typeof error.code !== 'string') {
    // A page learns neither the status nor the address of a redirect.
    const redirects = res.type === 'opaqueredirect' || (res.status >= 300 && res.status < 400)
    const message = redirects
      ? `The server redirects${res.status ? ` (${res.status})` : ''}, and the API never does: is the base URL right?`
      : `The server answered ${res.status} without an error code`
    return makeError({ ...answer, code: 'unexpected_answer', message })
  }
  return makeError({
    ...answer,
    code: error.code,
    message: textOf(error.message) ?? error.code,
    docUrl: textOf(error.doc_url),
    requestId: textOf(error.request_id) ?? requestId,
    reason: textOf(error.reason),
    details: Array.isArray(error.details) ? (error.details as ErrorDetail[]) : undefined,
  })
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    // The body is a proxy's page or empty, so only the status is reported.
    return undefined
  }
}
