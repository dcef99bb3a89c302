import { limits } from '@atrium/contract/limits'
import { ApiError } from '#errors/api-error.ts'
import type { OpenUploads } from './store.ts'

/** Some will be complete by then. */
const retryAfterSeconds = 60
const gibibyte = 1024 ** 3

/** Throws where the tenant, or the collection, has as many uploads under way as it may, so that what is never completed cannot fill the store. */
export function assertRoom(open: OpenUploads, bytes: number): void {
  const { openUploads, openUploadBytes, openUploadsInCollection } = limits
  if (open.inCollection >= openUploadsInCollection) throw full(`This collection has ${openUploadsInCollection} uploads`)
  if (open.count >= openUploads) throw full(`Your account has ${openUploads} uploads`)
  if (open.bytes + bytes > openUploadBytes)
    throw full(`With this one, your account would have uploads of more than ${openUploadBytes / gibibyte} GiB`)
}

function full(what: string): ApiError {
  const message = `${what} under way. Complete or delete some, or wait until they expire.`
  return new ApiError('rate_limited', { message, retryAfterSeconds })
}
