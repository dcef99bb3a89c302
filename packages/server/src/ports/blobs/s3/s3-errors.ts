import { fieldOf } from '#errors/caught.ts'
import { BlobError } from '../blobs.ts'

export function isMissing(error: unknown): boolean {
  return statusOf(error) === 404 && fieldOf(error, 'name') !== 'NoSuchBucket'
}

/** The HTTP status of the store's response, from an error of the SDK. */
export function statusOf(error: unknown): unknown {
  return fieldOf(fieldOf(error, '$metadata'), 'httpStatusCode')
}

/** Whether a precondition of the request failed. */
export function isUnmatched(error: unknown): boolean {
  return statusOf(error) === 412
}

/** Rejected credentials and a missing bucket are `unavailable` too, because no API caller can fix them. */
export function asBlobError(error: unknown): BlobError {
  if (error instanceof BlobError) return error
  if (isMissing(error)) return new BlobError('not_found', 'no such blob', { cause: error })
  const status = statusOf(error)
  if (status === 416) return new BlobError('invalid_range', 'the range lies outside the blob', { cause: error })
  return new BlobError('unavailable', 'the object storage cannot be used', { cause: error })
}
