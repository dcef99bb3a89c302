import type { Answer } from './call-api.ts'

/** What must not tell two refusals apart: all of an answer but what is new each time. */
export function faceOf({ status, headers, text }: Answer): unknown {
  const { date: _date, 'x-request-id': id, ...rest } = headers
  return { status, rest, text: typeof id === 'string' ? text.replaceAll(id, 'req_') : text }
}
