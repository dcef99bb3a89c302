import { BlobError } from '../blobs.ts'

export function isMissing(error: unknown): boolean {
  const { name, $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } }
  return $metadata?.httpStatusCode === 404 && name !== 'NoSuchBucket'
}

/** Refused credentials and a missing bucket too are `unavailable`: nothing that a caller of ours could mend. */
export function asBlobError(error: unknown): BlobError {
  if (error instanceof BlobError) return error
  if (isMissing(error)) return new BlobError('not_found', 'no such blob', { cause: error })
  const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode
  if (status === 416) return new BlobError('invalid_range', 'the range lies outside the blob', { cause: error })
  return new BlobError('unavailable', 'the object storage cannot be used', { cause: error })
}
