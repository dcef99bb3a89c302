import { AtriumError } from '@atrium/client/atrium-error'

/** What a page says about a failed call. */
interface Failure {
  message: string
  code: string | undefined
  requestId: string | undefined
  docUrl: string | undefined
}

export function failureOf(error: unknown): Failure {
  if (!(error instanceof AtriumError))
    return { message: 'Something in this page failed. Reload it.', code: undefined, requestId: undefined, docUrl: undefined }
  const details = error.details.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  const message = [error.message, ...details].join(' · ')
  // The page of the error is shown from this origin, wherever the documentation says it is.
  const docUrl = error.docUrl === undefined ? undefined : `/docs/errors/${error.code}`
  return { message, code: error.code, requestId: error.requestId, docUrl }
}
