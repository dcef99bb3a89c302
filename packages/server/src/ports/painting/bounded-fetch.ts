import { firstBytes } from '../model/answer/bounded-answers.ts'
import { takeTurn } from '../model/answer/event-turns.ts'
import { JsonShape } from '../model/answer/json-shape.ts'

/**
 * An answer with a picture in it is a long text and a few words about it. One of a million entries takes half a
 * gigabyte to be read.
 */
const shape = { nodes: 2_048, depth: 32 }
/** An error is a sentence and a code. */
const maxErrorBytes = 64 * 1024

type Answer = ReadableStream<Uint8Array>

/**
 * The same fetch, whose answers break off beyond so many bytes, and those to a question also beyond so many values: a
 * library that reads a whole body and parses it at once then cannot be flooded.
 */
export function boundedFetch(fetch: typeof globalThis.fetch, maxBytes: number): typeof globalThis.fetch {
  return async (input, init) => {
    const res = await fetch(input, init)
    if (Number(res.headers.get('content-length') ?? 0) > maxBytes) {
      await res.body?.cancel()
      throw new AnswerTooLarge()
    }
    if (!res.body) return res
    const { status, statusText, headers } = res
    const body = res.ok ? bounded(res.body, maxBytes, init?.method === 'POST') : firstBytes(res.body, maxErrorBytes)
    return new Response(body, { status, statusText, headers })
  }
}

export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge'
}

/** What is asked for is JSON, whatever the answer says that it is; what is fetched from an address is not. */
function bounded(answer: Answer, maxBytes: number, isJson: boolean): Answer {
  const seen = new JsonShape(shape)
  let bytes = 0
  return answer.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: async (chunk, stream) => {
        bytes += chunk.byteLength
        if (isJson) await takeTurn()
        if (bytes > maxBytes || (isJson && !seen.take(chunk))) stream.error(new AnswerTooLarge())
        else stream.enqueue(chunk)
      },
    }),
  )
}
