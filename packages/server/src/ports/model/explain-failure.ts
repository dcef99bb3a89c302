import { AISDKError, APICallError, StreamProviderError } from 'ai'
import { EgressError } from '../egress/egress-error.ts'
import { ModelError } from './model-error.ts'

const maxRetryAfterSeconds = 3_600

/**
 * The facts about a failed call, for its classification. `words` is text of the provider: it is searched and never
 * passed on.
 */
interface Failure {
  status: number | undefined
  retryable: boolean
  words: string
  codes: string[]
  retryAfterSeconds?: number | undefined
}

/**
 * Converts any error of a provider's adapter to a ModelError. `provider` is the name that people know, `model` the
 * requested id.
 */
export function explainFailure(error: unknown, provider: string, model: string): ModelError {
  if (error instanceof ModelError) return error
  const onTheWay = egressErrorIn(error)
  if (onTheWay) return explainEgress(onTheWay, provider)
  const failure = readFailure(error)
  if (failure) return classify(failure, provider, model)
  return AISDKError.isInstance(error) ? badAnswer(provider) : withFramesOf(error, badAnswer(provider))
}

/**
 * Any other error is a defect, here or in an adapter. It keeps its stack so that the defect can be found. Its
 * message may quote anything.
 */
function withFramesOf(error: unknown, failure: ModelError): ModelError {
  const frames = error instanceof Error ? (error.stack ?? '').split('\n').filter((line) => /^ +at /.test(line)) : []
  failure.stack = [`${failure.name}: ${failure.message}`, ...frames].join('\n')
  return failure
}

function explainEgress({ reason }: EgressError, provider: string): ModelError {
  if (reason === 'timeout') return tookTooLong(provider)
  if (reason === 'protocol') return badAnswer(provider)
  if (['dns', 'connect', 'tls', 'lost'].includes(reason)) return unavailable(`${provider} cannot be reached right now.`)
  return new ModelError('refused', `${provider} is at an address that may not be reached from here.`)
}

/** The SDK wraps the errors of its fetch. */
function egressErrorIn(error: unknown): EgressError | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++)
    if (at instanceof EgressError) return at
  return undefined
}

export function badAnswer(provider: string): ModelError {
  return new ModelError('bad_answer', `${provider} gave no usable answer.`)
}

export function tookTooLong(provider: string): ModelError {
  return unavailable(`${provider} took too long to answer.`)
}

export function refused(provider: string): ModelError {
  return new ModelError('refused', `${provider} declined to answer this.`)
}

function unavailable(message: string, retryAfterSeconds?: number): ModelError {
  return new ModelError('unavailable', message, { retryable: true, retryAfterSeconds })
}

function classify({ status, retryable, words, codes, retryAfterSeconds }: Failure, provider: string, model: string): ModelError {
  const detail = describe(status, codes)
  // Google also sends RESOURCE_EXHAUSTED for the quota of a minute, which recovers; the quota of a day does not
  // recover soon enough.
  if (status === 402 || /insufficient_quota|credit balance|billing_error|billing_hard_limit|perday/.test(words)) {
    return new ModelError('quota_exceeded', `${provider} says that the quota or credit of the owner's key is used up.`)
  }
  if (status === 401 || status === 403 || /invalid_api_key|api_key_invalid|authentication_error|permission_error/.test(words)) {
    return new ModelError('unauthorized', `${provider} did not accept the owner's key${detail}.`)
  }
  if (status === 429 || /rate_limit|resource_exhausted/.test(words)) {
    return unavailable(`${provider} asks to slow down${detail}.`, retryAfterSeconds)
  }
  if (/content_policy|content_filter|safety_violation/.test(words)) return refused(provider)
  if (status === 404)
    return new ModelError('refused', `${provider} does not know the model “${model}”, or the key may not use it.`)
  const passing = status === undefined ? /overloaded|server_error|api_error|timeout/.test(words) : status >= 500
  if (retryable || passing) {
    return unavailable(`${provider} is not available right now${detail}.`, retryAfterSeconds)
  }
  if (status !== undefined && status >= 400) return new ModelError('refused', `${provider} refused the request${detail}.`)
  return badAnswer(provider)
}

function readFailure(error: unknown): Failure | undefined {
  if (APICallError.isInstance(error)) {
    const { statusCode: status, isRetryable: retryable, responseBody, responseHeaders } = error
    const words = `${error.message} ${responseBody ?? ''}`.toLowerCase()
    return { status, retryable, words, codes: codesIn(responseBody), retryAfterSeconds: retryAfter(responseHeaders) }
  }
  if (StreamProviderError.isInstance(error)) {
    const { statusCode: status, isRetryable: retryable, type, code, message } = error
    const codes = [code, type].filter((value) => typeof value === 'string')
    return { status, retryable, words: `${codes.join(' ')} ${message}`.toLowerCase(), codes }
  }
  return undefined
}

/** For the owner: the status and the provider's error code, which is a documented word and not a text. */
function describe(status: number | undefined, codes: string[]): string {
  const code = codes.find((value) => /^[a-z][a-z_]{2,59}$/.test(value))
  const parts = [...(status === undefined ? [] : [`status ${status}`]), ...(code ? [code] : [])]
  return parts.length > 0 ? ` (${parts.join(', ')})` : ''
}

function codesIn(body: string | undefined): string[] {
  try {
    const { code, status, type } = JSON.parse(body ?? '').error
    return [code, type, typeof status === 'string' ? status.toLowerCase() : undefined].filter(
      (value) => typeof value === 'string',
    )
  } catch {
    return []
  }
}

/** Retry-After (RFC 9110): seconds, or a date. */
function retryAfter(headers: Record<string, string> | undefined): number | undefined {
  const value = headers?.['retry-after']
  if (!value) return undefined
  const seconds = /^\d+$/.test(value) ? Number(value) : Math.ceil((Date.parse(value) - Date.now()) / 1_000)
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 1), maxRetryAfterSeconds) : undefined
}
