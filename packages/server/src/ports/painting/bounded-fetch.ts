import { JoinedPieces } from '@atrium/contract/joined-pieces'
import { firstBytes } from '../model/answer/bounded-answers.ts'
import { takeTurn } from '../model/answer/event-turns.ts'
import { JsonShape } from '../model/answer/json-shape.ts'

/**
 * An answer with a picture is one long text and a few words about it. Parsing an answer of a million entries would
 * take half a gigabyte.
 */
const shape = { nodes: 2_048, depth: 32 }
/** The largest error response: an error is a sentence and a code. */
const maxErrorBytes = 64 * 1024

type Answer = ReadableStream<Uint8Array>

/**
 * Returns the same fetch with limited answers: every answer in bytes, and the answer to a POST also in the number of
 * its values. A library that reads and parses a whole body at once can then not be flooded.
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

/**
 * The answer to a POST is parsed as JSON, whatever its Content-Type. A picture that is fetched from an address is
 * not. The library keeps every piece of an answer until its end, so it gets a single one.
 */
function bounded(answer: Answer, maxBytes: number, isJson: boolean): Answer {
  const seen = new JsonShape(shape)
  const pieces = new JoinedPieces()
  return answer.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: async (chunk, stream) => {
        if (isJson) await takeTurn()
        const isTooLarge = pieces.length + chunk.length > maxBytes || (isJson && !seen.take(chunk))
        if (isTooLarge) stream.error(new AnswerTooLarge())
        else pieces.add(chunk)
      },
      flush: (stream) => stream.enqueue(pieces.take()),
    }),
  )
}
