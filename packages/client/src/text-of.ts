import { makeError } from './error-of-answer.ts'

/** The server always sends something in less than this time: a comment every 15 seconds, or a part of an export. */
const silenceMs = 45_000

/**
 * Yields the text of a stream as it arrives. Ends when the connection has ended, broken or been silent for too long, or the
 * signal aborts. A reader that stops early ends the request.
 */
export async function* textOf(body: unknown, signal: AbortSignal | undefined): AsyncGenerator<string, void, undefined> {
  const reader = readerOf(body)
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const chunk = await readWithin(reader, signal)
      if (chunk === undefined) return
      yield decoder.decode(chunk, { stream: true })
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** Returns the reader of a stream. Throws if the body is no stream, as when a proxy answers with its own page. */
function readerOf(body: unknown): ReadableStreamDefaultReader<Uint8Array> {
  // Not instanceof: a fetch that the caller passed may have its own class of streams.
  const stream = body as Partial<ReadableStream<Uint8Array>> | undefined
  if (stream?.getReader) return (stream as ReadableStream<Uint8Array>).getReader()
  throw makeError({
    status: 200,
    code: 'unexpected_answer',
    message: 'The server answered without a stream: is the base URL right?',
  })
}

/** undefined: the connection has ended or broken, was silent for too long, or the signal was aborted. */
async function readWithin(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  const stop = () => void reader.cancel().catch(() => undefined)
  const timer = setTimeout(stop, silenceMs)
  signal?.addEventListener('abort', stop)
  try {
    return (await reader.read()).value
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}
