import type { AnswerSpec, Operation } from '@atrium/contract/operation'
import fastJsonStringify from 'fast-json-stringify'
import type { SentAnswer } from './idempotency/claim.ts'

/** A handler's answer, whatever the operation. */
export interface Answer {
  status: number
  data?: unknown
  nextCursor?: string | undefined
  headers?: Record<string, string>
  /** Whether the answer has an ETag; a text: of this, for a body that differs each time in what does not matter. */
  etag?: boolean | string
}

/**
 * Compiles the serialisers of an operation's answers. Fields that the contract does not declare are dropped, so a
 * handler cannot leak them.
 */
export function compileAnswers(op: Operation): (answer: Answer) => SentAnswer {
  const byStatus = new Map(Object.entries(op.answers).map(([status, spec]) => [Number(status), compileAnswer(spec)]))
  return (answer) => {
    const serialise = byStatus.get(answer.status)
    if (!serialise) throw new Error(`${op.id} answered ${answer.status}, which its contract does not declare`)
    return { status: answer.status, body: serialise(answer) }
  }
}

function compileAnswer(spec: AnswerSpec): (answer: Answer) => string {
  if (spec.raw === 'text/html') return ({ data }) => String(data)
  if (spec.raw) return ({ data }) => JSON.stringify(data)
  if (!spec.data) return () => ''
  const meta = { type: 'object', properties: { next_cursor: { type: 'string' } } }
  const stringify = fastJsonStringify({
    type: 'object',
    properties: { data: plain(spec.data), ...(spec.paged ? { meta } : {}) },
  } as Parameters<typeof fastJsonStringify>[0])
  if (!spec.paged) return ({ data }) => stringify({ data })
  return ({ data, nextCursor }) => stringify({ data, meta: nextCursor === undefined ? {} : { next_cursor: nextCursor } })
}

/** The schema without TypeBox's symbols, and without formats, because the serialiser would reformat dates. */
function plain(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (name, value: unknown) => (name === 'format' ? undefined : value)) as object
}
