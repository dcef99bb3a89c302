/** The same fetch, whose answers break off beyond so many bytes: a library that reads a whole body then cannot be flooded. */
export function boundedFetch(fetch: typeof globalThis.fetch, maxBytes: number): typeof globalThis.fetch {
  return async (input, init) => {
    const res = await fetch(input, init)
    if (Number(res.headers.get('content-length') ?? 0) > maxBytes) {
      await res.body?.cancel()
      throw new AnswerTooLarge()
    }
    if (!res.body) return res
    let seen = 0
    const counted = res.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, stream) => {
          seen += chunk.byteLength
          if (seen > maxBytes) stream.error(new AnswerTooLarge())
          else stream.enqueue(chunk)
        },
      }),
    )
    return new Response(counted, { status: res.status, statusText: res.statusText, headers: res.headers })
  }
}

export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge'
}
