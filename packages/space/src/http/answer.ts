import type { ServerResponse } from 'node:http'
import { InvalidRecord } from '@atrium/sealing/invalid-record'
import { isPassing } from '@atrium/traffic/database-errors'
import { OutcomeUnknown, Overloaded } from '@atrium/traffic/overloaded'
import { DamagedRoom, SpaceError } from '../space-error.ts'

/** Answers JSON that no cache keeps; any origin may read it, never with credentials. */
export function sendJson(res: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  if (res.destroyed || res.headersSent) return
  const text = JSON.stringify(body)
  res.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'Retry-After',
    'x-content-type-options': 'nosniff',
    ...headers,
  })
  res.end(text)
}

/** Answers what was thrown. Faults of ours are said in the log, without anything that a caller sent. */
export function sendError(res: ServerResponse, error: unknown, log: (line: string) => void): void {
  const known = asSpaceError(error)
  if (!known) log(error instanceof DamagedRoom ? error.message : `request failed: ${plainFault(error)}`)
  const {
    status,
    error: name,
    reason,
    retryAfterSeconds,
  } = known ?? new SpaceError('internal_error', error instanceof DamagedRoom ? 'damaged' : 'fault')
  sendJson(
    res,
    status,
    { error: name, reason },
    retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
  )
}

function asSpaceError(error: unknown): SpaceError | undefined {
  if (error instanceof SpaceError) return error
  if (error instanceof InvalidRecord) return new SpaceError('invalid_request', error.message)
  if (error instanceof Overloaded) return new SpaceError('unavailable', error.message, error.retryAfterSeconds)
  if (error instanceof OutcomeUnknown) return new SpaceError('unavailable', 'outcome_unknown', error.retryAfterSeconds)
  return isPassing(error) ? new SpaceError('unavailable', 'the database cannot be reached', 1) : undefined
}

/** The kind and place of a fault. Not its message: a database quotes values in it. */
function plainFault(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const { code } = error as { code?: unknown }
  const place =
    error.stack
      ?.split('\n')
      .find((line) => line.includes(' at '))
      ?.trim() ?? ''
  return [error.name, typeof code === 'string' ? code : '', place].filter(Boolean).join(' ')
}
