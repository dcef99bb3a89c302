import { JoinedPieces } from '@atrium/contract/joined-pieces'
import { BoundedEvents } from './bounded-events.ts'
import { takeTurn } from './event-turns.ts'

type Fetch = typeof globalThis.fetch

/** How many bytes are passed to a library in one turn of the event loop. */
const piece = { events: 8, bytes: 8 * 1024 }
/** The largest error response: an error is a sentence and a code. */
const maxErrorBytes = 64 * 1024

/**
 * A fetch for a streaming provider that cannot block this process. Each event is limited before a library parses it,
 * and events are passed on a few at a time, each chunk in a separate turn of the event loop.
 */
export function boundedAnswers(fetch: Fetch): Fetch {
  return async (input, init) => {
    const answer = await fetch(input, init)
    if (!answer.body) return answer
    const body = answer.ok ? boundedEvents(answer.body) : firstBytes(answer.body, maxErrorBytes)
    const { status, statusText, headers } = answer
    return Object.defineProperty(new Response(body, { status, statusText, headers }), 'url', { value: answer.url })
  }
}

function boundedEvents(answer: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = answer.getReader()
  const events = new BoundedEvents()
  let pending: Iterator<Buffer> = [][Symbol.iterator]()

  const nextPiece = async (): Promise<Buffer | undefined> => {
    for (;;) {
      const taken: Buffer[] = []
      for (let bytes = 0; taken.length < piece.events && bytes < piece.bytes;) {
        const { done, value } = pending.next()
        if (done) break
        taken.push(value)
        bytes += value.length
      }
      if (taken.length > 0) return Buffer.concat(taken)
      const { done, value } = await reader.read()
      if (done) return undefined
      // Checked even if no event ends in the chunk, because a stream of comments alone may never end.
      await takeTurn()
      pending = events.take(value)
    }
  }

  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    try {
      const next = await nextPiece()
      if (!next) return controller.close()
      await takeTurn()
      controller.enqueue(next)
    } catch (error) {
      controller.error(error)
      await reader.cancel().catch(() => undefined)
    }
  }
  return new ReadableStream({ pull, cancel: (reason) => reader.cancel(reason) }, { highWaterMark: 0 })
}

/** Returns the beginning of an answer as one piece; the rest is never read. */
export function firstBytes(answer: ReadableStream<Uint8Array>, maxBytes: number): ReadableStream<Uint8Array> {
  const reader = answer.getReader()
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const pieces = new JoinedPieces()
    try {
      while (pieces.length < maxBytes) {
        const { done, value } = await reader.read()
        if (done) break
        pieces.add(value.subarray(0, maxBytes - pieces.length))
      }
      if (pieces.length > 0) controller.enqueue(pieces.take())
      controller.close()
      await reader.cancel().catch(() => undefined)
    } catch (error) {
      controller.error(error)
    }
  }
  return new ReadableStream({ pull, cancel: (reason) => reader.cancel(reason) }, { highWaterMark: 0 })
}
