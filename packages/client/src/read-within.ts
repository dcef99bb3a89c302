import { makeError } from './error-of-answer.ts'

/** Returns the reader of a stream. Throws if the body is no stream, as when a proxy answers with its own page. */
export function readerOf(body: unknown): ReadableStreamDefaultReader<Uint8Array> {
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
export async function readWithin(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  silenceMs: number,
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
