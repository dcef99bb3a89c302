import { longestTimerMs } from '@atrium/room-client/retry'
import { errorOfAnswer, makeError } from './error-of-answer.ts'

/** How requests are sent. */
export interface Transport {
  fetch: typeof globalThis.fetch
  /** The time limit of one attempt including its body, in milliseconds. The body of a stream is not included. */
  timeoutMs: number
}

/** A request, built once so that each attempt sends the same bytes. */
export interface HttpRequest {
  url: string
  method: string
  headers: Record<string, string>
  body?: string
}

export interface HttpAnswer {
  res: Response
  bytes: Uint8Array<ArrayBuffer>
  /** The body of a stream, which is read while it arrives; `bytes` is then empty. */
  stream?: ReadableStream<Uint8Array<ArrayBuffer>>
}

/** Answers that are read while they arrive: event streams and exports. */
const streamed = /^(?:text\/event-stream|application\/x-ndjson)\b/

/** Sends a request once. Throws AtriumError, or the signal's reason when it aborts. */
export async function send(request: HttpRequest, transport: Transport, signal: AbortSignal | undefined): Promise<HttpAnswer> {
  const { url, ...init } = request
  // Destructured, because a browser's fetch must not be called as a method of another object.
  const { fetch, timeoutMs } = transport
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(), Math.min(timeoutMs, longestTimerMs))
  let answer: HttpAnswer
  try {
    const res = await fetch(url, {
      ...init,
      signal: signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal,
      // The API never redirects. Following a redirect could send a token to another origin.
      redirect: 'manual',
      credentials: 'omit',
    })
    if (res.ok && res.body && streamed.test(res.headers.get('content-type') ?? ''))
      return { res, bytes: new Uint8Array(), stream: res.body }
    answer = { res, bytes: new Uint8Array(await res.arrayBuffer()) }
  } catch (cause) {
    if (signal?.aborted) throw signal.reason
    const message = timeout.signal.aborted ? `No answer within ${timeoutMs} ms` : unreachable(url, cause)
    throw makeError({ status: 0, code: 'network_error', message, cause })
  } finally {
    clearTimeout(timer)
  }
  const { res, bytes } = answer
  if (!res.ok && res.status !== 304) throw errorOfAnswer(res, new TextDecoder().decode(bytes))
  return answer
}

/** Names the origin alone, because a path may contain what others should not read. */
function unreachable(url: string, cause: unknown): string {
  const origin = URL.canParse(url) ? new URL(url).origin : 'The server'
  // Node has the reason in the cause of its error. A page learns none.
  const { code, message } = ((cause instanceof Error ? cause.cause : undefined) as { code?: string; message?: string }) ?? {}
  // The message of an error of undici says more than its code.
  const reason = code?.startsWith('UND_') ? message : (code ?? message)
  return `${origin} could not be reached${reason ? `: ${reason}` : ''}`
}

/** Parses the JSON of an answer. Throws UnexpectedAnswerError for invalid JSON. */
export function jsonOf({ res, bytes }: HttpAnswer): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch (cause) {
    const { status } = res
    const type = res.headers.get('content-type') ?? 'a body without a type'
    const what = /\bjson\b/.test(type) ? 'broken JSON' : `${type} in place of JSON: is the base URL right?`
    throw makeError({ status, code: 'unexpected_answer', message: `The server answered ${status} with ${what}`, cause })
  }
}
