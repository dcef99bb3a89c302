import { errorOfAnswer, makeError } from './error-of-answer.ts'

/** How requests get out. */
export interface Transport {
  fetch: typeof globalThis.fetch
  /** How long one try may take, its body included. */
  timeoutMs: number
}

/** What is sent: made once, so that each try sends the same bytes. */
export interface HttpRequest {
  url: string
  method: string
  headers: Record<string, string>
  body?: string
}

export interface HttpAnswer {
  res: Response
  bytes: Uint8Array<ArrayBuffer>
}

/** Sends it once. Throws AtriumError, or the signal's reason when that aborts. */
export async function send(request: HttpRequest, transport: Transport, signal: AbortSignal | undefined): Promise<HttpAnswer> {
  const { url, ...init } = request
  // Taken out first: a browser's fetch refuses to be called as a method of something else.
  const { fetch, timeoutMs } = transport
  const timeout = AbortSignal.timeout(timeoutMs)
  let answer: HttpAnswer
  try {
    const res = await fetch(url, {
      ...init,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      // No redirect is ever answered; following one could carry a token elsewhere.
      redirect: 'error',
      credentials: 'omit',
    })
    answer = { res, bytes: new Uint8Array(await res.arrayBuffer()) }
  } catch (cause) {
    if (signal?.aborted) throw signal.reason
    const message = timeout.aborted ? `No answer within ${timeoutMs} ms` : 'The server could not be reached'
    throw makeError({ status: 0, code: 'network_error', message, cause })
  }
  const { res, bytes } = answer
  if (!res.ok && res.status !== 304) throw errorOfAnswer(res, new TextDecoder().decode(bytes))
  return answer
}

/** The JSON of an answer. Throws UnexpectedAnswerError where it is none. */
export function jsonOf({ res, bytes }: HttpAnswer): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch (cause) {
    const { status } = res
    throw makeError({ status, code: 'unexpected_answer', message: `The server answered ${status} with broken JSON`, cause })
  }
}
