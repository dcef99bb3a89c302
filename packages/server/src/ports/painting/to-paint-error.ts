import { APICallError, NoImageGeneratedError, RetryError } from 'ai'
import { AnswerTooLarge } from './bounded-fetch.ts'
import { PaintError } from './paint-error.ts'

/**
 * Words by which OpenAI, Google and compatible services report that the quota is used up, or that a prompt is
 * rejected.
 */
const USED_UP = /insufficient_quota|billing|quota|RESOURCE_EXHAUSTED|credit balance/i
/** A temporary limit, although the sentence often goes on to mention billing. */
const TOO_FAST = /rate_limit_exceeded|per.?minute/i
const UNWANTED = /content_policy|moderation|safety|policy|blocked|IMAGE_SAFETY|PROHIBITED/i

/**
 * Converts an error to a PaintError with a message of this server. The provider's own text is classified and
 * dropped.
 */
export function toPaintError(error: unknown): PaintError {
  const cause = RetryError.isInstance(error) ? error.lastError : error
  if (APICallError.isInstance(cause))
    return fromAnswer(cause.statusCode, cause.responseBody ?? '', hasInside(cause, AnswerTooLarge))
  if (NoImageGeneratedError.isInstance(cause)) return fromNothing(cause)
  if (hasInside(cause, AnswerTooLarge)) return new PaintError('bad_result', 'The provider sent a picture that is too large.')
  if (hasName(cause, /TimeoutError|AbortError/)) return new PaintError('provider_unavailable', 'The provider took too long.')
  if (hasName(cause, /TypeValidation|JSONParse|InvalidResponseData|EmptyResponseBody|InvalidCharacter/)) return noPicture()
  if (hasName(cause, /LoadAPIKey|InvalidArgument|NoSuchModel|UnsupportedModel/))
    return new PaintError('provider_refused', 'The provider does not take this model or setting.')
  return new PaintError('provider_unavailable', 'The provider cannot be reached.')
}

function fromAnswer(status: number | undefined, body: string, tooLarge: boolean): PaintError {
  if (tooLarge) return new PaintError('bad_result', 'The provider sent a picture that is too large.', status)
  if (status === undefined) return new PaintError('provider_unavailable', 'The provider cannot be reached.')
  if (status < 400) return noPicture(status)
  if (status === 402 || ((status === 429 || status === 400 || status === 403) && USED_UP.test(body) && !TOO_FAST.test(body))) {
    return new PaintError('quota_exceeded', "The provider's quota for this key is used up.", status)
  }
  if (status === 429) return new PaintError('provider_unavailable', 'The provider takes no more requests just now.', status)
  if (status >= 500 || status === 408) return new PaintError('provider_unavailable', 'The provider is in trouble.', status)
  if (status === 401 || status === 403) return new PaintError('provider_refused', 'The provider did not accept the key.', status)
  if (UNWANTED.test(body)) return new PaintError('provider_refused', 'The provider declined to paint this prompt.', status)
  return new PaintError('provider_refused', 'The provider refused the request.', status)
}

function fromNothing({ calls }: NoImageGeneratedError): PaintError {
  const said = JSON.stringify(calls?.map(({ providerMetadata }) => providerMetadata) ?? [])
  return UNWANTED.test(said) ? new PaintError('provider_refused', 'The provider declined to paint this prompt.') : noPicture()
}

function noPicture(status?: number): PaintError {
  return new PaintError('bad_result', 'The provider answered, but not with a picture.', status)
}

function hasName(error: unknown, names: RegExp): boolean {
  return inside(error).some((one) => names.test(one.name))
}

function hasInside(error: unknown, kind: typeof AnswerTooLarge): boolean {
  return inside(error).some((one) => one instanceof kind)
}

/** The error and its causes, a few steps deep. */
function inside(error: unknown): Error[] {
  const found: Error[] = []
  for (let one = error; one instanceof Error && found.length < 5; one = one.cause) found.push(one)
  return found
}
