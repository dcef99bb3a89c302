import type { AnswerSpec, Operation, Warning } from '@atrium/contract/operation'
import fastJsonStringify from '#libraries/fast-json-stringify.js'
import type { SentAnswer } from './idempotency/claim.ts'

/** A handler's answer, whatever the operation. */
export interface Answer {
  status: number
  data?: unknown
  nextCursor?: string | undefined
  headers?: Record<string, string>
  /**
   * Whether the answer has an ETag. A text: the ETag is computed from it, because the body differs each time in
   * irrelevant parts.
   */
  etag?: boolean | string
  /** Accepted input that looks like a mistake. Only for operations whose contract declares warnings. */
  warnings?: Warning[]
}

/**
 * The serialisers of an operation's answers, each compiled on first use. Fields that the contract does not declare are
 * dropped, so a handler cannot leak them.
 */
export function lazyAnswers(op: Operation): (answer: Answer) => SentAnswer {
  const byStatus = new Map<number, (answer: Answer) => string>()
  return (answer) => {
    const { status } = answer
    let serialise = byStatus.get(status)
    if (!serialise) {
      const spec = op.answers[status]
      if (!spec) throw new Error(`${op.id} answered ${status}, which its contract does not declare`)
      serialise = compileAnswer(spec)
      byStatus.set(status, serialise)
    }
    return { status, body: serialise(answer) }
  }
}

function compileAnswer(spec: AnswerSpec): (answer: Answer) => string {
  if (spec.raw === 'text/html') return ({ data }) => String(data)
  if (spec.raw) return ({ data }) => JSON.stringify(data)
  if (!spec.data) return () => ''
  const warning = { type: 'object', properties: { path: { type: 'string' }, message: { type: 'string' } } }
  const meta = {
    type: 'object',
    properties: { next_cursor: { type: 'string' }, warnings: { type: 'array', items: warning } },
  }
  const stringify = fastJsonStringify({
    type: 'object',
    properties: { data: plain(spec.data), ...(spec.paged || spec.warns ? { meta } : {}) },
  } as Parameters<typeof fastJsonStringify>[0])
  if (spec.warns) {
    return ({ data, warnings = [] }) => stringify(warnings.length === 0 ? { data } : { data, meta: { warnings } })
  }
  if (!spec.paged) return ({ data }) => stringify({ data })
  return ({ data, nextCursor }) => stringify({ data, meta: nextCursor === undefined ? {} : { next_cursor: nextCursor } })
}

/** The schema without TypeBox's symbols, and without formats, because the serialiser would reformat dates. */
function plain(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (name, value: unknown) => (name === 'format' ? undefined : value)) as object
}
