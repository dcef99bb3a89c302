import type { Answer } from './call-api.ts'

/** The part of an answer by which two refusals could be told apart: all of it except what is new each time. */
export function faceOf({ status, headers, text }: Answer): unknown {
  const { date: _date, 'x-request-id': id, ...rest } = headers
  return { status, rest, text: typeof id === 'string' ? text.replaceAll(id, 'req_') : text }
}
