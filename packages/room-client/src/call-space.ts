import { isJsonObject, type JsonObject } from '@atrium/contract/strict-json'
import { type RoomIdentity, signProof } from './identity.ts'
import { isTransient, longestTimerMs, retryAfterSecondsOf, wait, type Wait, withRetries } from './retry.ts'
import { SpaceCallError } from './space-call-error.ts'
import type { AnswerOf, RequestOf, SpaceOp } from './space-ops.ts'

const defaultTimeoutMs = 10_000
/** Larger than the largest room of 64 MiB. */
const sealedExtraMs = 110_000

const mebibyte = 1024 * 1024
/**
 * The limits of an answer. A page of a poll has 2 MiB of sealed lines; a room has 64 MiB, and JSON escapes add to
 * that.
 */
const maxAnswerBytes = 16 * mebibyte
const maxSealedBytes = 96 * mebibyte

export interface SpaceEndpoint {
  /** The Space endpoint, such as https://api.example/v1/space. */
  url: string
  /** A replacement for the global fetch. */
  fetch?: typeof globalThis.fetch | undefined
  /** Headers of every call. */
  headers?: Record<string, string>
}

export interface CallOptions {
  /**
   * The identity of the caller. A function is called before each attempt, so that a token can be renewed. `sealed` and
   * `attest` do not send it.
   */
  identity?: RoomIdentity | (() => RoomIdentity | undefined | Promise<RoomIdentity | undefined>) | undefined
  /** Signs a request to a room whose lines the clients seal. Called before each attempt: a signature is valid for minutes. */
  sign?: ((request: { op: SpaceOp; room: string }) => Promise<string>) | undefined
  /**
   * Time limit of one attempt with its body, in milliseconds, in addition to `waitMs`. Default 10,000; `sealed` gets
   * 110,000 more.
   */
  timeoutMs?: number | undefined
  /** The number of retries when the service cannot be reached or is overloaded. Default 0. */
  retries?: number
  /** Waits between attempts; for tests. */
  wait?: Wait
  /** Called immediately before an attempt is sent. If it throws, nothing is sent. */
  beforeSend?: (() => void) | undefined
  signal?: AbortSignal | undefined
}

/**
 * Sends one request to the Space endpoint. Most ops can safely be repeated, a turn because of its client_id. The repeat
 * of a `create` or `make` that took effect fails with 409, and that of a `remove` with 404.
 *
 * Throws SpaceCallError; when `signal` aborts, the signal's reason; and what `identity` or `beforeSend` throws.
 */
export async function callSpace<Op extends SpaceOp>(
  endpoint: SpaceEndpoint,
  request: RequestOf<Op> & { op: Op },
  options: CallOptions = {},
): Promise<AnswerOf<Op>> {
  const attempt = async () => {
    const fields: AnyRequest = request
    const { sign } = options
    const identified = { ...request, ...(await identityFields(request, options.identity)) }
    // The signature covers the proof, and the proof does not cover the signature.
    const signature = sign && fields.room !== undefined ? await sign({ ...identified, room: fields.room }) : undefined
    const body = JSON.stringify({ ...identified, signature })
    const timeoutMs = (options.timeoutMs ?? defaultTimeoutMs) + extraMs(request)
    const maxBytes = request.op === 'sealed' ? maxSealedBytes : maxAnswerBytes
    const isAnswer = request.op === 'read' ? isLinePage : isJsonObject
    return (await send(endpoint, body, { timeoutMs, maxBytes, isAnswer }, options)) as AnswerOf<Op>
  }
  return withRetries(attempt, {
    retries: options.retries ?? 0,
    mayRetry: isTransient,
    signal: options.signal,
    wait: options.wait ?? wait,
  })
}

type AnyRequest = { op: SpaceOp; room?: string; waitMs?: number | undefined }

function extraMs({ op, waitMs = 0 }: AnyRequest): number {
  return op === 'sealed' ? sealedExtraMs : waitMs
}

