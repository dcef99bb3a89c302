import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { InvalidRecord } from '@atrium/sealing/invalid-record'
import { isPassing } from '@atrium/traffic/database-errors'
import { OutcomeUnknown, Overloaded } from '@atrium/traffic/overloaded'
import { inPieces, onceOver, pieceBytes, type UnreadAnswers } from '@atrium/traffic/unread-answers'
import type { StreamedAnswer } from '../ops/streamed-answer.ts'
import { DamagedRoom, SpaceError, tooManyUnread } from '../space-error.ts'

const jsonHeaders = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Retry-After',
  'x-content-type-options': 'nosniff',
}

/** Answers up to this size are sent at once, and are not counted. */
const smallBytes = pieceBytes

/** Sends JSON that must not be cached. Any origin may read it, never with credentials. */
export function sendJson(res: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  if (res.destroyed || res.headersSent) return
  const text = JSON.stringify(body)
  res.writeHead(status, { ...jsonHeaders, 'content-length': Buffer.byteLength(text), ...headers })
  res.end(text)
}

/** Answers 200 with JSON of any size. Throws SpaceError when too many large answers wait to be read. */
export async function sendAnswer(res: ServerResponse, body: object, unread: UnreadAnswers, reader: string): Promise<void> {
  if (res.destroyed || res.headersSent) return
  const text = JSON.stringify(body)
  const bytes = Buffer.from(text)
  const isSmall = text.length <= smallBytes
  if (!isSmall && !unread.take(res, bytes.length, reader)) throw tooManyUnread()
  res.writeHead(200, { ...jsonHeaders, 'content-length': bytes.length })
  if (isSmall) res.end(text)
  else await sendBytes(res, bytes)
}

/** Sends an answer while it is produced. An error in the middle can only be signalled by closing the connection. */
export async function sendStreamed(
  res: ServerResponse,
  { parts }: StreamedAnswer,
  unread: UnreadAnswers,
  reader: string,
): Promise<void> {
  const { pieces, bytesHeld, release, cut } = parts
  try {
    if (res.destroyed) return
    if (!unread.take(res, bytesHeld, reader)) throw tooManyUnread()
    res.writeHead(200, jsonHeaders)
    cut.addEventListener('abort', () => res.req.socket.resetAndDestroy(), { once: true })
    if (cut.aborted) res.destroy()
    for await (const piece of pieces) if (!(await written(res, piece))) return
    res.end()
  } catch (error) {
    if (res.headersSent) res.destroy()
    unlessOurs(error)
  } finally {
    release()
  }
}

/** Whether the chunk was sent; only then may its memory be reused. */
function written(res: ServerResponse, piece: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    if (res.destroyed || res.req.socket.destroyed) return resolve(false)
    const off = onceOver(res, () => resolve(false))
    res.write(piece, (error) => {
      off()
      resolve(!error)
    })
  })
}

/** Sends the rest of an answer whose head is written, chunk by chunk. */
export async function sendBytes(res: ServerResponse, bytes: Uint8Array): Promise<void> {
  if (bytes.length <= pieceBytes) res.end(bytes)
  else await pipeline(inPieces(bytes), res).catch(unlessOurs)
}

/**
 * A client that disconnects, or is disconnected, is not an error. Neither is a room that is removed while it is
 * sent.
 */
function unlessOurs(error: unknown): void {
  const { code } = error as NodeJS.ErrnoException
  if (
    (error instanceof SpaceError && error.error === 'not_found') ||
    ['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE', 'ABORT_ERR'].includes(code ?? '')
  )
    return
  throw error
}

/** Answers a thrown error. An internal error is logged without any data of the caller. */
export function sendError(res: ServerResponse, error: unknown, log: (line: string) => void): string {
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
  return name
}

function asSpaceError(error: unknown): SpaceError | undefined {
  if (error instanceof SpaceError) return error
  if (error instanceof InvalidRecord) return new SpaceError('invalid_request', error.message)
  if (error instanceof Overloaded) return new SpaceError('unavailable', error.message, error.retryAfterSeconds)
  if (error instanceof OutcomeUnknown) return new SpaceError('unavailable', 'outcome_unknown', error.retryAfterSeconds)
  return isPassing(error) ? new SpaceError('unavailable', 'the database cannot be reached', 1) : undefined
}

/** The kind and place of an internal error. Its message is left out, because a database quotes values in it. */
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
