import { AtriumError } from '@atrium/client/atrium-error'
import { isWithin } from '../components/field-errors.ts'

/** What a page says about a failed call. */
interface Failure {
  message: string
  code: string | undefined
  requestId: string | undefined
  docUrl: string | undefined
}

/** `shown`: the paths of the fields that show their part of the error themselves. */
export function failureOf(error: unknown, shown: ReadonlySet<string> = new Set()): Failure {
  if (!(error instanceof AtriumError))
    return { message: 'Something in this page failed. Reload it.', code: undefined, requestId: undefined, docUrl: undefined }
  // The page of the error is shown from this origin, wherever the documentation says it is.
  const docUrl = error.docUrl === undefined ? undefined : `/docs/errors/${error.code}`
  return { message: messageOf(error, shown), code: error.code, requestId: error.requestId, docUrl }
}

function messageOf({ message, details }: AtriumError, shown: ReadonlySet<string>): string {
  const others = details.filter(({ path }) => ![...shown].some((one) => isWithin(one, path)))
  if (details.length > 0 && others.length === 0) return 'This was not accepted. The marked field says why.'
  const texts = details.map((detail) => textOf(detail))
  // The error of one field has its detail as the message too.
  const first = texts.includes(message) ? [] : [message]
  return [...first, ...others.map((detail) => textOf(detail))].join(' · ')
}

function textOf({ path, message }: AtriumError['details'][number]): string {
  return path === '' ? message : `${path}: ${message}`
}
