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
