import assert from 'node:assert/strict'
import { test } from 'node:test'
import pino from 'pino'
import { AccessLog } from './access-log.ts'

/** The lines for one answer: that of the access log, and that of the general logger with the same fields. */
function linesFor({ operation, traceId }: { operation?: string; traceId?: string }): { line: string; general: string } {
  const output = { lines: [] as string[], write: (line: string) => void output.lines.push(line) }
  const time = ',"time":"2026-11-22T10:00:00.000Z"'
  const answer = { method: 'GET', operation, status: 200 }
  const request_id = 'req_0000000000000000000000'
  new AccessLog({ output, prefix: () => `{"level":30${time},"pid":7` }).answered({
    ...answer,
    ms: 1.2345,
    requestId: request_id,
    traceId,
  })
  const traced = traceId === undefined ? {} : { trace_id: traceId }
  pino({ base: { pid: 7 }, timestamp: () => time }, output).info({ ...answer, ms: 1.2, request_id, ...traced }, 'answered')
  const [line = '', general = ''] = output.lines
  return { line, general }
}

for (const fields of [{}, { operation: 'getCollection' }, { operation: 'getCollection', traceId: 'a'.repeat(32) }])
  test(`access log: a line is that of the general logger, with ${Object.keys(fields).join(' and ') || 'no operation'}`, () => {
    const { line, general } = linesFor(fields)
    assert.equal(line, general)
  })
