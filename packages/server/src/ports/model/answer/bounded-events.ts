import { EgressError } from '#ports/egress/egress-error.ts'
import { CallCounter } from './count-calls.ts'
import { EventSplitter } from './event-splitter.ts'
import { fitsShape } from './json-shape.ts'

/**
 * The limits of an answer. A normal event is a word or a call. Only two kinds exceed `eventBytes`: a whole answer at
 * its end, and a long thought that is sealed for the next call.
 */
export const answerLimits = {
  events: 32_768,
  eventBytes: 64 * 1024,
  largeEvents: 16,
  largeEventBytes: 512 * 1024,
  /** The shape that an adapter accepts: it makes an error of each invalid part. */
  shape: { nodes: 8_192, depth: 64 },
  /** The entries of one list in an event: an adapter makes a step of its stream from each. */
  list: 128,
  /** The shape that only JSON.parse has to handle. */
  parsedShape: { nodes: 65_536, depth: 64 },
  calls: 64,
  entries: 512,
  argumentLength: 256 * 1024,
} as const

const field = Buffer.from('data: ')
const eventEnd = Buffer.from('\n\n')
const done = Buffer.from('[DONE]')

/** Limits the events of one answer, of any provider. Passes each on as one `data` line, or rejects the answer. */
export class BoundedEvents {
  readonly #splitter = new EventSplitter(answerLimits.largeEventBytes)
  readonly #counter = new CallCounter()
  #events = 0
  #largeEvents = 0
  #begun = 0
  #ended = 0
  #argumentLength = 0
  #entries = 0

  #checked(data: Buffer): Buffer {
    if (++this.#events > answerLimits.events) throw beyond('too many events')
    if (data.length > answerLimits.eventBytes && ++this.#largeEvents > answerLimits.largeEvents)
      throw beyond('too many long events')
    if (data.equals(done)) return data
    if (!fitsShape(data, answerLimits.parsedShape)) throw beyond('an event of too many parts')
    const event = parse(data)
    this.#countCalls(event)
    if (fitsShape(data, answerLimits.shape) && !hasLongList(event)) return data
    const shorter = withoutEcho(event)
    const text = Buffer.from(JSON.stringify(shorter))
    if (!fitsShape(text, answerLimits.shape) || hasLongList(shorter)) throw beyond('an event of too many parts')
    return text
  }

  /** @throws EgressError protocol */
  *take(piece: Uint8Array): Generator<Buffer> {
    for (const data of this.#splitter.take(piece)) {
      if (data.length > 0) yield Buffer.concat([field, this.#checked(data), eventEnd])
    }
  }

  #countCalls(event: unknown): void {
    const { begun, ended, argumentLength, entries, isUnwanted } = this.#counter.count(event)
    this.#begun += begun
    this.#ended += ended
    this.#argumentLength += argumentLength
    this.#entries += entries
    if (Math.max(this.#begun, this.#ended) > answerLimits.calls) throw beyond('too many tool calls')
    if (this.#argumentLength > answerLimits.argumentLength) throw beyond('too long arguments for tools')
    if (this.#entries > answerLimits.entries) throw beyond('too many parts')
    if (isUnwanted) throw beyond('a tool call in a form that was not asked for')
  }
}

function parse(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString())
  } catch {
    throw beyond('an event that is not JSON')
  }
}

/**
 * OpenAI repeats all tools of the request in three events of each answer. They may be many, and adapters do not use
 * them.
 */
function withoutEcho(event: unknown): unknown {
  const { response, ...rest } = event as { response?: Record<string, unknown> }
  if (typeof response !== 'object' || response === null) return event
  const { tools: _tools, ...others } = response
  return { ...rest, response: others }
}

/** Recursive: the depth is limited before. */
function hasLongList(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value) && value.length > answerLimits.list) return true
  return Object.values(value).some(hasLongList)
}

/** Reported to people as an unusable answer. */
function beyond(what: string): EgressError {
  return new EgressError('protocol', `The answer has ${what}.`)
}
