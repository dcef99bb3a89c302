import { Readable } from 'node:stream'
import type { Agent, Dispatcher } from 'undici'
import { parseUrl } from './check-url.ts'
import { startDeadline, type Deadline } from './deadline.ts'
import { EgressError } from './egress-error.ts'
import type { EgressMode } from './host-rule.ts'
import { asEgressError, openAnswer } from './open-answer.ts'

export interface FetchLimits {
  /** The time limit until the last byte of the answer, including a stream. */
  timeoutMs: number
  /** The largest answer. Beyond this size, its stream fails. */
  maxAnswerBytes: number
}

type Fetch = typeof globalThis.fetch

/**
 * A WHATWG fetch over the guarded agent. It uses undici's `request` and not its fetch, which would accept another
 * dispatcher from the caller's init, follow redirects and decompress answers. Only the members of a Request are
 * taken from init.
 */
export function guardedFetch(agent: Agent, mode: EgressMode, limits: FetchLimits): Fetch {
  return async (input, init) => {
    const url = parseUrl(input instanceof Request ? input.url : String(input), mode)
    // Request only parses method, headers and body as the standard requires; it sends nothing.
    const request = new Request(input, { ...init, redirect: 'manual', duplex: 'half' })
    const deadline = startDeadline(limits.timeoutMs, init?.signal ?? (input instanceof Request ? input.signal : undefined))
    try {
      const body = await deadline.race(outgoingBody(request, init?.body))
      const answer = await openAnswer(agent, { method: request.method, url, headers: request.headers, body }, deadline)
      // The caller may never read the answer to its end.
      deadline.unref()
      answer.body.once('close', () => deadline.clear())
      return toResponse(answer, request, deadline, limits)
    } catch (error) {
      deadline.clear()
      throw asEgressError(error, deadline)
    }
  }
}

/** Only a stream is sent chunked, because many servers require Content-Length. */
async function outgoingBody(request: Request, given: unknown): Promise<Uint8Array | Readable | null> {
  if (!request.body) return null
  if (given instanceof ReadableStream) return Readable.fromWeb(request.body)
  return new Uint8Array(await request.arrayBuffer())
}

function toResponse(
  answer: Dispatcher.ResponseData,
  request: Request,
  deadline: Deadline,
  { maxAnswerBytes }: FetchLimits,
): Response {
  const { statusCode: status, statusText, body } = answer
  // Errors are reported by the stream of the answer.
  body.on('error', () => undefined)
  try {
    if ((answer.headers['content-encoding'] ?? 'identity') !== 'identity')
      throw invalidAnswer('is compressed, though that was not asked for')
    const bodiless = request.method === 'HEAD' || [204, 205, 304].includes(status)
    const stream = bodiless ? null : answerStream(body, deadline, maxAnswerBytes)
    if (bodiless) body.resume()
    const response = new Response(stream, { status, statusText, headers: answerHeaders(answer.headers) })
    return Object.defineProperty(response, 'url', { value: request.url })
  } catch (error) {
    body.destroy()
    // Response rejects some statuses and some bytes that a server can send.
    throw error instanceof EgressError ? error : invalidAnswer('has a head that is not valid', error)
  }
}

function answerStream(body: Readable, deadline: Deadline, maxBytes: number): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let size = 0
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    try {
      const { done, value } = await chunks.next()
      if (done) return controller.close()
      size += value.length
      if (size > maxBytes) throw invalidAnswer(`has more than ${maxBytes} bytes`)
      controller.enqueue(value)
    } catch (error) {
      body.destroy()
      controller.error(asEgressError(error, deadline))
    }
  }
  return new ReadableStream({ pull, cancel: () => void body.destroy() }, { highWaterMark: 0 })
}

function answerHeaders(headers: Dispatcher.ResponseData['headers']): Headers {
  const pairs = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  )
  return new Headers(pairs)
}

function invalidAnswer(what: string, cause?: unknown): EgressError {
  return new EgressError('protocol', `The answer ${what}.`, { cause })
}
