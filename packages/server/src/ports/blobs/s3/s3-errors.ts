import { BlobError } from '../blobs.ts'

export function isMissing(error: unknown): boolean {
  const { name, $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } }
  return $metadata?.httpStatusCode === 404 && name !== 'NoSuchBucket'
}

/** A precondition of the request failed. */
export function isUnmatched(error: unknown): boolean {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode === 412
}

/** Rejected credentials and a missing bucket are `unavailable` too, because no API caller can fix them. */
export function asBlobError(error: unknown): BlobError {
  if (error instanceof BlobError) return error
  if (isMissing(error)) return new BlobError('not_found', 'no such blob', { cause: error })
  const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode
  if (status === 416) return new BlobError('invalid_range', 'the range lies outside the blob', { cause: error })
  return new BlobError('unavailable', 'the object storage cannot be used', { cause: error })
}