/** A new proof for each attempt, because a proof is valid for only five minutes. */
async function identityFields(request: AnyRequest, identity: CallOptions['identity']) {
  const { op, room } = request
  if (op === 'sealed' || op === 'attest' || room === undefined) return {}
  const shown = typeof identity === 'function' ? await identity() : identity
  if (!shown) return {}
  const { idToken, spk, sign } = shown
  return { idToken, spk, proof: sign && (await signProof({ ...request, room }, sign)) }
}

async function send(
  { url, fetch = globalThis.fetch, headers }: SpaceEndpoint,
  body: string,
  { timeoutMs, maxBytes, isAnswer }: { timeoutMs: number; maxBytes: number; isAnswer: (answer: unknown) => boolean },
  { beforeSend, signal }: CallOptions,
): Promise<unknown> {
  const timeout = AbortSignal.timeout(Math.min(timeoutMs, longestTimerMs))
  beforeSend?.()
  let res: Response
  let text: string | undefined
  try {
    res = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      // The endpoint never redirects. Following a redirect could send a room key to another origin. Not 'error': with
      // it, fetch of Node 20 can lose the signal after the headers have arrived. An answer that does not end would
      // then have no time limit.
      redirect: 'manual',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
    })
    text = await readText(res, maxBytes)
  } catch (cause) {
    signal?.throwIfAborted()
    const message = timeout.aborted ? `No answer within ${timeoutMs} ms` : 'The server could not be reached'
    throw new SpaceCallError({ status: 0, error: 'network_error', message, cause })
  }
  // A browser hides the status and the address of a redirect.
  if (res.type === 'opaqueredirect' || (res.status >= 300 && res.status < 400))
    throw unexpectedAnswer(res, 'with a redirect, which is not followed: call the address that it leads to')
  if (text === undefined) throw unexpectedAnswer(res, `with more than ${maxBytes} bytes`)
  if (!res.ok) throw errorOfAnswer(res, text)
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch (cause) {
    throw unexpectedAnswer(res, 'with broken JSON', cause)
  }
  if (!isAnswer(answer)) throw unexpectedAnswer(res, 'in another form than that of the op')
  return answer
}

/** A reader takes nothing else: what it says of a page must be about lines, and another page may come. */
function isLinePage(answer: unknown): boolean {
  const { lines, count, etag } = isJsonObject(answer) ? answer : {}
  return (
    Array.isArray(lines) &&
    lines.every((line) => typeof line === 'string') &&
    Number.isSafeInteger(count) &&
    typeof etag === 'string'
  )
}

/** undefined if it is longer: bytes beyond the limit are not read. */
async function readText(res: Response, maxBytes: number): Promise<string | undefined> {
  const reader = res.body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const chunk = await reader?.read()
    if (!chunk || chunk.done) return text + decoder.decode()
    bytes += chunk.value.length
    if (bytes > maxBytes) {
      await reader?.cancel().catch(() => undefined)
      return undefined
    }
    text += decoder.decode(chunk.value, { stream: true })
  }
}

function unexpectedAnswer({ status, headers }: Response, how: string, cause?: unknown): SpaceCallError {
  const message = `The server answered ${status} ${how}`
  return new SpaceCallError({
    status,
    error: 'unexpected_answer',
    message,
    headers,
    retryAfterSeconds: retryAfterSecondsOf(headers),
    cause,
  })
}

/** The error of a response: flat from the Space service, or in the envelope of the API in front of it. */
function errorOfAnswer(res: Response, text: string): SpaceCallError {
  const { status, headers } = res
  const answer = { status, headers, retryAfterSeconds: retryAfterSecondsOf(headers) }
  const { error, reason } = membersOf(text)
  if (typeof error === 'string') {
    const why = textOf(reason)
    return new SpaceCallError({ ...answer, error, reason: why, message: why ? `${error}: ${why}` : error })
  }
  const { code, message, reason: why } = isJsonObject(error) ? error : {}
  if (typeof code === 'string')
    return new SpaceCallError({ ...answer, error: code, reason: textOf(why), message: textOf(message) ?? code })
  return unexpectedAnswer(res, 'without an error code')
}

function membersOf(json: string): JsonObject {
  try {
    const value: unknown = JSON.parse(json)
    return isJsonObject(value) ? value : {}
  } catch {
    // The body is a proxy's page or empty, so only the status is reported.
    return {}
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
